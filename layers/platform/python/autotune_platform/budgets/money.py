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

from autotune_platform.budgets.announcing import budget_exhausted, budget_warning
from autotune_platform.budgets.scopes import (
    COMMITTED,
    HALTED,
    HALTED_BY,
    REFUSED,
    SPENT,
    TODAY,
    WARNED,
    Bounds,
    Halt,
    MoneyLimits,
    PeriodUse,
    Standing,
    periods_of,
    resets_at,
    settled_names,
)
from autotune_platform.budgets.uses import ITEM, MoneyUses, partition, task_of
from autotune_platform.runtime.clients import REFUSALS, is_throttled, is_unclear
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import busy_until
from autotune_platform.storage.counting import Addition, Canceled
from autotune_platform.storage.table import Table
from autotune_platform.webhooks.outbox import outbox_addition

_TRIED_SECONDS = 10


class NoRoom(NamedTuple):
    """The first scope that had no room for a reservation, and the longest period that had none.

    ``resets_at`` is when that period is over.
    """

    scope: str
    standing: Standing
    use: PeriodUse
    resets_at: datetime


class Halted(NamedTuple):
    """The first scope in which nothing is reserved, and why."""

    scope: str
    why: Halt
    by: str | None


@dataclass(frozen=True)
class Reserved:
    """Money that is set aside, by the names of its periods."""

    periods: list[str]


