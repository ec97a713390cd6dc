"""What an organisation may spend on language models in a day, a week and a month.

Each period has an item of its own, with what was spent in it and what is set aside. Money is set
aside in the transaction that stores what it is for, so that no crash comes between the two, and
only where spent and reserved together stay within the limit. What follows returns it to the periods
that it was taken from, also when they are over.

Ceiling: a transaction writes the three items of an organisation, so some hundred reservations a
second; a batch of rows needs one.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from autotune.protocol.ids import derived_id
from autotune.protocol.llm_batches import BudgetPeriod
from autotune.protocol.llm_events import BudgetExhausted
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Table
from autotune_platform.webhooks.models import Event
from autotune_platform.webhooks.outbox import outbox_addition

_KEPT = timedelta(days=400)
_LIMITS = "limits"
_REFUSED_AT = "refused_at"
_ATTEMPTS = 8


class MoneyLimits(FrozenModel):
    """Most billionths of a US dollar of each period; None is no limit."""

    day: int | None = None
    week: int | None = None
    month: int | None = None


class Limit(NamedTuple):
    """Most billionths of a US dollar of a period."""

    limit: int
    period: BudgetPeriod


class PeriodUse(NamedTuple):
    """What a period has used, in billionths of a US dollar.

    ``is_announced`` is whether its organisation was sent word that it has no room.
    """

    period: BudgetPeriod
    name: str
    limit: int | None
    spent: int
    reserved: int
    is_announced: bool = False

    @property
    def room(self) -> int | None:
        """What is left of the limit, not below 0; None without one."""
        if self.limit is None:
            return None
        return max(0, self.limit - self.spent - self.reserved)


@part
class MoneyUses:
    """What organisations may spend, and have spent, in the ``budgets`` table."""

    table: Table
    clock: Clock = SYSTEM_CLOCK

    def limits(self, organization_id: str) -> MoneyLimits:
        """Return an organisation's limits; there are none at first."""
        item = self.table.get(_partition(organization_id), _LIMITS) or {}
        return MoneyLimits(**{name: item.get(name) for name in MoneyLimits.model_fields})

    def lowest(self, organization_id: str) -> "Limit | None":
        """Return the lowest limit: nothing that costs more can ever be reserved under it."""
        limits = self.limits(organization_id)
        by_period: Mapping[BudgetPeriod, int | None] = {
            "day": limits.day,
            "week": limits.week,
            "month": limits.month,
        }
        limited = [Limit(limit, period) for period, limit in by_period.items() if limit is not None]
        return min(limited, default=None)

    def uses(self, organization_id: str) -> list[PeriodUse]:
        """Return what the present periods have used."""
        limits = self.limits(organization_id).model_dump()
        names = periods_at(self.clock.now())
        pk = _partition(organization_id)
        found = self.table.get_many((pk, name) for name in names.values())
        uses = []
        for period, name in names.items():
            item = found.get((pk, name), {})
            spent, reserved = item.get("spent", 0), item.get("reserved", 0)
            is_announced = _REFUSED_AT in item
            uses.append(PeriodUse(period, name, limits[period], spent, reserved, is_announced))
        return uses

    def room(self, organization_id: str) -> int | None:
        """Return what may still be reserved now; None without a limit."""
        rooms = [use.room for use in self.uses(organization_id) if use.room is not None]
        return min(rooms, default=None)


@part
class MoneyBudgets(MoneyUses):
    """Budgets of all organisations, for setting and spending them.

    Attributes:
        outbox: the table whose stream leads to webhooks.
    """

    outbox: Table

    def set_limits(self, organization_id: str, limits: MoneyLimits) -> None:
        """Replace an organisation's limits; what is reserved already stays so."""
        item = {"pk": _partition(organization_id), "sk": _LIMITS}
        self.table.put({**item, **limits.model_dump(exclude_none=True)})

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
        now = self.clock.now()
        pk = _partition(organization_id)
        noted = Addition(
            table=self.table.name,
            pk=pk,
            sk=use.name,
            changes={
                _REFUSED_AT: now.isoformat(),
                "expires_at": int((now + _KEPT).timestamp()),
            },
            only_if={_REFUSED_AT: None},
        )
        event = budget_exhausted(organization_id, use, now)
        both = [noted, outbox_addition(event, table=self.outbox.name, pk=pk)]
        for _ in BUSY.attempts(_ATTEMPTS):
            if self.table.add_together(both):
                return
            if _REFUSED_AT in (self.table.get(pk, use.name) or {}):
                return
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def reservation(self, organization_id: str, amount: int) -> "Reservation":
        """Return what sets an amount aside, to be written together with what it is for.

        The transaction fails where a limit leaves no room.
        """
        limits = self.limits(organization_id).model_dump()
        now = self.clock.now()
        names = periods_at(now)
        expiry = {"expires_at": int((now + _KEPT).timestamp())}
        additions = [
            Addition(
                table=self.table.name,
                pk=_partition(organization_id),
                sk=name,
                numbers={"committed": amount, "reserved": amount},
                changes=expiry,
                at_most={} if limits[period] is None else {"committed": limits[period] - amount},
            )
            for period, name in names.items()
        ]
        return Reservation(list(names.values()), additions)

    def settlement(
        self, organization_id: str, periods: Sequence[str], *, reserved: int, spent: int
    ) -> list[Addition]:
        """Return what gives back a reservation and counts what was spent of it, or beyond it."""
        return [
            Addition(
                table=self.table.name,
                pk=_partition(organization_id),
                sk=name,
                numbers={"committed": spent - reserved, "reserved": -reserved, "spent": spent},
            )
            for name in periods
        ]


class Reservation(NamedTuple):
    """Money that is set aside, by the names of its periods."""

    periods: list[str]
    additions: list[Addition]


def budget_exhausted(organization_id: str, use: PeriodUse, now: datetime) -> Event:
    """Return the event ``budget.exhausted`` of a period that has a limit."""
    assert use.limit is not None
    data = BudgetExhausted(
        scope="organization",
        period=use.period,
        name=use.name.partition("#")[2],
        limit_nano_usd=use.limit,
        spent_nano_usd=use.spent,
        reserved_nano_usd=use.reserved,
    )
    return Event(
        id=derived_id("evt", "budget.exhausted", organization_id, use.name),
        type="budget.exhausted",
        organization_id=organization_id,
        occurred_at=now,
        data=data.model_dump(mode="json", by_alias=True),
    )


def periods_at(moment: datetime) -> Mapping[BudgetPeriod, str]:
    """Return the names of the periods of a moment, in UTC; weeks are those of ISO 8601."""
    year, week, _ = moment.isocalendar()
    return {
        "day": f"day#{moment:%Y-%m-%d}",
        "week": f"week#{year}-W{week:02}",
        "month": f"month#{moment:%Y-%m}",
    }


def _partition(organization_id: str) -> str:
    return f"money#{organization_id}"
