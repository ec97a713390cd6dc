"""A scope of money as pure state: an organisation, or one of its apprentice's tasks.

A scope is one item. It has the limits, and for each period by its name what is committed, which is
what was spent and what is reserved, and what was spent. So a reservation is one update, and none of
its conditions is on another item. Nothing rolls over: a new period is another name.

Days go forward only. An item is in one day, and everything that is reserved is reserved in that
day; the first reservation of a later day takes the item there, and removes the names of periods
that nobody adds to any more.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self

from autotune.protocol.periods import BudgetPeriod
from autotune_platform.runtime.frozen_model import FrozenModel

COMMITTED, SPENT, REFUSED, WARNED = "committed#", "spent#", "refused#", "warned#"
"""What attributes of a period begin with, before its name."""

HALTED, HALTED_BY, TASK_NAME = "halted", "halted_by", "task_name"

Halt = Literal["above_bound", "deleted"]
"""Why nothing is reserved in a scope: a call cost more than it can have, or the task is gone."""

TODAY = "today"
_WARNED_FROM_PERCENT = 80
_SETTLED_BACK = 1
# One more than is settled: a clock that is behind by less than a day finds its names there.
_KEPT_BACK = 2
_KNOWN_DAYS = 16


class MoneyLimits(FrozenModel):
    """Most billionths of a US dollar of each period; None is no limit."""

    day: int | None = None
    week: int | None = None
    month: int | None = None

    def of(self, period: BudgetPeriod) -> int | None:
        """Return the limit of a period."""
        limit: int | None = getattr(self, period)
        return limit


class PeriodUse(NamedTuple):
    """What a period has used, in billionths of a US dollar.

    ``is_announced`` is whether its organisation was sent word that it has no room, and
    ``is_warned`` that it soon has none.
    """

    period: BudgetPeriod
    name: str
    limit: int | None
    spent: int
    reserved: int
    is_announced: bool = False
    is_warned: bool = False

    @property
    def room(self) -> int | None:
        """What is left of the limit, not below 0; None without one."""
        if self.limit is None:
            return None
        return max(0, self.limit - self.committed)

    def with_reserved(self, amount: int) -> Self:
        """Return the same after an amount was reserved."""
        return self._replace(reserved=self.reserved + amount)

    @property
    def committed(self) -> int:
        """What was spent and what is reserved."""
        return self.spent + self.reserved

    @property
    def warned_from(self) -> int | None:
        """From which of it on its organisation is sent word; None where there is no limit."""
        return self.limit * _WARNED_FROM_PERCENT // 100 if self.limit else None


class Bounds(NamedTuple):
    """Between which numbers an amount is reserved in a scope, by attribute.

    Attributes:
        warned: the periods that it takes to where word is sent, which was not yet.
        at_most: the most that may be committed before.
        at_least: the least that has to be.
    """

    warned: Sequence[PeriodUse]
    at_most: Mapping[str, int]
    at_least: Mapping[str, int]


class Standing(NamedTuple):
    """Where a scope stands.

    Attributes:
        today: the day that its item is in; None before anything was reserved.
        numbers: the attributes of its periods.
        halted: why nothing is reserved in it, if nothing is, and ``halted_by`` which row's cost is
            the reason.
        task_name: of the task that it is of, if it is.
    """

    limits: MoneyLimits
    today: date | None
    numbers: Mapping[str, int]
    halted: Halt | None = None
    halted_by: str | None = None
    task_name: str | None = None

    @classmethod
    def of(cls, item: Mapping[str, Any]) -> Self:
        """Return what an item says; an empty one is that of a scope that was never used."""
        limits = {name: item.get(name) for name in MoneyLimits.model_fields}
        today = item.get(TODAY)
        numbers = {
            name: value
            for name, value in item.items()
            if name.startswith((COMMITTED, SPENT, REFUSED, WARNED))
        }
        return cls(
            MoneyLimits(**limits),
            today and date.fromisoformat(today),
            numbers,
            item.get(HALTED),
            item.get(HALTED_BY),
            item.get(TASK_NAME),
        )

    def day(self, now: date) -> date:
        """Return the day in which a scope reserves: never one before that of its item."""
        return now if self.today is None else max(now, self.today)

    def uses(self, now: date) -> list[PeriodUse]:
        """Return what the present periods have used."""
        return [
            PeriodUse(
                period,
                name,
                self.limits.of(period),
                spent := self.numbers.get(f"{SPENT}{name}", 0),
                self.numbers.get(f"{COMMITTED}{name}", 0) - spent,
                f"{REFUSED}{name}" in self.numbers,
                f"{WARNED}{name}" in self.numbers,
            )
            for period, name in periods_of(self.day(now)).items()
        ]

    def short(self, now: date, amount: int) -> PeriodUse | None:
        """Return the longest period that has no room for an amount; None where all have."""
        for use in reversed(self.uses(now)):
            if use.limit is not None and use.committed + amount > use.limit:
                return use
        return None

    def bounds(self, now: date, amount: int) -> Bounds:
        """Return what has to be committed before an amount is, and what word that has sent.

        The most is within the limit. Where no word was sent, it is below what word is sent from, so
        that whoever takes the period there gets to know; who does has a least that is committed.
        """
        warned: list[PeriodUse] = []
        most: dict[str, int] = {}
        least: dict[str, int] = {}
        for use in self.uses(now):
            if use.limit is None:
                continue
            name = f"{COMMITTED}{use.name}"
            most[name] = use.limit - amount
            at = use.warned_from
            if not amount or at is None or use.is_warned:
                continue
            if use.committed + amount < at:
                most[name] = at - amount - 1
                continue
            warned.append(use)
            if at > amount:
                least[name] = at - amount
        return Bounds(warned, most, least)

    def outdated(self, day: date) -> list[str]:
        """Return the attributes of periods that nobody adds to once the item is in a day."""
        first = _first_names(day, _KEPT_BACK)
        return [name for name in self.numbers if _is_before(name.partition("#")[2], first)]


# A process asks for those of few days, many times for each call of a model.
@lru_cache(_KNOWN_DAYS)
def periods_of(day: date) -> Mapping[BudgetPeriod, str]:
    """Return the names of the periods that a day is in; weeks are those of ISO 8601."""
    year, week, _ = day.isocalendar()
    names: dict[BudgetPeriod, str] = {
        "day": day.isoformat(),
        "week": f"{year}-W{week:02}",
        "month": f"{day:%Y-%m}",
    }
    return MappingProxyType(names)


def resets_at(period: BudgetPeriod, day: date) -> datetime:
    """Return when the period that a day is in is over, in UTC: the next begins with nothing."""
    if period == "day":
        after = day + timedelta(days=1)
    elif period == "week":
        after = day + timedelta(days=8 - day.isoweekday())
    else:
        after = (day.replace(day=1) + timedelta(days=31)).replace(day=1)
    return datetime.combine(after, time(), UTC)


def settled_names(names: Sequence[str], now: date) -> list[str]:
    """Return those periods to which is added what was reserved in them: the present, and the last.

    Older ones may have gone from their item, and what is added to nothing would be a wrong number.
    They are over, so that nobody reserves in them; what was spent is in the costs of its day.
    """
    first = _first_names(now, _SETTLED_BACK)
    # Names were those of items once, such as "day#2026-11-27": these are not counted here.
    return [name for name in names if "#" not in name and not _is_before(name, first)]


@lru_cache(_KNOWN_DAYS)
def _first_names(day: date, back: int) -> Mapping[BudgetPeriod, str]:
    """Return the names of the periods that are so many before those of a day."""
    months = day.year * 12 + day.month - 1 - back
    names: dict[BudgetPeriod, str] = {
        "day": (day - timedelta(days=back)).isoformat(),
        "week": periods_of(day - timedelta(weeks=back))["week"],
        "month": f"{months // 12:04}-{months % 12 + 1:02}",
    }
    return MappingProxyType(names)


def _is_before(name: str, first: Mapping[BudgetPeriod, str]) -> bool:
    # Names of a kind are in the order of time.
    return name < first[kind_of(name)]


def kind_of(name: str) -> BudgetPeriod:
    """Return what kind of period a name is of."""
    if "W" in name:
        return "week"
    return "day" if name.count("-") == 2 else "month"
