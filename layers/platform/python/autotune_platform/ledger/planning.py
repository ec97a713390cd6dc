"""What a request becomes: a row with its price and its bound, or an error that names the field."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from autotune.protocol.ids import derived_id
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.ledger.connections import ConnectionRepository
from autotune_platform.ledger.jobs.registry import job_window, provider_jobs
from autotune_platform.ledger.models import Connection, Mode, Row, RowInput, expiry
from autotune_platform.ledger.price_lists import Processing
from autotune_platform.ledger.prices import Prices, PriceSnapshot, bound
from autotune_platform.ledger.providers.registry import unsupported
from autotune_platform.ledger.templates import MissingVariableError, fill
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part


@dataclass(frozen=True)
class PlannedRow:
    """A row, what it asks, and where."""

    row: Row
    text: RowInput
    connection: Connection

    @property
    def patience(self) -> timedelta:
        """How long it waits for others to share a batch with."""
        return timedelta(seconds=self.connection.max_wait_seconds)


@part
class RowPlanner:
    """Checks requests, and makes rows of them."""

    connections: ConnectionRepository
    prices: Prices
    clock: Clock = SYSTEM_CLOCK

    def plan(
        self,
        caller: Caller,
        requests: Sequence[EnqueueLlmRequest],
        ids: Sequence[str],
        *,
        alone: bool,
        at_once: bool = False,
    ) -> list[PlannedRow]:
        """Return a row for each request.

        Args:
            alone: the one request was the whole body.
            at_once: somebody waits, so that no batch job is an answer.

        Raises:
            InvalidRequestError: one of them cannot be asked.
        """
        known: dict[str, Connection] = {}
        planned = []
        for place, (request, row_id) in enumerate(zip(requests, ids, strict=True)):
            within = "" if alone else f"requests[{place}]."
            connection = known.get(request.connection_id) or self._connection(
                caller, request, within
            )
            known[connection.id] = connection
            mode = "calls" if at_once else self._mode(request.complete_by, connection)
            planned.append(self._planned(request, row_id, connection, mode, within))
        return planned

    def plan_each(
        self, caller: Caller, requests: Iterable[tuple[str, EnqueueLlmRequest]]
    ) -> Iterator[PlannedRow | InvalidRequestError]:
        """Yield a row for each id and request, or why it cannot be asked."""
        known: dict[str, Connection] = {}
        for row_id, request in requests:
            try:
                connection = known.get(request.connection_id) or self._connection(
                    caller, request, ""
                )
                known[connection.id] = connection
                mode = self._mode(request.complete_by, connection)
                yield self._planned(request, row_id, connection, mode, "")
            except InvalidRequestError as error:
                yield error

    def again(self, row: Row, connection: Connection) -> Row:
        """Return the row that tries an ended one once more, sent and priced as of today.

        Raises:
            InvalidRequestError: the model has no price any more.
        """
        now = self.clock.now()
        mode = self._mode(None, connection)
        price = self._price(connection, row.model, mode, "model")
        carried = {name: value for name, value in row if name in _CARRIED}
        return Row(
            **carried,
            id=derived_id("llm", "retry", row.id),
            mode=mode,
            price=price,
            bound_nano_usd=bound(row.input_bytes, row.messages, row.max_tokens, price),
            retry_of=row.id,
            created_at=now,
            updated_at=now,
        )

    def _connection(self, caller: Caller, request: EnqueueLlmRequest, within: str) -> Connection:
        try:
            connection = self.connections.get_of(caller.organization_id, request.connection_id)
        except NotFoundError as error:
            raise InvalidRequestError.of_field(
                f"{within}connectionId",
                "a connection of this organisation",
                detail="no such connection in this organisation",
            ) from error
        if connection.status == "revoked":
            raise InvalidRequestError.of_field(
                f"{within}connectionId", "a connection that is not revoked"
            )
        return connection

    def _mode(self, by: datetime | None, connection: Connection) -> Mode:
        """Return how a row is sent: one that a job would be too late for by itself, if it may."""
        if connection.batches == "never" or provider_jobs(connection.provider) is None:
            return "calls"
        is_urgent = by is not None and by < self.clock.now() + job_window(connection)
        return "calls" if is_urgent and connection.batches == "unless_urgent" else "job"

    def _price(self, connection: Connection, model: str, mode: Mode, field: str) -> PriceSnapshot:
        processing: Processing = "batch" if mode == "job" else "standard"
        price = self.prices.find(connection, model, processing=processing)
        if price is None:
            raise _unpriced(model, mode, field)
        return price

    def _planned(
        self,
        request: EnqueueLlmRequest,
        row_id: str,
        connection: Connection,
        mode: Mode,
        within: str,
    ) -> PlannedRow:
        refused = unsupported(connection.provider, request.params)
        if refused is not None:
            raise InvalidRequestError.of_field(
                f"{within}params.{refused}",
                "left out",
                detail=f"{connection.provider} does not take it",
            )
        system, user = _filled(request, within)
        texts = [user] if system is None else [system, user]
        price = self._price(connection, request.model, mode, f"{within}model")
        now = self.clock.now()
        if request.complete_by is not None and request.complete_by <= now:
            raise InvalidRequestError.of_field(f"{within}completeBy", "a moment in the future")
        size = sum(len(text.encode()) for text in texts) + _extra_bytes(request)
        row = Row(
            id=row_id,
            organization_id=connection.organization_id,
            connection_id=connection.id,
            provider=connection.provider,
            model=request.model,
            mode=mode,
            purpose=request.purpose,
            priority=request.priority,
            input_bytes=size,
            messages=len(texts),
            max_tokens=request.params.max_tokens,
            bound_nano_usd=bound(size, len(texts), request.params.max_tokens, price),
            price=price,
            trace=request.trace.model_dump(exclude_none=True) if request.trace else {},
            labels=request.labels,
            completion_id=request.completion_id,
            deck_id=request.deck_id,
            custom_id=request.custom_id,
            complete_by=request.complete_by,
            expires_at=expiry(now, request.retention_days),
            created_at=now,
            updated_at=now,
        )
        verdict = request.verdict
        text = RowInput(
            input=request.input.model_dump(mode="json", exclude_none=True),
            params=request.params.model_dump(mode="json", exclude_none=True),
            verdict=verdict.model_dump(mode="json", exclude_none=True) if verdict else None,
        )
        return PlannedRow(row, text, connection)


_CARRIED = frozenset(
    {
        "organization_id",
        "connection_id",
        "provider",
        "model",
        "purpose",
        "priority",
        "input_bytes",
        "messages",
        "max_tokens",
        "trace",
        "labels",
        "completion_id",
        "deck_id",
        "custom_id",
        "import_id",
        "expires_at",
    }
)


def _filled(request: EnqueueLlmRequest, within: str) -> tuple[str | None, str]:
    given = request.input
    variables: Mapping[str, str] = given.variables
    try:
        system = None if given.system is None else fill(given.system, variables)
        return system, fill(given.user, variables)
    except MissingVariableError as error:
        raise InvalidRequestError.of_field(
            f"{within}input.variables", f"a value for {error.name}"
        ) from error


def _extra_bytes(request: EnqueueLlmRequest) -> int:
    """Return how much a format of the answer, or what the provider alone knows, adds at most."""
    params = request.params.model_dump_json(include={"response_format", "extra"}, exclude_none=True)
    return len(params.encode())


def _unpriced(model: str, mode: Mode, field: str) -> InvalidRequestError:
    detail = (
        f"no price is known for {model}; give the connection one in prices, 0 if it is free"
        if mode == "calls"
        else f"no price is known for {model} in batch jobs; give the connection one in prices, as "
        "batchInputUsd and batchOutputUsd, or set its batches to never"
    )
    return InvalidRequestError.of_field(field, "a model whose price is known", detail=detail)
