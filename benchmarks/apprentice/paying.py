"""The ledger of a stream in this process: rows, bounds, costs and scopes are the product's.

What is written is kept in memory, in place of DynamoDB's transactions.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import date, datetime
from typing import Any, cast

from autotune.protocol.ids import derived_id
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.budgets.money import NoRoom
from autotune_platform.budgets.scopes import (
    COMMITTED,
    SPENT,
    MoneyLimits,
    Standing,
    periods_of,
    resets_at,
)
from autotune_platform.ledger.affording import exhausted
from autotune_platform.ledger.apprenticed import Apprenticed
from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.models import Connection, Row
from autotune_platform.ledger.planning import RowPlanner
from autotune_platform.ledger.price_lists import Processing
from autotune_platform.ledger.prices import Prices, PriceSnapshot, Seller, cost
from autotune_platform.ledger.templates import fill
from autotune_platform.ledger.usage import Usage
from autotune_platform.runtime.clock import Clock
from autotune_platform.runtime.parts import part
from benchmarks.apprentice.teacher import Teacher

Writing = Callable[[], None]
_NO_LIMITS = MoneyLimits()


class OneConnection:
    """Stands for connections: there is one."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def get_of(self, organization_id: str, connection_id: str) -> Connection:
        """Return it."""
        assert (organization_id, connection_id) == (
            self.connection.organization_id,
            self.connection.id,
        )
        return self.connection

    def require(self, organization_id: str, connection_id: str, *, field: str) -> Connection:
        """Return it, as usable connections do."""
        del field
        return self.get_of(organization_id, connection_id)


@part
class KnownPrices(Prices):
    """Prices that are looked up once: they change at midnight at most, and here not at all."""

    known: dict[tuple[Any, ...], PriceSnapshot | None] = field(default_factory=dict)

    def find(
        self,
        connection: Seller,
        model: str,
        *,
        processing: Processing = "standard",
        at: datetime | None = None,
    ) -> PriceSnapshot | None:
        """Return the price of a model; see ``Prices``."""
        key = (model, processing, at)
        if key not in self.known:
            self.known[key] = super().find(connection, model, processing=processing, at=at)
        return self.known[key]


class Money:
    """Scopes of money, as their items have them.

    Attributes:
        scopes: where each stands.
        most_committed: share of a limit that was ever committed, of any scope and period.
    """

    def __init__(self) -> None:
        self.scopes: dict[str, Standing] = {}
        self.most_committed = 0.0

    def put(self, scope: str, limits: MoneyLimits) -> None:
        """Set the limits of a scope."""
        self.scopes[scope] = Standing(limits, None, {})

    def reserve(self, scopes: Sequence[str], amount: int, today: date) -> NoRoom | None:
        """Set an amount aside in all scopes; where one has no room, return which."""
        for scope in scopes:
            standing = self.scopes[scope]
            short = standing.short(today, amount)
            if short is not None:
                return NoRoom(scope, standing, short, resets_at(short.period, standing.day(today)))
        for scope in scopes:
            self._add(scope, today, {COMMITTED: amount})
        return None

    def settle(self, scopes: Sequence[str], today: date, *, reserved: int, spent: int) -> None:
        """Return what was reserved, and book what was spent."""
        for scope in scopes:
            self._add(scope, today, {COMMITTED: spent - reserved, SPENT: spent})

    def _add(self, scope: str, today: date, amounts: dict[str, int]) -> None:
        standing = self.scopes[scope]
        day = standing.day(today)
        numbers = dict(standing.numbers)
        if standing.today != day:
            for name in standing.outdated(day):
                del numbers[name]
        for kind, amount in amounts.items():
            for name in periods_of(day).values():
                numbers[f"{kind}{name}"] = numbers.get(f"{kind}{name}", 0) + amount
        self.scopes[scope] = standing = standing._replace(today=day, numbers=numbers)
        if SPENT not in amounts:  # only what is reserved takes a scope nearer to its limit
            self._note(standing, today)

    def _note(self, standing: Standing, today: date) -> None:
        if standing.limits == _NO_LIMITS:
            return
        for use in standing.uses(today):
            if use.limit:
                self.most_committed = max(self.most_committed, use.committed / use.limit)


class LedgerInMemory:
    """Stands for ``LedgerCalls``: rows are planned, reserved, asked and booked one by one.

    Attributes:
        rows: that were paid.
        total: what they cost, in billionths of a US dollar.
        texts: what rows were answered, by id.
    """

    def __init__(
        self, connection: OneConnection, teacher: Teacher, money: Money, clock: Clock
    ) -> None:
        self._planner = RowPlanner(
            connections=cast("ConnectionRepository", connection),
            prices=KnownPrices(clock=clock),
            clock=clock,
        )
        self._teacher, self._money, self._clock = teacher, money, clock
        self.rows = self.total = 0
        self.texts: dict[str, str] = {}

    def call(
        self,
        caller: Caller,
        request: EnqueueLlmRequest,
        *,
        at_most_seconds: int | None = None,
        of: Apprenticed | None = None,
    ) -> tuple[Row, Answer | Refusal]:
        """Ask once; see ``LedgerCalls.call``."""
        del at_most_seconds
        assert of is not None
        row_id = derived_id("llm", of.run_id, str(self.rows))
        (planned,) = self._planner.plan(caller, [request], [row_id], alone=True, at_once=True)
        whose = {"apprentice_task_id": of.task_id, "apprentice_run_id": of.run_id}
        row = planned.row.model_copy(update=whose)
        today = self._clock.now().date()
        no_room = self._money.reserve(row.scopes, row.bound_nano_usd, today)
        if no_room is not None:
            raise exhausted(no_room, row)
        _write(of.opening(row))
        variables = request.input.variables
        user = fill(request.input.user, variables)
        text, read, wrote = self._teacher.answer(
            request.input.system or "", user, variables["text"]
        )
        usage = Usage(input_tokens=read, output_tokens=wrote)
        paid = cost(usage, row.price)
        outcome = Answer(text, "stop", usage)
        ended = row.model_copy(
            update={"status": "completed", "usage": usage, "cost_nano_usd": paid}
        )
        self._money.settle(row.scopes, today, reserved=row.bound_nano_usd, spent=paid)
        self.rows += 1
        self.total += paid
        self.texts[row.id] = text
        _write(of.closing(ended, outcome))
        return ended, outcome


def _write(writes: Sequence[object]) -> None:
    for one in writes:
        cast("Writing", one)()
