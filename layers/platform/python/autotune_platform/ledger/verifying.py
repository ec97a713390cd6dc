"""Trying a connection: one short question, paid and listed like any other."""

from autotune.protocol.llm_connections import ConnectionVerification
from autotune.protocol.llm_params import LlmInput, LlmParams
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.models import Connection
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

LONGEST_SECONDS = 29
"""How long a verification holds a function at most: it ends when its API gives up."""

CALL_SECONDS = 20
"""How long the model is waited for at most; the rest is for storing and booking what came."""

_QUESTION = "Answer with the one word: ready"
_TOKENS = 64


@part
class ConnectionVerifying:
    """Asks a connection's model for one word."""

    calls: LedgerCalls
    connections: ConnectionRepository
    clock: Clock = SYSTEM_CLOCK

    def verify(self, caller: Caller, connection_id: str, model: str) -> ConnectionVerification:
        """Return what came of one question; any answer will do.

        Raises:
            NotFoundError: there is no such connection, or it is another organisation's.
            InvalidRequestError: it is revoked, or no price for the model is known.
            BudgetExhaustedError: a budget has no room for it.
        """
        connection = self.connections.get_of(caller.organization_id, connection_id)
        request = EnqueueLlmRequest(
            connection_id=connection.id,
            purpose="verification",
            model=model,
            input=LlmInput(user=_QUESTION),
            params=LlmParams(max_tokens=_TOKENS),
        )
        began = self.clock.monotonic()
        row, outcome = self.calls.call(caller, request, at_most_seconds=CALL_SECONDS)
        milliseconds = round((self.clock.monotonic() - began) * 1000)
        if isinstance(outcome, Answer):
            return ConnectionVerification(
                works=True,
                served_model=outcome.served_model,
                milliseconds=milliseconds,
                cost_nano_usd=row.cost_nano_usd,
            )
        return ConnectionVerification(
            works=False,
            error_code=outcome.code,
            detail=_detail(connection, outcome, milliseconds),
            milliseconds=milliseconds,
            cost_nano_usd=row.cost_nano_usd,
        )


def _detail(connection: Connection, refusal: Refusal, milliseconds: int) -> str:
    """Return why it does not work; of a call that was cut short, that others have longer."""
    was_cut = refusal.code == "outcome_unclear" and milliseconds >= CALL_SECONDS * 1000
    if was_cut and connection.timeout_seconds > CALL_SECONDS:
        return (
            f"{refusal.message}, and a verification waits no longer; other calls of the connection "
            f"have its timeoutSeconds, {connection.timeout_seconds}"
        )
    return refusal.message
