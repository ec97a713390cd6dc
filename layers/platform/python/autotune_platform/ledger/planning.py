"""What a request becomes: a row with its price and its bound, or an error that names the field."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from aws_lambda_powertools import Logger

from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.ledger.asked_texts import filled, said, size_of
from autotune_platform.ledger.chats import Chat
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.conversations import Conversation
from autotune_platform.ledger.models import Connection, Mode, Row, expiry
from autotune_platform.ledger.price_lists import Processing
from autotune_platform.ledger.prices import Prices, PriceSnapshot, bound
from autotune_platform.ledger.providers.registry import unsupported
from autotune_platform.ledger.row_texts import RowInput
from autotune_platform.ledger.sending import mode_of, require_room
from autotune_platform.ledger.usable_connections import require_usable
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.runtime.parts import part

logger = Logger()

OF_DATA: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What code raises that meets data that nobody foresaw; no store or service raises any of it."""


@dataclass(frozen=True)
class PlannedRow:
    """A row, what it asks, and where.

    Attributes:
        is_awaited: whether it waits for no others to share calls.
        params: those of ``text``, where they were just checked.
    """

    row: Row
    text: RowInput
    connection: Connection
    is_awaited: bool = False
    params: LlmParams | None = None

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
            if at_once and request.verdict and request.verdict.on_parse_failure == "reask":
                raise InvalidRequestError.of_field(
                    f"{within}verdict.onParseFailure",
                    "keep",
                    detail="a call that somebody waits for is not asked again",
                )
            mode = "calls" if at_once else self._mode(request, connection, within)
            planned.append(self._planned_input(request, row_id, connection, mode, within))
        return planned

    def plan_conversation(self, caller: Caller, asked: Conversation, row_id: str) -> PlannedRow:
        """Return the row of a conversation that somebody waits for.

        Raises:
            InvalidRequestError: it cannot be asked.
        """
        connection = self._connection(caller, asked, "")
        texts = said(asked, connection)
        messages = [message.model_dump(mode="json") for message in asked.messages]
        text = RowInput(messages=messages, params=_as_json(asked.params))
        return self._planned(asked, row_id, connection, "calls", "", texts, text)

    def plan_chat(self, caller: Caller, asked: Chat, row_id: str) -> PlannedRow:
        """Return the row of a chat completion that is passed through.

        Raises:
            InvalidRequestError: it cannot be asked.
        """
        connection = self._connection(caller, asked, "")
        text = RowInput(chat_request=asked.body, params=_as_json(asked.params))
        return self._planned(asked, row_id, connection, "calls", "", asked.texts(), text)

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
                mode = self._mode(request, connection, "")
                yield self._planned_input(request, row_id, connection, mode, "")
            except InvalidRequestError as error:
                yield error
            except OF_DATA:
                # It is the request's, and would come again at each attempt.
                logger.exception("a request could not be planned", llm_request_id=row_id)
                yield InvalidRequestError("the request cannot be read")

    def _connection(
        self, caller: Caller, request: EnqueueLlmRequest | Conversation | Chat, within: str
    ) -> Connection:
        field = f"{within}connectionId"
        return require_usable(
            self.connections, caller.organization_id, request.connection_id, field=field
        )

    def _mode(self, request: EnqueueLlmRequest, connection: Connection, within: str) -> Mode:
        now = self.clock.now()
        return mode_of(request.params, connection, within, by=request.complete_by, now=now)

    def _planned_input(
        self,
        request: EnqueueLlmRequest,
        row_id: str,
        connection: Connection,
        mode: Mode,
        within: str,
    ) -> PlannedRow:
        texts = filled(request, within)
        text = input_of(request)
        return self._planned(request, row_id, connection, mode, within, texts, text)

    def _planned(
        self,
        request: EnqueueLlmRequest | Conversation | Chat,
        row_id: str,
        connection: Connection,
        mode: Mode,
        within: str,
        texts: Sequence[str],
        text: RowInput,
    ) -> PlannedRow:
        refused = unsupported(connection.provider, request.params)
        if refused is not None:
            raise InvalidRequestError.of_field(
                f"{within}params.{refused}",
                "left out",
                detail=f"{connection.provider} does not take it",
            )
        price = price_of(self.prices, connection, request.model, mode, f"{within}model")
        now = self.clock.now()
        if request.complete_by is not None and request.complete_by <= now:
            raise InvalidRequestError.of_field(f"{within}completeBy", "a moment in the future")
        size = size_of(texts, request.params)
        if mode == "job":
            require_room(connection, request.model, size, len(texts), f"{within}input")
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
        return PlannedRow(row, text, connection, params=request.params)


def input_of(request: EnqueueLlmRequest) -> RowInput:
    """Return what is stored of what a request asks."""
    verdict = request.verdict
    return RowInput(
        input=request.input.model_dump(mode="json", exclude_none=True),
        params=_as_json(request.params),
        verdict=verdict.model_dump(mode="json", exclude_none=True) if verdict else None,
    )


def _as_json(params: LlmParams) -> dict[str, Any]:
    return params.model_dump(mode="json", exclude_none=True)


def price_of(
    prices: Prices, connection: Connection, model: str, mode: Mode, field: str
) -> PriceSnapshot:
    """Return the price of a model, sent so.

    Raises:
        InvalidRequestError: it has none.
    """
    processing: Processing = "batch" if mode == "job" else "standard"
    price = prices.find(connection, model, processing=processing)
    if price is None:
        raise _unpriced(model, mode, field)
    return price


def _unpriced(model: str, mode: Mode, field: str) -> InvalidRequestError:
    detail = f"no price is known for {model}; give the connection one in prices, 0 if it is free"
    command = f"`autotune llm update-connection ID --price {model}=INPUT,OUTPUT"
    if mode == "job":
        detail = (
            f"no price is known for {model} in batch jobs; give the connection one in prices, as "
            "batchInputUsd and batchOutputUsd, or set its batches to never"
        )
        command += f" --batch-price {model}=INPUT,OUTPUT"
    detail = f"{detail} ({command}`)"
    return InvalidRequestError.of_field(field, "a model whose price is known", detail=detail)
