"""Refusing what no budget has room for: a row that may cost more than a whole period."""

from collections.abc import Sequence
from decimal import Decimal

from autotune.protocol.problems import BudgetProblem, FieldProblem, LimitProblem
from autotune_platform.budgets.money import Halted, MoneyBudgets, NoRoom
from autotune_platform.budgets.uses import Limit
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.planning import PlannedRow
from autotune_platform.runtime.errors import (
    BudgetExhaustedError,
    CallsHaltedError,
    InvalidRequestError,
)
from autotune_platform.runtime.parts import part


@part
class Affording:
    """Compares rows with the limits of budgets, before anything of them is stored."""

    money: MoneyBudgets

    def lowest(self, organization_id: str) -> Limit | None:
        """Return the lowest limit of an organisation's budget, as it is now."""
        return self.money.lowest(organization_id)

    def require(
        self, organization_id: str, planned: Sequence[PlannedRow], *, alone: bool = False
    ) -> None:
        """Require that each row costs less than a whole period of the budget may.

        Args:
            alone: the one row was the whole body.

        Raises:
            InvalidRequestError: one does not.
        """
        lowest = self.lowest(organization_id)
        if lowest is None:
            return
        for place, one in enumerate(planned):
            within = "" if alone else f"requests[{place}]."
            refusal = too_dear(one.row, lowest, within=within)
            if refusal is not None:
                raise refusal


def too_dear(row: Row, lowest: Limit, *, within: str = "") -> InvalidRequestError | None:
    """Return why a row can never be asked within a limit; None where it can."""
    if row.bound_nano_usd <= lowest.limit:
        return None
    field, most = f"{within}params.maxTokens", f"{_usd(lowest.limit)} US dollars"
    return InvalidRequestError(
        f"{field}: the request may cost {_usd(row.bound_nano_usd)} US dollars, more than the "
        f"budget of a whole {lowest.period}, {most}",
        fields=[FieldProblem(field=field, expected=f"less: one request may cost at most {most}")],
        limit=LimitProblem(
            name=f"budget of a {lowest.period}",
            maximum=lowest.limit,
            unit="nanoUsd",
            actual=row.bound_nano_usd,
        ),
    )


def exhausted(no_room: NoRoom, row: Row) -> BudgetExhaustedError:
    """Return the error of a call that a budget has no room for."""
    is_of_task = no_room.scope != row.organization_id
    limits = no_room.standing.limits.model_dump(exclude_none=True).values()
    lowest = min(limits, default=row.bound_nano_usd)
    exceeds_limit = row.bound_nano_usd > lowest
    budget = BudgetProblem(
        scope="apprentice_task" if is_of_task else "organization",
        task_id=row.apprentice_task_id if is_of_task else None,
        period=no_room.use.period,
        resets_at=no_room.resets_at,
        exceeds_limit=exceeds_limit,
    )
    whose = "the task's budget" if is_of_task else "the budget for language models"
    if exceeds_limit:
        return BudgetExhaustedError(
            f"{whose} never has room for this call, which may cost {_usd(row.bound_nano_usd)} US "
            f"dollars: a whole period's limit is {_usd(lowest)}",
            budget=budget,
        )
    return BudgetExhaustedError(
        f"{whose} has no room for this call in this {no_room.use.period}, which is over at "
        f"{no_room.resets_at:%Y-%m-%dT%H:%M:%SZ}",
        budget=budget,
    )


def halted(found: Halted) -> CallsHaltedError:
    """Return the error of a call of a task whose calls are halted."""
    if found.why == "deleted":
        return CallsHaltedError("the task was deleted")
    return CallsHaltedError(
        f"a call of this task cost more than it can have ({found.by}), so that its budget holds no "
        "more; look at what its provider counted, then set other budgets for the task"
    )


def _usd(nano: int) -> str:
    return f"{(Decimal(nano) / 10**9).normalize():f}"
