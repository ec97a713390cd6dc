"""What the bearer of a token asks in OpenAI's words: files of its connection."""

from pydantic import ValidationError

from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_LLM_FILE_BYTES, MAX_LLM_FILE_LINES
from autotune.protocol.problems import LimitProblem
from autotune_platform.ledger.compatible.forms import Form
from autotune_platform.ledger.compatible.models import LONGEST_SECONDS, ExpiresAfter, File
from autotune_platform.ledger.compatible.objects import FileObjects
from autotune_platform.ledger.compatible.repository import FileRepository
from autotune_platform.ledger.token_repository import Token
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError, RequestTooLargeError
from autotune_platform.runtime.parts import part

_LONGEST_NAME = 255
_BOM = b"\xef\xbb\xbf"
# Nested fields of a form, as the openai package names them.
_ANCHOR, _SECONDS = "expires_after[anchor]", "expires_after[seconds]"
_FORM = frozenset({"purpose", _ANCHOR, _SECONDS})


@part
class CompatibleFiles:
    """Files of a connection."""

    repository: FileRepository
    objects: FileObjects
    clock: Clock = SYSTEM_CLOCK

    def create(self, token: Token, form: Form) -> File:
        """Store an uploaded file, whose lines are read once a batch is made of it.

        Raises:
            InvalidRequestError: there is no file, it has an empty line, or is for something else or
                for another time than may be.
            RequestTooLargeError: it has too many bytes or lines.
        """
        unknown = sorted((form.texts.keys() - _FORM) | (form.files.keys() - {"file"}))
        if unknown:
            raise InvalidRequestError.of_field(unknown[0][:100], "left out")
        if form.texts.get("purpose") != "batch":
            raise InvalidRequestError.of_field("purpose", "batch")
        if "file" not in form.files:
            raise InvalidRequestError.of_field("file", "a file")
        expires_after = _expires_after(form)
        filename, content = form.files["file"]
        now = self.clock.now()
        file = File(
            id=new_id("llf"),
            organization_id=token.organization_id,
            connection_id=token.asks,
            filename=filename[:_LONGEST_NAME].encode(errors="replace").decode() or "file",
            purpose="batch",
            bytes=len(content),
            lines=_lines_of(content),
            created_at=now,
            kept_seconds=seconds_kept(token, expires_after),
        )
        self.objects.put(file, content)
        self.repository.add(file)
        return file

    def get(self, token: Token, file_id: str) -> File:
        """Return a file.

        Raises:
            NotFoundError: there is none, it has expired, or it is another connection's.
        """
        return self.repository.find(token.organization_id, token.asks, file_id, self.clock.now())

    def list(
        self, token: Token, *, after: str | None, limit: int, order: str, purpose: str | None
    ) -> tuple[list[File], bool]:
        """Return files behind one, and whether there are more."""
        return self.repository.list(
            token.organization_id,
            token.asks,
            after=after,
            limit=limit,
            newest_first=order == "desc",
            where={"purpose": purpose} if purpose else {},
            now=self.clock.now(),
        )

    def link(self, token: Token, file_id: str) -> str:
        """Return a URL of a file's content, which holds for five minutes."""
        return self.objects.link(self.get(token, file_id))

    def content(self, file: File) -> bytes:
        """Return an uploaded file's content, 4 MB at most.

        Raises:
            InvalidRequestError: it is gone.
        """
        content = self.objects.read(file)
        if content is None:
            raise InvalidRequestError.of_field("input_file_id", "a file whose content is there")
        return content

    def delete(self, token: Token, file_id: str) -> None:
        """Delete a file; a batch that was made of it goes on with a copy."""
        file = self.get(token, file_id)
        self.objects.delete(file)
        self.repository.delete(file.id)


def _expires_after(form: Form) -> ExpiresAfter | None:
    named = {"anchor": form.texts.get(_ANCHOR), "seconds": form.texts.get(_SECONDS)}
    if not any(name in form.texts for name in (_ANCHOR, _SECONDS)):
        return None
    try:
        return ExpiresAfter.model_validate(named)
    except ValidationError as error:
        field = f"expires_after.{error.errors()[0]['loc'][0]}"
        expected = "created_at" if field.endswith("anchor") else "3600 to 2592000"
        raise InvalidRequestError.of_field(field, expected) from error


def seconds_kept(token: Token, expires_after: ExpiresAfter | None) -> int:
    """Return how long a file is there, which has the texts of a token's requests."""
    asked = expires_after.seconds if expires_after is not None else LONGEST_SECONDS
    retention = LONGEST_SECONDS if token.retention_days is None else token.retention_days * 86_400
    return min(asked, retention, LONGEST_SECONDS)


def _lines_of(content: bytes) -> int:
    """Return how many lines a file has, each of which is to be a request."""
    if not content.removeprefix(_BOM).strip():
        raise InvalidRequestError.of_field("file", "one request a line", detail="file: it is empty")
    if len(content) > MAX_LLM_FILE_BYTES:
        raise _too_large("bytes of the file", MAX_LLM_FILE_BYTES, "bytes", len(content))
    lines = content.removesuffix(b"\n").split(b"\n")
    if len(lines) > MAX_LLM_FILE_LINES:
        raise _too_large("lines of the file", MAX_LLM_FILE_LINES, "lines", len(lines))
    empty = next((at for at, line in enumerate(lines, start=1) if not line.strip()), None)
    if empty is not None:
        raise InvalidRequestError.of_field(
            "file", "one request a line", detail=f"file: line {empty} is empty"
        )
    return len(lines)


def _too_large(name: str, maximum: int, unit: str, actual: int) -> RequestTooLargeError:
    return RequestTooLargeError(
        f"the file has {actual} {unit}, and may have {maximum}",
        limit=LimitProblem(name=name, maximum=maximum, unit=unit, actual=actual),
    )
