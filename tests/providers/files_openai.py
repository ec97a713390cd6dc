"""OpenAI's and Azure's files: https://developers.openai.com/api/reference/resources/files."""

from pathlib import Path
from typing import Any

from tests.providers.lifecycle import settle_all
from tests.providers.limits import keep
from tests.providers.routes import Route
from tests.providers.state import Hidden, StoredFile, World
from tests.providers.uploads import read_form
from tests.providers.wire import Answer, ProviderError, Request

_FIELDS = frozenset(["purpose", "expires_after[anchor]", "expires_after[seconds]"])


def upload(world: World, request: Request) -> Answer:
    fields, files = read_form(request)
    if unknown := set(fields) - _FIELDS:
        raise ProviderError(
            400, "invalid", f"Unrecognized request argument: {min(unknown)}", param=min(unknown)
        )
    if fields.get("purpose") != "batch":
        raise ProviderError(400, "invalid", "'purpose' must be 'batch'.", param="purpose")
    if set(files) != {"file"}:
        raise ProviderError(400, "invalid", "'file' is a required property", param="file")
    name, content = files["file"]
    # A name without an extension is taken: curator uploads bytes, which the SDK calls "upload".
    if Path(name).suffix not in ("", ".jsonl"):
        raise ProviderError(400, "invalid", "Invalid file format: expected .jsonl.", param="file")
    keep(world, request.provider, "bytes", len(content), status=413)
    held = sum(
        (one.provider, one.workspace) == (request.provider, request.workspace)
        for one in world.files.values()
    )
    keep(world, request.provider, "files", held + 1)
    stored = store(world, request.provider, request.workspace, name, content)
    params = world.traps.take("upload_not_visible", request.provider)
    if params is not None:
        stored.hidden = Hidden(
            int(params.get("looks", 2)), stored.created_at + float(params.get("seconds", 0))
        )
    return Answer.json(document(stored, pending=params is not None))


def store(
    world: World,
    provider: str,
    workspace: str,
    name: str,
    content: bytes,
    *,
    purpose: str = "batch",
) -> StoredFile:
    stored = StoredFile(
        id=world.ids.new("file-"),
        provider=provider,
        workspace=workspace,
        name=name,
        content=content,
        created_at=world.clock.now(),
        purpose=purpose,
        generated=purpose != "batch",
    )
    world.files[stored.id] = stored
    return stored


def document(stored: StoredFile, *, pending: bool = False) -> dict[str, Any]:
    status = "processed"
    if stored.provider == "azure" and pending:
        status = "pending"
    return {
        "id": stored.id,
        "object": "file",
        "bytes": len(stored.content),
        "created_at": int(stored.created_at),
        "expires_at": None,
        "filename": stored.name,
        "purpose": stored.purpose,
        "status": status,
        "status_details": None,
    }


def find(world: World, request: Request) -> StoredFile:
    """The file that the path names, if it can be seen yet.

    Raises:
        ProviderError: If not.
    """
    file_id = request.value("id")
    stored = world.file(request.provider, request.workspace, file_id)
    if stored is None:
        raise ProviderError(404, "not_found", f"No such File object: {file_id}", param="id")
    return stored


def get(world: World, request: Request) -> Answer:
    stored = find(world, request)
    hidden = stored.hidden.hides(world.clock.now())
    if hidden and request.provider == "openai":
        raise ProviderError(404, "not_found", f"No such File object: {stored.id}", param="id")
    return Answer.json(document(stored, pending=hidden))


def content(world: World, request: Request) -> Answer:
    stored = find(world, request)
    return Answer(
        body=stored.content,
        headers={"content-type": "application/octet-stream"},
        jsonl=stored.generated,
    )


def delete(world: World, request: Request) -> Answer:
    stored = find(world, request)
    settle_all(world)
    del world.files[stored.id]
    return Answer.json({"id": stored.id, "object": "file", "deleted": True})


def listed(world: World, request: Request) -> Answer:
    found = [
        one
        for one in world.files.values()
        if (one.provider, one.workspace) == (request.provider, request.workspace)
    ]
    purpose = request.one("purpose")
    documents = [document(one) for one in found if purpose in (None, one.purpose)]
    return Answer.json({"object": "list", "data": documents, "has_more": False})


def routes(provider: str, base: str) -> list[Route]:
    one = rf"{base}/files/(?P<id>[^/]+)"
    return [
        Route("POST", rf"{base}/files", provider, "upload", upload),
        Route("GET", rf"{base}/files", provider, "file", listed),
        Route("GET", one, provider, "file", get),
        Route("DELETE", one, provider, "file", delete),
        Route("GET", rf"{one}/content", provider, "download", content),
    ]
