"""Asking the paid model in a run: each attempt is a row of the ledger, with its own reservation.

What an attempt is for is written with its row: the run names the row in the transaction that
reserves, and has the outcome in the one that settles. So a worker that is killed leaves a run that
says which row to look at.
"""

from dataclasses import dataclass, field
from typing import Final

from cachetools import TTLCache

from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.retry import RetryPolicy
from autotune_platform.apprentice.routing import Remote
from autotune_platform.apprentice.runs.callers import caller_of
from autotune_platform.apprentice.runs.models import Exhausted, Run, RunFault
from autotune_platform.apprentice.runs.outputs import read_output
from autotune_platform.apprentice.runs.prompting import remote_question
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.apprentice.runs.session import Session
from autotune_platform.ledger.apprenticed import Apprenticed, NotOpenedError
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.calls import Answer, Outcome, Refusal
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    BudgetExhaustedError,
    CallsHaltedError,
    InvalidRequestError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition

AGAIN_AFTER: Final = frozenset({"rate_limited", "provider_error", "outcome_unclear"})
"""What another attempt may pass: too many calls, a provider's 5xx, a time-out."""

UNREADABLE: Final = "output_unreadable"
"""The paid model's answer is no JSON object of the task's output schema."""

MOST_PAUSE_SECONDS: Final = 10
"""For longer no worker waits: there are few, and a provider may ask for minutes."""

_PAUSES = RetryPolicy(first_seconds=1, longest_seconds=20)
TO_BOOK_SECONDS: Final = 15
"""For storing and booking what was answered."""

_KNOWN_CONNECTIONS, _KNOWN_SECONDS = 1_024, 300


@dataclass(frozen=True)
class UnderWay:
    """Another worker asks, or one that was killed did: nothing was asked here."""


@dataclass(frozen=True)
class Later:
    """The next attempt does not fit the time of this worker.

    Attributes:
        seconds: after which it may be made.
    """

    seconds: int


def _providers() -> "TTLCache[str, LlmProvider]":
    return TTLCache(_KNOWN_CONNECTIONS, _KNOWN_SECONDS)


@part
class RemoteAsking:
    """Asks the paid model."""

    calls: LedgerCalls
    runs: RunRepository
    connections: UsableConnections
    clock: Clock = SYSTEM_CLOCK
    providers: "TTLCache[str, LlmProvider]" = field(default_factory=_providers)

    def ask(self, session: Session) -> UnderWay | Later | None:
        """Ask until it answers, fails for good, or the budget has no room.

        Returns:
            None where the session's run says what came of it, or ``has_room`` is False. What was
            answered, or failed, is stored.

        Raises:
            UnavailableError: a store is busy.
        """
        primary = session.document["remote"]["primary"]
        if not session.run.has_ended and session.run.deadline_at <= self.clock.now():
            # The sweep ends it soon, and what is paid by then would be known to the ledger alone.
            session.run = _failed(session.run, "deadline_passed", "nobody asked it in time")
            return None
        while True:
            try:
                request = remote_question(session.document, session.run, self._provider(session))
                _, outcome = self.calls.call(
                    caller_of(session.run),
                    request,
                    at_most_seconds=primary["timeoutS"],
                    of=self._attempt(session),
                )
            except BudgetExhaustedError as error:
                budget = Exhausted.model_validate(error.budget.model_dump())
                session.has_room = False
                session.run = session.run.model_copy(update={"exhausted": budget})
                return None
            except (InvalidRequestError, CallsHaltedError) as error:
                is_halted = isinstance(error, CallsHaltedError)
                code = error.code if is_halted else "rejected"
                session.run = _failed(session.run, code, error.detail[:500])
                return None
            except NotOpenedError:
                return UnderWay()
            if session.run.remote is not None:
                return None
            asked_for = outcome.retry_after_seconds if isinstance(outcome, Refusal) else None
            pause = max(1, round(_PAUSES.pause(session.run.attempts)), asked_for or 0)
            needed = pause + primary["timeoutS"] + TO_BOOK_SECONDS
            if pause > MOST_PAUSE_SECONDS or session.seconds_left() < needed:
                return Later(pause)
            self.clock.sleep(pause)

    def _attempt(self, session: Session) -> Apprenticed:
        before = session.run

        def opened(row: Row) -> Run:
            return before.model_copy(
                update={
                    "attempts": before.attempts + 1,
                    "remote_row_ids": (*before.remote_row_ids, row.id),
                    "remote_asking": row.id,
                }
            )

        def opening(row: Row) -> list[Addition]:
            return [self.runs.writing(opened(row), before=session.stored)]

        def closing(row: Row, outcome: Outcome) -> list[Addition]:
            asking = opened(row)
            closed = self.closed(session, asking, row, outcome)
            session.run = session.stored = closed
            return [self.runs.writing(closed, before=asking)]

        return Apprenticed(before.task_id, before.id, opening, closing)

    def closed(self, session: Session, run: Run, row: Row, outcome: Outcome) -> Run:
        """Return a run after an attempt: it has ended, or may try again."""
        paid = {"remote_asking": None, "cost_nano_usd": run.cost_nano_usd + row.cost_nano_usd}
        now = self.clock.now()
        if isinstance(outcome, Answer):
            found = read_output(outcome.text, session.document["outputSchema"])
            if found is not None:
                session.truth, session.answer = outcome.text, found
                answered = {**paid, "remote": Remote.ANSWERED, "remote_row_id": row.id}
                return session.concluded(run.model_copy(update=answered), now)
            fault = RunFault(
                code=UNREADABLE,
                message="the answer is no JSON object that outputSchema admits",
            )
        else:
            fault = RunFault(code=outcome.code, message=outcome.message)
        run = run.model_copy(update={**paid, "remote_fault": fault})
        if isinstance(outcome, Refusal) and self._may_try_again(session, run, outcome):
            return run
        return session.concluded(run.model_copy(update={"remote": Remote.FAILED}), now)

    def _may_try_again(self, session: Session, run: Run, refusal: Refusal) -> bool:
        primary = session.document["remote"]["primary"]
        if refusal.code not in AGAIN_AFTER or run.attempts > primary["maxRetries"]:
            return False
        needed: float = primary["timeoutS"] + TO_BOOK_SECONDS + (refusal.retry_after_seconds or 0)
        return (run.deadline_at - self.clock.now()).total_seconds() > needed

    def _provider(self, session: Session) -> LlmProvider:
        """Return the provider of the paid model's connection, which never changes."""
        connection_id = session.document["remote"]["primary"]["connectionId"]
        known = self.providers.get(connection_id)
        if known is None:
            known = self.connections.require(
                session.run.organization_id, connection_id, field="remote.primary.connectionId"
            ).provider
            self.providers[connection_id] = known
        return known


def _failed(run: Run, code: str, message: str) -> Run:
    """Return a run that the paid model was not asked about, and will not be."""
    fault = RunFault(code=code, message=message)
    return run.model_copy(update={"remote": Remote.FAILED, "remote_fault": fault})
