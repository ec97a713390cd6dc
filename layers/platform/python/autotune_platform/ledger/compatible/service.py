"""What the bearer of a token asks in OpenAI's words: batches of its connection."""

import hashlib
import json
from collections.abc import Callable
from datetime import datetime

from pydantic import ValidationError

from autotune.protocol.ids import new_id
from autotune.protocol.llm_imports import CreateLlmImportRequest, LlmImportDefaults
from autotune.protocol.llm_tokens import DEFAULT_PURPOSE
from autotune.protocol.problems import FieldProblem
from autotune_platform.access.models import Caller
from autotune_platform.http.problems import invalid_request
from autotune_platform.ledger.compatible.files import CompatibleFiles, seconds_kept
from autotune_platform.ledger.compatible.models import Batch, CreateBatch, File
from autotune_platform.ledger.compatible.progress import BatchProgress, Progress
from autotune_platform.ledger.compatible.repository import (
    BatchRepository,
    Creation,
)
from autotune_platform.ledger.imports.files import ImportFiles
from autotune_platform.ledger.imports.repository import ImportRepository
from autotune_platform.ledger.imports.service import ImportService
from autotune_platform.ledger.token_repository import Token
from autotune_platform.runtime.bounded_json import parse_strictly
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    IdempotencyKeyReusedError,
    InvalidRequestError,
    MalformedRequestError,
    NotFoundError,
)
from autotune_platform.runtime.parts import part

_MOST_VALUES = 100


@part
class CompatibleBatches:
    """Batches of a connection: an import each, and what became of its rows."""

    repository: BatchRepository
    files: CompatibleFiles
    imports: ImportService
    import_repository: ImportRepository
    import_files: ImportFiles
    progress: BatchProgress
    clock: Clock = SYSTEM_CLOCK

    def create(
        self, caller: Caller, token: Token, body: bytes, *, idempotency_key: str | None
    ) -> Progress:
        """Have a file's lines asked.

        One file and one body make one batch, however often they are sent: a client that tries
        again because an answer was lost pays once. Another idempotency key makes another batch.

        Raises:
            InvalidRequestError: a field is missing or wrong, or there is no such file.
            IdempotencyKeyReusedError: the key came before with another body.
            TooManyImportsError: as many of the organisation's imports are under way as may be.
        """
        request = _creation(body)
        try:
            file = self.files.get(token, request.input_file_id)
        except NotFoundError as error:
            raise InvalidRequestError.of_field(
                "input_file_id", "a file of this connection", detail=error.detail
            ) from error
        if file.purpose != "batch":
            raise InvalidRequestError.of_field("input_file_id", "a file with the purpose batch")
        begun = self._begin(token, file, request, idempotency_key)
        try:
            return self.get(token, begun.batch_id)
        except NotFoundError:
            return self._start(caller, token, file, request, begun)

    def get(self, token: Token, batch_id: str) -> Progress:
        """Return a batch as it is known to be.

        Raises:
            NotFoundError: there is none, it has expired, or it is another connection's.
        """
        return self.progress.of(self._find(token, batch_id))

    def look(
        self, caller: Caller, token: Token, batch_id: str, *, has_time: Callable[[], bool]
    ) -> Progress:
        """Return a batch as its rows are now."""
        return self.progress.advance(caller, self._find(token, batch_id), has_time=has_time)

    def cancel(
        self, caller: Caller, token: Token, batch_id: str, *, has_time: Callable[[], bool]
    ) -> Progress:
        """Cancel a batch; what was asked by then is paid, and its answers stay.

        Raises:
            MalformedRequestError: it has ended.
        """
        batch = self._find(token, batch_id)
        if batch.status not in ("open", "cancelled"):
            raise MalformedRequestError(f"the batch is {batch.status}, and cannot be cancelled")
        return self.progress.cancel(caller, batch, has_time=has_time)

    def list(self, token: Token, *, after: str | None, limit: int) -> tuple[list[Progress], bool]:
        """Return batches behind one, youngest first, and whether there are more."""
        found, has_more = self.repository.list(
            token.organization_id,
            token.asks,
            after=after,
            limit=limit,
            newest_first=True,
            where={},
            now=self.clock.now(),
        )
        return [self.progress.of(batch) for batch in found], has_more

    def _find(self, token: Token, batch_id: str) -> Batch:
        return self.repository.find(token.organization_id, token.asks, batch_id, self.clock.now())

    def _begin(
        self, token: Token, file: File, request: CreateBatch, idempotency_key: str | None
    ) -> Creation:
        unsaid = {"output_expires_after"} if request.output_expires_after is None else set()
        fingerprint = _digest(request.model_dump_json(exclude=unsaid))
        named = _digest(token.asks, idempotency_key or f"{file.id}.{fingerprint}")
        mine = Creation(
            batch_id=new_id("lob"),
            output_file_id=new_id("llf"),
            error_file_id=new_id("llf"),
            fingerprint=fingerprint,
            begun_at=self.clock.now(),
        )
        begun = self.repository.begin(named, mine, expires_at=_second(file.expires_at))
        if begun.fingerprint != fingerprint:
            raise IdempotencyKeyReusedError("this Idempotency-Key came before with another body")
        return begun

    def _start(
        self, caller: Caller, token: Token, file: File, request: CreateBatch, begun: Creation
    ) -> Progress:
        asked = CreateLlmImportRequest(
            format="openai",
            bytes=file.bytes,
            connection_id=token.asks,
            purpose=token.purpose or DEFAULT_PURPOSE,
            defaults=LlmImportDefaults(retention_days=token.retention_days),
            on_error="rejectAll",
        )
        # No caller's key has a space in it.
        made, _ = self.imports.create(caller, asked, idempotency_key=f"batch {begun.batch_id}")
        one = self.import_repository.get(made.id)
        if one is not None and one.state == "awaiting_upload":
            self.import_files.put_upload(one, self.files.content(file))
        self.imports.start(caller, made.id)
        self.repository.add(
            Batch(
                id=begun.batch_id,
                organization_id=token.organization_id,
                connection_id=token.asks,
                created_at=begun.begun_at,
                import_id=made.id,
                input_file_id=file.id,
                lines=file.lines,
                metadata=request.metadata,
                output_file_id=begun.output_file_id,
                error_file_id=begun.error_file_id,
                output_seconds=seconds_kept(token, request.output_expires_after),
            )
        )
        return self.get(token, begun.batch_id)


def _creation(body: bytes) -> CreateBatch:
    try:
        document = parse_strictly(body, most_values=_MOST_VALUES)
    except ValueError as error:
        raise MalformedRequestError(
            "the body is not JSON",
            fields=[FieldProblem(field="body", expected="one JSON object in UTF-8")],
        ) from error
    try:
        return CreateBatch.model_validate(document)
    except ValidationError as error:
        raise invalid_request(error.errors()) from error


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _second(moment: datetime) -> int:
    return int(moment.timestamp())
