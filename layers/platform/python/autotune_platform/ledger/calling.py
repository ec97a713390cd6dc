"""Calls that somebody waits for: a row, a reservation and a booking like any other.

The row is stored with its reservation before the call, then its texts, and it is settled after the
call. What is killed in between is found by the sweeper (``call_settling``).
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from autotune.protocol.ids import new_id
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.ledger.asking import RowAsking
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.call_claims import CallUnderWayError
from autotune_platform.ledger.call_settling import CallSettling
from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.chats import Chat
from autotune_platform.ledger.conversations import Conversation
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.planning import PlannedRow, RowPlanner
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import BudgetExhaustedError, UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition

_RESERVATIONS_TRIED = 8
_LOST_AFTER = timedelta(minutes=10)


@part
class LedgerCalls:
    """The one way in which the product calls a language model and waits for the answer."""

    planner: RowPlanner
    rows: RowRepository
    texts: RowTexts
    batches: BatchRepository
    asking: RowAsking
    ends: RowEnds
    money: MoneyBudgets
    settling: CallSettling
    clock: Clock = SYSTEM_CLOCK

    def call(
        self, caller: Caller, request: EnqueueLlmRequest, *, at_most_seconds: int | None = None
    ) -> tuple[Row, Answer | Refusal]:
        """Ask a model once; return the row as it ended, and what came.

        Args:
            at_most_seconds: how long the answer is waited for, where the connection waits longer.

        Raises:
            InvalidRequestError: it cannot be asked.
            BudgetExhaustedError: a budget has no room for it.
            UnavailableError: the table is busy; nothing was asked.
        """
        (planned,) = self.planner.plan(caller, [request], [new_id("llm")], alone=True, at_once=True)
        connection = planned.connection
        if at_most_seconds is not None and connection.timeout_seconds > at_most_seconds:
            shorter = connection.model_copy(update={"timeout_seconds": at_most_seconds})
            planned = replace(planned, connection=shorter)
        return self._call(planned)

    def converse(self, caller: Caller, asked: Conversation) -> tuple[Row, Answer | Refusal]:
        """Have a model answer a conversation; return the row as it ended, and what came.

        Raises:
            InvalidRequestError: it cannot be asked.
            BudgetExhaustedError: a budget has no room for it.
            UnavailableError: the table is busy; nothing was asked.
        """
        return self._call(self.planner.plan_conversation(caller, asked, new_id("llm")))

    def pass_on(
        self,
        caller: Caller,
        asked: Chat,
        *,
        seconds_left: Callable[[], float],
        taking: Callable[[str], Addition] | None = None,
    ) -> tuple[Row, Answer | Refusal]:
        """Have a chat completion answered as it is; return the row as it ended, and what came.

        It keeps to the limits of its connection, unlike calls that the product makes for itself.

        Args:
            seconds_left: for asking; what is stored and booked afterwards takes its own time.
            taking: what is stored with its row, by the row's id, if nobody was first.

        Raises:
            InvalidRequestError: it cannot be asked.
            CallUnderWayError: somebody was.
            BudgetExhaustedError: a budget has no room for it.
            TooManyRequestsError: the connection's limits are full.
            UnavailableError: the table is busy, or the provider is down; nothing was asked.
        """
        planned = self.planner.plan_chat(caller, asked, new_id("llm"))
        with self.asking.permit(planned.connection, seconds_left=seconds_left) as permit:
            return self._call(
                planned,
                lambda row: self.asking.pass_on(planned.connection, row, asked.body, permit),
                claim=None if taking is None else taking(planned.row.id),
            )

    def _call(
        self,
        planned: PlannedRow,
        ask: Callable[[Row], Answer | Refusal] | None = None,
        *,
        claim: Addition | None = None,
    ) -> tuple[Row, Answer | Refusal]:
        row = self._reserved(planned.row.model_copy(update={"status": "submitted"}), claim)
        self.texts.put(row, "input", planned.text)
        if ask is None:
            outcome = self.asking.once(planned.connection, row, planned.text)
        else:
            outcome = ask(row)
        version = planned.connection.key_version
        if isinstance(outcome, Answer):
            ended = self.ends.answered(row, planned.text, outcome, key_version=version)
        else:
            ended = self.ends.refused(row, outcome, more_attempts=False, key_version=version)
        ended = ended or self.rows.get(row.id) or row
        self.settling.settle(ended)
        return ended, outcome

    def _reserved(self, row: Row, claim: Addition | None) -> Row:
        with_it = [] if claim is None else [claim]
        for _ in range(_RESERVATIONS_TRIED):
            room = self.money.room(row.organization_id)
            if room is not None and row.bound_nano_usd > room:
                self.money.refused(row.organization_id)
                raise BudgetExhaustedError(
                    "the budget for language models has no room for this call"
                )
            reservation = self.money.reservation(row.organization_id, row.bound_nano_usd)
            reserved = row.model_copy(update={"periods": reservation.periods})
            opening = self.batches.opening_row(
                self.rows.item(reserved, queued_at=None), due_at=self.clock.now() + _LOST_AFTER
            )
            if self.batches.try_write([opening, *reservation.additions, *with_it]):
                return reserved
            if claim is not None and not self.batches.holds(claim):
                raise CallUnderWayError
        raise UnavailableError("the table is busy", retry_after_seconds=1)
