"""Chat completions of programs that know OpenAI's API, passed through to a token's connection."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from autotune_platform.access.models import Caller
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.chats import Chat
from autotune_platform.ledger.compatible.chat_bodies import ChatBody
from autotune_platform.ledger.compatible.chat_places import ChatPlaces
from autotune_platform.ledger.compatible.chat_refusals import (
    ModelNotFoundError,
    NoAnswerError,
)
from autotune_platform.ledger.compatible.chats_again import AnsweredBefore, ChatsAgain
from autotune_platform.ledger.compatible.passing import Passed, passed
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.models import Connection, Row
from autotune_platform.ledger.price_lists import listed_models
from autotune_platform.ledger.providers.openai import OpenAiFormat
from autotune_platform.ledger.providers.registry import openai_wire_of, with_openai_wire
from autotune_platform.ledger.token_repository import Token
from autotune_platform.ledger.usable_connections import require_usable
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import MalformedRequestError
from autotune_platform.runtime.parts import part


class Listener(Protocol):
    """Hears of each answer that was passed through, once it is stored and paid."""

    def answered(self, row: Row) -> None:
        """Hear of an answer; what goes wrong with that is raised to nobody."""


@part
class CompatibleChats:
    """Has chat completions answered."""

    calls: LedgerCalls
    connections: ConnectionRepository
    again: ChatsAgain
    places: ChatPlaces
    listener: Listener
    clock: Clock = SYSTEM_CLOCK

    def complete(
        self,
        caller: Caller,
        token: Token,
        asked: ChatBody,
        *,
        deck_id: str | None,
        labels: Mapping[str, str],
        idempotency_key: str | None,
        seconds_left: Callable[[], float],
    ) -> Passed:
        """Return what the provider answers, as it does.

        Args:
            idempotency_key: what the same has that is sent again, which is answered as before.
            seconds_left: for the provider's answer.

        Raises:
            IdempotencyKeyReusedError: the key came before with another body.
            CallUnderWayError: the same is being asked.
            AnswerGoneError: the same was answered before, and the answer is deleted.
            ModelNotFoundError: the model is not one of the token's connection.
            InvalidRequestError: the provider has no such wire, or the body what it does not take.
            BudgetExhaustedError, TooManyRequestsError, UnavailableError: nothing was asked.
            NoAnswerError: the provider gave no answer.
            AnswerTooLargeToPassError: the ledger has it.
        """
        connection = self._connection(token, field="model")
        model = _model_of(connection, asked.model)
        refused = _wire_of(connection).unbounded(asked.unbounded)
        if refused is not None:
            raise MalformedRequestError.of_field(
                refused, "left out", detail="what it may cost is not bounded before the call"
            )
        chat = Chat(
            connection_id=connection.id,
            model=model,
            body=asked.body,
            max_tokens=asked.max_tokens,
            deck_id=deck_id,
            labels=labels,
            retention_days=token.retention_days,
        )
        taking = None
        if idempotency_key is not None:
            found = self.again.find(caller.organization_id, idempotency_key, chat, asked)
            if isinstance(found, AnsweredBefore):
                return _passed(asked, found.response, found.request_id, is_replayed=True)
            taking = found
        with self.places.place(caller, seconds_left()):
            row, outcome = self.calls.pass_on(
                caller, chat, seconds_left=seconds_left, taking=taking
            )
        if isinstance(outcome, Refusal):
            raise NoAnswerError(outcome, request_id=row.id)
        response = outcome.document or {}
        self.listener.answered(row)
        return _passed(asked, response, row.id)

    def models(self, token: Token) -> list[dict[str, Any]]:
        """Return the models of a token's connection whose price is known, as OpenAI lists them."""
        connection = self._connection(token, field="token")
        if openai_wire_of(connection.provider) is None:
            return []
        listed = listed_models(connection.provider, self.clock.now().date())
        names = sorted({*connection.prices, *listed})
        created = int(connection.created_at.timestamp())
        return [
            {
                "id": f"{connection.name}/{name}",
                "object": "model",
                "created": created,
                "owned_by": connection.provider,
            }
            for name in names
        ]

    def _connection(self, token: Token, *, field: str) -> Connection:
        return require_usable(self.connections, token.organization_id, token.asks, field=field)


def _model_of(connection: Connection, said: str) -> str:
    for name in (connection.id, connection.name):
        model = said.removeprefix(f"{name}/")
        if model != said and model:
            return model
    expected = f"{connection.name}/MODEL or {connection.id}/MODEL"
    raise ModelNotFoundError.of(said[:200], expected)


def _wire_of(connection: Connection) -> OpenAiFormat:
    wire = openai_wire_of(connection.provider)
    if wire is None:
        able = ", ".join(with_openai_wire())
        raise MalformedRequestError.of_field(
            "model",
            f"a model of a connection to one of {able}",
            detail=f"the provider {connection.provider} does not take OpenAI's chat completions; "
            f"connections to {able} do",
        )
    return wire


def _passed(
    asked: ChatBody, response: Mapping[str, Any], request_id: str, *, is_replayed: bool = False
) -> Passed:
    return passed(
        response,
        is_streamed=asked.is_streamed,
        with_usage=asked.with_usage,
        named_by="x-autotune-llm-request",
        stored_as=request_id,
        stored_at="/api/v1/llm-requests",
        is_replayed=is_replayed,
    )
