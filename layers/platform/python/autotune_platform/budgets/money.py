"""What organisations, and their apprentices' tasks, may spend on language models.

A scope is one item with its day, week and month (``scopes``). Money is set aside in the transaction
that stores what it is for, so that no crash comes between the two, and only where each of its
scopes has room. What follows returns it to the periods that it was taken from, also when they are
over.

Ceiling: a reservation and its settlement write a scope's item twice, in transactions, so 250 a
second; a batch of rows needs one. Those that meet at an item are tried again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple
from uuid import uuid4

from autotune.protocol.ids import derived_id
from autotune.protocol.llm_events import BudgetExhausted
from autotune.protocol.periods import BudgetPeriod
from autotune_platform.budgets.scopes import (
    COMMITTED,
    REFUSED,
    SPENT,
    TODAY,
    MoneyLimits,
    PeriodUse,
    Standing,
    periods_of,
    resets_at,
    settled_names,
)
from autotune_platform.budgets.uses import ITEM, MoneyUses, partition
from autotune_platform.runtime.clients import REFUSALS, is_throttled, is_unclear
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import busy_until
from autotune_platform.storage.counting import Addition, Canceled
from autotune_platform.storage.table import Table
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.outbox import outbox_addition

_TRIED_SECONDS = 10


class NoRoom(NamedTuple):
    """The first scope that had no room for a reservation, and the longest period that had none.

    ``resets_at`` is when that period is over.
    """

    scope: str
    period: BudgetPeriod
    resets_at: datetime


@dataclass(frozen=True)
class Reserved:
    """Money that is set aside, by the names of its periods."""

    periods: list[str]


@dataclass(frozen=True)
class _Planned:
    """One transaction, which is asked for again as it is until its outcome is clear."""

    token: str
    periods: list[str]
    additions: Sequence[Addition]
    scopes_from: int


@part
class MoneyBudgets(MoneyUses):
    """Budgets of all scopes, for setting and spending them.

    Attributes:
        outbox: the table of what money is set aside for; its stream leads to webhooks, too.
        tried_seconds: for how long a reservation is tried while others are at the same items.
    """

    outbox: Table
    tried_seconds: float = _TRIED_SECONDS

    def set_limits(self, scope: str, limits: MoneyLimits) -> None:
        """Replace a scope's limits; what is reserved already stays so.

        What is reserved from then on is held to them: a reservation requires those that it knew.

        Raises:
            UnavailableError: others kept writing the item.
        """
        given = limits.model_dump(exclude_none=True)
        replaced = Addition(
            table=self.table.name,
            pk=partition(scope),
            sk=ITEM,
            changes=given,
            remove=[name for name in MoneyLimits.model_fields if name not in given],
        )
        for _ in busy_until(self.clock, self.tried_seconds):
            if self.table.add_together([replaced]):
                return
        raise _busy()

    def refused(self, organization_id: str) -> None:
        """Publish that a budget left no room for what was to be reserved, once for each period.

        The period with the least room is the one. That it was published is noted in the same
        transaction, so that a crash comes before both or after both.

        Raises:
            UnavailableError: the table is busy; the next refusal publishes it.
        """
        limited = [use for use in self.uses(organization_id) if use.room is not None]
        if not limited:
            return
        use = min(limited, key=lambda one: one.room or 0)
        if use.is_announced:
            return
        now, pk, noted_as = self.clock.now(), partition(organization_id), f"{REFUSED}{use.name}"
        noted = Addition(
            table=self.table.name,
            pk=pk,
            sk=ITEM,
            changes={noted_as: 1},
            only_if={noted_as: None},
        )
        event = budget_exhausted(organization_id, use, now)
        both = [noted, outbox_addition(event, table=self.outbox.name, pk=pk)]
        for _ in busy_until(self.clock, self.tried_seconds):
            if self.table.add_together(both):
                return
            if noted_as in self.standing(organization_id).numbers:
                return
        raise _busy()

    def reserve(
        self,
        scopes: Sequence[str],
        amount: int,
        what_for: Callable[[list[str]], Sequence[Addition]],
    ) -> Reserved | NoRoom | None:
        """Set an amount aside in each of some scopes, in one transaction with what it is for.

        It takes one call of AWS where the scopes were seen before, in the same day and with the
        same limits. Others that write the same items are no refusal: it is tried again.

        Args:
            scopes: the narrowest first, which is the one that is named where several have no room.
            what_for: returns what else is written, by the names of the periods. The first has the
                condition that it was never written, and notes the ``periods``.

        Returns:
            None where nothing was written because a condition of ``what_for`` does not hold.

        Raises:
            UnavailableError: the tables are busy, or do not answer. In the latter case it may be
                written, as what a killed caller leaves.
        """
        unclear: _Planned | None = None
        for _ in busy_until(self.clock, self.tried_seconds):
            planned = unclear or self._planned(scopes, amount, what_for)
            try:
                canceled = self.table.write_together(planned.additions, token=planned.token)
            except REFUSALS as error:
                if is_unclear(error):
                    unclear = planned
                elif not is_throttled(error):
                    raise
                continue
            unclear = None
            if canceled is None:
                self._entered(scopes, planned.periods)
                return Reserved(planned.periods)
            if any(place < planned.scopes_from for place in canceled.refused):
                return self._written_before(planned)
            short = self._short(planned, canceled, scopes, amount)
            if short is not None:
                return short
        raise _busy()

    def settlement(
        self, scopes: Sequence[str], periods: Sequence[str], *, reserved: int, spent: int
    ) -> list[Addition]:
        """Return what gives back a reservation and counts what was spent of it, or beyond it."""
        names = settled_names(periods, self.clock.now().date())
        numbers = {f"{COMMITTED}{name}": spent - reserved for name in names}
        numbers |= {f"{SPENT}{name}": spent for name in names}
        return [
            Addition(table=self.table.name, pk=partition(scope), sk=ITEM, numbers=numbers)
            for scope in scopes
        ]

    def _planned(
        self,
        scopes: Sequence[str],
        amount: int,
        what_for: Callable[[list[str]], Sequence[Addition]],
    ) -> _Planned:
        now = self.clock.now().date()
        # What goes with the day before is what the item has now.
        standings = {
            scope: known
            if (known := self.known.get(scope)) is not None and known.today == known.day(now)
            else self.standing(scope)
            for scope in scopes
        }
        day = max(standing.day(now) for standing in standings.values())
        periods = list(periods_of(day).values())
        others = what_for(periods)
        own = [self._addition(scope, one, day, amount) for scope, one in standings.items()]
        return _Planned(uuid4().hex, periods, [*others, *own], len(others))

    def _entered(self, scopes: Sequence[str], periods: Sequence[str]) -> None:
        """Take note of the day that scopes are in, so that the next reservation reads nothing."""
        for scope in scopes:
            known = self.known.get(scope)
            if known is not None:
                self.known[scope] = known._replace(today=date.fromisoformat(periods[0]))

    def _addition(self, scope: str, standing: Standing, day: date, amount: int) -> Addition:
        """Return what sets an amount aside, if a scope is where it stood, and has room."""
        is_new = standing.today != day
        names = periods_of(day)
        limits: Mapping[str, int | None] = standing.limits.model_dump()
        return Addition(
            table=self.table.name,
            pk=partition(scope),
            sk=ITEM,
            numbers={f"{COMMITTED}{name}": amount for name in names.values()},
            changes={TODAY: day.isoformat()} if is_new else {},
            remove=standing.outdated(day) if is_new else (),
            only_if={TODAY: standing.today.isoformat() if standing.today else None, **limits},
            at_most={
                f"{COMMITTED}{name}": limit - amount
                for period, name in names.items()
                if (limit := standing.limits.of(period)) is not None
            },
            is_returned=True,
        )

    def _short(
        self, planned: _Planned, canceled: Canceled, scopes: Sequence[str], amount: int
    ) -> NoRoom | None:
        """Take note of where scopes stand that refused; return the first that has no room."""
        found: NoRoom | None = None
        day = date.fromisoformat(planned.periods[0])
        for place, item in sorted(canceled.refused.items()):
            scope = scopes[place - planned.scopes_from]
            standing = self.seen(scope, Standing.of(item))
            period = standing.short(day, amount)
            if period is not None and found is None:
                found = NoRoom(scope, period, resets_at(period, standing.day(day)))
        return found

    def _written_before(self, planned: _Planned) -> Reserved | None:
        """Return what was set aside by the same transaction, where its answer was lost."""
        first = planned.additions[0]
        stored = self.outbox.get(first.pk, first.sk) or {}
        return Reserved(planned.periods) if stored.get("periods") == planned.periods else None


def budget_exhausted(organization_id: str, use: PeriodUse, now: datetime) -> Event:
    """Return the event ``budget.exhausted`` of a period that has a limit."""
    assert use.limit is not None
    data = BudgetExhausted(
        scope="organization",
        period=use.period,
        name=use.name,
        limit_nano_usd=use.limit,
        spent_nano_usd=use.spent,
        reserved_nano_usd=use.reserved,
    )
    period = f"{use.period}#{use.name}"
    return Event(
        id=derived_id("evt", "budget.exhausted", organization_id, period),
        type="budget.exhausted",
        organization_id=organization_id,
        occurred_at=now,
        data=data.model_dump(mode="json", by_alias=True),
    )


def _busy() -> UnavailableError:
    return UnavailableError("the table is busy", retry_after_seconds=1)
