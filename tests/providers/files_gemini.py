"""Google's files and their resumable upload: https://ai.google.dev/api/files, 2026-11-22."""

import hashlib
import json
from base64 import b64encode
from typing import Any

from tests.providers import strict
from tests.providers.limits import keep
from tests.providers.routes import Route
from tests.providers.state import Hidden, StoredFile, World, rfc3339
from tests.providers.wire import Answer, ProviderError, Request

# Google's JSON takes the names of fields in both spellings, and its SDK sends these in snake case.
_START = strict.shape(
    optional={
        "file": strict.shape(
            optional={
                "name": strict.text(pattern=r"files/[a-z0-9-]{1,40}"),
                **dict.fromkeys(("displayName", "display_name"), strict.text(most=512)),
                **dict.fromkeys(("mimeType", "mime_type"), strict.string),
                **dict.fromkeys(("sizeBytes", "size_bytes"), strict.anything),
            }
        )
    }
)


def start(world: World, request: Request) -> Answer:
    """Begins a resumable upload: the answer's header says where the bytes go."""
    if request.headers.get("x-goog-upload-command") != "start":
        raise ProviderError(400, "invalid", "Only resumable uploads are supported.")
    body = json.loads(request.body or b"{}")
    _START(body, "")
    size = int(request.headers.get("x-goog-upload-header-content-length", 0))
    keep(world, "gemini", "bytes", size, status=413)
    upload_id = world.ids.new("upload")
    world.uploads[upload_id] = (body.get("file", {}), request.key, bytearray())
    where = f"{request.base_url}{request.path}"
    url = f"{where}?upload_id={upload_id}&upload_protocol=resumable"
    headers = {"x-goog-upload-url": url, "x-goog-upload-status": "active"}
    return Answer(headers=headers)


def upload(world: World, request: Request) -> Answer:
    """Takes a part of the bytes; the last makes the file."""
    if "upload_id" not in request.query:
        return start(world, request)
    started = world.uploads.get(request.one("upload_id") or "")
    if started is None:
        raise ProviderError(404, "not_found", "There is no such upload.")
    described, _, received = started
    if int(request.headers.get("x-goog-upload-offset", 0)) != len(received):
        raise ProviderError(400, "invalid", "The offset is not where the upload has come to.")
    received += request.body
    if "finalize" not in request.headers.get("x-goog-upload-command", ""):
        return Answer(headers={"x-goog-upload-status": "active"})
    name = described.get("name", "").removeprefix("files/") or world.ids.new(length=12)
    if name in world.files:
        raise ProviderError(409, "conflict", f"The file files/{name} exists.")
    stored = store(world, request.workspace, name, bytes(received))
    stored.name = described.get("displayName") or described.get("display_name") or name
    params = world.traps.take("upload_not_visible", "gemini")
    if params is not None:
        stored.hidden = Hidden(
            int(params.get("looks", 2)), stored.created_at + float(params.get("seconds", 0))
        )
    answer = Answer.json({"file": document(request, stored)})
    answer.headers["x-goog-upload-status"] = "final"
    return answer


def store(
    world: World, workspace: str, name: str, content: bytes, *, generated: bool = False
) -> StoredFile:
    stored = StoredFile(
        id=name,
        provider="gemini",
        workspace=workspace,
        name=name,
        content=content,
        created_at=world.clock.now(),
        generated=generated,
    )
    world.files[name] = stored
    return stored


def document(request: Request, stored: StoredFile) -> dict[str, Any]:
    digest = hashlib.sha256(stored.content).hexdigest()
    url = f"{request.base_url}/v1beta/files/{stored.id}"
    shown = {
        "name": f"files/{stored.id}",
        "displayName": stored.name,
        "mimeType": stored.mime_type,
        "sizeBytes": str(len(stored.content)),
        "createTime": rfc3339(stored.created_at),
        "updateTime": rfc3339(stored.created_at),
        "expirationTime": rfc3339(stored.created_at + 48 * 3600),
        "sha256Hash": b64encode(digest.encode()).decode(),
        "uri": url,
        "state": "ACTIVE",
        "source": "GENERATED" if stored.generated else "UPLOADED",
    }
    if stored.generated:
        shown["downloadUri"] = f"{url}:download?alt=media"
    return shown


def find(world: World, request: Request, name: str) -> StoredFile:
    """A file by its name.

    Raises:
        ProviderError: If there is none that this key sees, or it cannot be seen yet.
    """
    stored = world.file("gemini", request.workspace, name.removeprefix("files/"))
    if stored is None or stored.hidden.hides(world.clock.now()):
        # Google does not tell what is missing from what is another's.
        message = f"You do not have permission to access the File {name} or it may not exist."
        raise ProviderError(403, "not_found", message)
    return stored


def get(world: World, request: Request) -> Answer:
    return Answer.json(document(request, find(world, request, request.value("name"))))


def download(world: World, request: Request) -> Answer:
    stored = find(world, request, request.value("name"))
    if not stored.generated:
        raise ProviderError(400, "invalid", "Only generated files can be downloaded.")
    return Answer(
        body=stored.content, headers={"content-type": "application/octet-stream"}, jsonl=True
    )


def delete(world: World, request: Request) -> Answer:
    stored = find(world, request, request.value("name"))
    del world.files[stored.id]
    return Answer.json({})


_ONE = r"/v1(beta)?/files/(?P<name>[^/:]+)"
ROUTES = [
    Route("POST", r"/upload/v1(beta)?/files", "gemini", "upload", upload),
    Route("GET", _ONE, "gemini", "file", get),
    Route("DELETE", _ONE, "gemini", "file", delete),
    Route("GET", rf"(/download)?{_ONE}:download", "gemini", "download", download),
]
