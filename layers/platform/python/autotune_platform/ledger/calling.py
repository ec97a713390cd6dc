"""Calls that somebody waits for: a row, a reservation and a booking like any other.

The row is stored with its reservation before the call, then its texts, and it is settled after the
call. What is killed in between is found by the sweeper (``call_settling``).
"""

from collections.abc import Callable
from datetime import timedelta

from autotune.protocol.ids import new_id
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.budgets.money import Halted, MoneyBudgets, NoRoom
from autotune_platform.ledger.affording import exhausted, halted
from autotune_platform.ledger.apprenticed import Apprenticed, NotOpenedError
from autotune_platform.ledger.asking import RowAsking
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.call_claims import CallUnderWayError
from autotune_platform.ledger.call_settling import CallSettling
from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.chats import Chat
from autotune_platform.ledger.conversations import Conversation
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.models import Connection, Row
from autotune_platform.ledger.planning import PlannedRow, RowPlanner
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition

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
        self,
        caller: Caller,
        request: EnqueueLlmRequest,
        *,
        at_most_seconds: int | None = None,
        of: Apprenticed | None = None,
    ) -> tuple[Row, Answer | Refusal]:
        """Ask a model once; return the row as it ended, and what came.

        Args:
            at_most_seconds: how long the answer is waited for, where the connection waits longer.
            of: the run of an apprentice's task that it is for, whose budget is reserved from first.

        Raises:
            InvalidRequestError: it cannot be asked.
            BudgetExhaustedError: a budget has no room for it; ``budget`` says which, until when.
            CallsHaltedError: nothing is paid for the task any more, until its budgets are changed.
            NotOpenedError: a condition of what ``of`` writes before the call does not hold.
            UnavailableError: the table is busy; nothing was asked.
        """
        (planned,) = self.planner.plan(caller, [request], [new_id("llm")], alone=True, at_once=True)
        connection = planned.connection
        if at_most_seconds is not None and connection.timeout_seconds > at_most_seconds:
            connection = connection.model_copy(update={"timeout_seconds": at_most_seconds})
        return self._call(planned, self._asking_once(planned, connection), of=of)

    def converse(self, caller: Caller, asked: Conversation) -> tuple[Row, Answer | Refusal]:
        """Have a model answer a conversation; return the row as it ended, and what came.

        Raises:
            InvalidRequestError: it cannot be asked.
            BudgetExhaustedError: a budget has no room for it.
            UnavailableError: the table is busy; nothing was asked.
        """
        planned = self.planner.plan_conversation(caller, asked, new_id("llm"))
        return self._call(planned, self._asking_once(planned, planned.connection))

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

    def _asking_once(
        self, planned: PlannedRow, connection: Connection
    ) -> Callable[[Row], Answer | Refusal]:
        return lambda row: self.asking.once(connection, row, planned.text, planned.params)

    def _call(
        self,
        planned: PlannedRow,
        ask: Callable[[Row], Answer | Refusal],
        *,
        claim: Addition | None = None,
        of: Apprenticed | None = None,
    ) -> tuple[Row, Answer | Refusal]:
        begun = {"status": "submitted"}
        if of is not None:
            begun |= {"apprentice_task_id": of.task_id, "apprentice_run_id": of.run_id}
        row = self._reserved(planned.row.model_copy(update=begun), claim, of)
        self.texts.put(row, "input", planned.text)
        outcome = ask(row)
        version = planned.connection.key_version
        if isinstance(outcome, Answer):
            ending = self.ends.answering(row, planned.text, outcome, key_version=version)
        else:
            ending = self.ends.refusing(row, outcome, key_version=version)
        closing = [] if of is None else of.closing(ending.row, outcome)
        return self.settling.end(ending, closing), outcome

    def _reserved(self, row: Row, claim: Addition | None, of: Apprenticed | None) -> Row:
        claims = [] if claim is None else [claim]
        opened = [] if of is None else list(of.opening(row))

        def opening(periods: list[str]) -> list[Addition]:
            reserved = row.model_copy(update={"periods": periods})
            item = self.rows.item(reserved, queued_at=None)
            due_at = self.clock.now() + _LOST_AFTER
            return [self.batches.opening_row(item, due_at=due_at), *claims, *opened]

        reserved = self.money.reserve(row.scopes, row.bound_nano_usd, opening)
        if isinstance(reserved, NoRoom):
            self.money.announce(reserved)
            raise exhausted(reserved, row)
        if isinstance(reserved, Halted):
            raise halted(reserved)
        if reserved is None:
            if any(not self.batches.holds(one) for one in claims):
                raise CallUnderWayError
            if any(not self.batches.holds(one) for one in opened):
                raise NotOpenedError
            raise UnavailableError("the table is busy", retry_after_seconds=1)
        return row.model_copy(update={"periods": reserved.periods})
