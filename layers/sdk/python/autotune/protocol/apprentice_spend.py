"""What a task of the apprentice has spent, on the wire."""

from typing import Literal

from autotune.protocol.periods import BudgetPeriod
from autotune.protocol.types import ResponseModel


class ApprenticeBudgetUse(ResponseModel):
    """What a period has used of a task's budget, in billionths of a US dollar.

    Attributes:
        name: of the period, in UTC, such as ``2026-11-24``, ``2026-W48`` or ``2026-11``.
        limit_nano_usd: None where the task has no budget for such a period.
        reserved_nano_usd: what calls that are under way cost at most.
    """

    period: BudgetPeriod
    name: str
    limit_nano_usd: int | None = None
    spent_nano_usd: int
    reserved_nano_usd: int


class ApprenticeSpend(ResponseModel):
    """What the present day, week and month of a task have used.

    Attributes:
        halted_because: why no more paid calls are made for it, if none are. ``above_bound``: one
            cost more than it can have; other ``budgets`` have them go on.
        halted_by: the id of that call's request.
    """

    periods: list[ApprenticeBudgetUse]
    halted_because: Literal["above_bound"] | None = None
    halted_by: str | None = None