@dataclass(frozen=True)
class _Planned:
    """One transaction, which is asked for again as it is until its outcome is clear.

    ``warned`` has the attributes by scope that note that word is sent of a period.
    """

    token: str
    periods: list[str]
    additions: Sequence[Addition]
    scopes_from: int
    warned: Mapping[str, Sequence[str]]


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

    def refused(self, scope: str) -> None:
        """Publish that a budget left no room for what was to be reserved, once for each period.

        The period with the least room is the one; see ``announce``.
        """
        standing = self.standing(scope)
        uses = standing.uses(self.clock.now().date())
        limited = [use for use in uses if use.room is not None]
        if limited:
            self._announce(scope, standing, min(limited, key=lambda one: one.room or 0))

    def announce(self, no_room: NoRoom) -> None:
        """Publish that a period left no room for what was to be reserved, once for each.

        That it was published is noted in the same transaction, so that a crash comes before both or
        after both.

        Raises:
            UnavailableError: the table is busy; the next refusal publishes it.
        """
        self._announce(no_room.scope, no_room.standing, no_room.use)

    def _announce(self, scope: str, standing: Standing, use: PeriodUse) -> None:
        if use.is_announced:
            return
        pk, noted_as = partition(scope), f"{REFUSED}{use.name}"
        noted = Addition(
            table=self.table.name,
            pk=pk,
            sk=ITEM,
            changes={noted_as: 1},
            only_if={noted_as: None},
        )
        event = budget_exhausted(scope, standing, use, self.clock.now())
        both = [noted, outbox_addition(event, table=self.outbox.name, pk=pk)]
        for _ in busy_until(self.clock, self.tried_seconds):
            if self.table.add_together(both):
                self._noted(scope, [noted_as])
                return
            if noted_as in self.standing(scope).numbers:
                return
        raise _busy()

    def reserve(
        self,
        scopes: Sequence[str],
        amount: int,
        what_for: Callable[[list[str]], Sequence[Addition]],
    ) -> Reserved | NoRoom | Halted | None:
        """Set an amount aside in each of some scopes, in one transaction with what it is for.

        It takes one call of AWS where the scopes were seen before, in the same day and with the
        same limits. Others that write the same items are no refusal: it is tried again. Where it
        takes a period to 80 percent of its limit, word of that is sent in the same transaction.

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
                self._entered(scopes, planned)
                return Reserved(planned.periods)
            if any(place < planned.scopes_from for place in canceled.refused):
                return self._written_before(planned)
            short = self._short(planned, canceled, scopes, amount)
            if short is not None:
                return short
        raise _busy()

    def settlement(
        self,
        scopes: Sequence[str],
        periods: Sequence[str],
        *,
        reserved: int,
        spent: int,
        row_id: str | None = None,
    ) -> list[Addition]:
        """Return what gives back a reservation and counts what was spent of it, or beyond it.

        Where it is beyond, nothing more is reserved in the scope of a task.

        Args:
            row_id: of the row that it was for, if it was for one.
        """
        names = settled_names(periods, self.clock.now().date())
        numbers = {f"{COMMITTED}{name}": spent - reserved for name in names}
        numbers |= {f"{SPENT}{name}": spent for name in names}
        halted = {HALTED: "above_bound", **({HALTED_BY: row_id} if row_id else {})}
        return [
            Addition(
                table=self.table.name,
                pk=partition(scope),
                sk=ITEM,
                numbers=numbers,
                changes=halted if task_of(scope) and spent > reserved else {},
            )
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
        bounds = {scope: one.bounds(day, amount) for scope, one in standings.items()}
        own = [
            self._addition(scope, one, day, amount, bounds[scope])
            for scope, one in standings.items()
        ]
        words = [
            outbox_addition(
                budget_warning(
                    scope, standings[scope], use.with_reserved(amount), self.clock.now()
                ),
                table=self.outbox.name,
                pk=partition(scope),
            )
            for scope, of in bounds.items()
            for use in of.warned
        ]
        return _Planned(
            uuid4().hex,
            periods,
            [*others, *own, *words],
            len(others),
            {scope: _noting(of) for scope, of in bounds.items()},
        )

    def _entered(self, scopes: Sequence[str], planned: _Planned) -> None:
        """Take note of the day that scopes are in, so that the next reservation reads nothing."""
        day = date.fromisoformat(planned.periods[0])
        for scope in scopes:
            self._noted(scope, planned.warned[scope], day)

    def _noted(self, scope: str, names: Sequence[str], day: date | None = None) -> None:
        """Take note of what was just written of a scope."""
        known = self.known.get(scope)
        if known is not None:
            numbers = {**known.numbers, **dict.fromkeys(names, 1)}
            self.known[scope] = known._replace(numbers=numbers, today=day or known.today)

    def _addition(
        self, scope: str, standing: Standing, day: date, amount: int, bounds: Bounds
    ) -> Addition:
        """Return what sets an amount aside, if a scope is where it stood, and has room."""
        is_new = standing.today != day
        names = periods_of(day)
        warned = _noting(bounds)
        return Addition(
            table=self.table.name,
            pk=partition(scope),
            sk=ITEM,
            numbers={f"{COMMITTED}{name}": amount for name in names.values()},
            changes={**({TODAY: day.isoformat()} if is_new else {}), **dict.fromkeys(warned, 1)},
            remove=standing.outdated(day) if is_new else (),
            only_if={
                TODAY: standing.today.isoformat() if standing.today else None,
                HALTED: None,
                **vars(standing.limits),
                **dict.fromkeys(warned),
            },
            at_most=bounds.at_most,
            at_least=bounds.at_least,
            is_returned=True,
        )

    def _short(
        self, planned: _Planned, canceled: Canceled, scopes: Sequence[str], amount: int
    ) -> NoRoom | Halted | None:
        """Take note of where scopes stand that refused; return the first that has no room."""
        found: NoRoom | Halted | None = None
        day = date.fromisoformat(planned.periods[0])
        for place, item in sorted(canceled.refused.items()):
            if place >= planned.scopes_from + len(scopes):
                continue
            scope = scopes[place - planned.scopes_from]
            standing = self.seen(scope, Standing.of(item))
            if found is not None:
                continue
            if standing.halted is not None:
                found = Halted(scope, standing.halted, standing.halted_by)
            elif (use := standing.short(day, amount)) is not None:
                over = resets_at(use.period, standing.day(day))
                found = NoRoom(scope, standing, use, over)
        return found

    def _written_before(self, planned: _Planned) -> Reserved | None:
        """Return what was set aside by the same transaction, where its answer was lost."""
        first = planned.additions[0]
        stored = self.outbox.get(first.pk, first.sk) or {}
        return Reserved(planned.periods) if stored.get("periods") == planned.periods else None


def _noting(bounds: Bounds) -> list[str]:
    """Return the attributes that note that word is sent."""
    return [f"{WARNED}{use.name}" for use in bounds.warned]


def _busy() -> UnavailableError:
    return UnavailableError("the table is busy", retry_after_seconds=1)
