"""Budgets of tasks of an organisation's apprentice, which come and go with their task."""

from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from autotune_platform.budgets.scopes import (
    HALTED,
    HALTED_BY,
    TASK_NAME,
    Halt,
    MoneyLimits,
    PeriodUse,
    Standing,
)
from autotune_platform.budgets.uses import ITEM, MoneyUses, partition, task_scope
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import busy_until
from autotune_platform.storage.counting import Addition

_TRIED_SECONDS = 10
_VERSION = "limits_version"
# What was under way when its task was deleted has been settled by then.
_KEPT_CLOSED = timedelta(days=8)


class TaskSpend(NamedTuple):
    """What the present periods of a task have used, and why its paid calls are halted, if they are.

    ``halted_by`` is the row whose cost is the reason.
    """

    uses: list[PeriodUse]
    halted: Halt | None = None
    halted_by: str | None = None


@part
class TaskMoney:
    """Sets, shows and closes what tasks may spend.

    Attributes:
        money: of the ``budgets`` table.
    """

    money: MoneyUses
    tried_seconds: float = _TRIED_SECONDS

    def spend(self, organization_id: str, task_id: str) -> TaskSpend:
        """Return what a task may spend, and has spent."""
        return self._spend(self.money.standing(task_scope(organization_id, task_id)))

    def put(
        self, organization_id: str, task_id: str, limits: MoneyLimits, *, name: str, version: int
    ) -> TaskSpend:
        """Set a task's limits; the same again changes nothing.

        Limits that differ from those before lift a halt: somebody looked at the task.

        Args:
            name: the task's, for people.
            version: of the configuration that has them; an earlier one than is set changes nothing.

        Raises:
            UnavailableError: others kept writing the item.
        """
        scope = task_scope(organization_id, task_id)
        place = Addition(table=self.money.table.name, pk=partition(scope), sk=ITEM)
        given = limits.model_dump(exclude_none=True)
        for _ in busy_until(self.money.clock, self.tried_seconds):
            item = self.money.table.get(place.pk, place.sk) or {}
            before = Standing.of(item)
            set_by = item.get(_VERSION, 0)
            # The same limits are noted as a later version's: one in between may come late.
            is_set = before.limits == limits and before.task_name == name and set_by == version
            if is_set or before.halted == "deleted" or set_by > version:
                return self._spend(before)
            is_lifted = before.halted is not None and before.limits != limits
            removed = [one for one in MoneyLimits.model_fields if one not in given]
            written = replace(
                place,
                changes={**given, TASK_NAME: name, _VERSION: version},
                remove=[*removed, *((HALTED, HALTED_BY) if is_lifted else ())],
                only_if={HALTED: before.halted, _VERSION: item.get(_VERSION)},
            )
            if self.money.table.add_together([written]):
                after = before._replace(limits=limits, halted=None if is_lifted else before.halted)
                return self._spend(after)
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def close(self, organization_id: str, task_id: str) -> None:
        """Have nothing more reserved for a task; closing it again changes nothing.

        What is under way is settled still, and then the table deletes the item.

        Raises:
            UnavailableError: others kept writing the item.
        """
        over_at = self.money.clock.now() + _KEPT_CLOSED
        closed = Addition(
            table=self.money.table.name,
            pk=partition(task_scope(organization_id, task_id)),
            sk=ITEM,
            changes={HALTED: "deleted", "expires_at": int(over_at.timestamp())},
            remove=[*MoneyLimits.model_fields, TASK_NAME, HALTED_BY, _VERSION],
        )
        for _ in busy_until(self.money.clock, self.tried_seconds):
            if self.money.table.add_together([closed]):
                return
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def _spend(self, standing: Standing) -> TaskSpend:
        uses = standing.uses(self.money.clock.now().date())
        by = standing.halted_by if standing.halted else None
        return TaskSpend(uses, standing.halted, by)
