"""What scopes of money may spend, and have spent, as their items say: one read each."""

from dataclasses import field
from typing import NamedTuple

from autotune.protocol.periods import BudgetPeriod
from autotune_platform.budgets.scopes import MoneyLimits, PeriodUse, Standing
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.table import Table

ITEM = "limits"
"""The sort key of a scope's item; it had the limits alone once, which are still there."""

_KNOWN_AT_MOST = 1_000


class Limit(NamedTuple):
    """Most billionths of a US dollar of a period."""

    limit: int
    period: BudgetPeriod


@part
class MoneyUses:
    """What scopes may spend, and have spent, in the ``budgets`` table.

    A scope is the id of an organisation, or ``task_scope``.

    Attributes:
        known: where scopes stood when they were last seen.
    """

    table: Table
    clock: Clock = SYSTEM_CLOCK
    known: dict[str, Standing] = field(default_factory=dict)

    def standing(self, scope: str) -> Standing:
        """Return where a scope stands now."""
        return self.seen(scope, Standing.of(self.table.get(partition(scope), ITEM) or {}))

    def has(self, scope: str) -> bool:
        """Return whether anything is stored of a scope; of what was deleted nothing is."""
        return self.table.get(partition(scope), ITEM) is not None

    def seen(self, scope: str, standing: Standing) -> Standing:
        """Note where a scope stands."""
        if len(self.known) >= _KNOWN_AT_MOST:
            self.known.clear()
        self.known[scope] = standing
        return standing

    def limits(self, scope: str) -> MoneyLimits:
        """Return a scope's limits; there are none at first."""
        return self.standing(scope).limits

    def lowest(self, scope: str) -> Limit | None:
        """Return the lowest limit: nothing that costs more can ever be reserved under it."""
        uses = self.uses(scope)
        limits = [Limit(use.limit, use.period) for use in uses if use.limit is not None]
        return min(limits, default=None)

    def uses(self, scope: str) -> list[PeriodUse]:
        """Return what the present periods have used."""
        return self.standing(scope).uses(self.clock.now().date())

    def room(self, scope: str) -> int | None:
        """Return what may still be reserved now; None without a limit."""
        return min((use.room for use in self.uses(scope) if use.room is not None), default=None)


def task_scope(organization_id: str, task: str) -> str:
    """Return the scope of a task of an organisation's apprentice."""
    return f"{organization_id}#{task}"


def training_of(task: str) -> str:
    """Return what training a task's models is budgeted by, in place of the task's id."""
    return f"{task}#training"


def organization_of(scope: str) -> str:
    """Return whose scope it is."""
    return scope.partition("#")[0]


def task_of(scope: str) -> str | None:
    """Return the task whose scope it is, or whose training's; None for an organisation's own."""
    return scope.partition("#")[2].partition("#")[0] or None


def partition(scope: str) -> str:
    """Return the partition key of a scope's item."""
    return f"money#{scope}"
