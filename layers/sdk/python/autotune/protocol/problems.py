"""Errors on the wire: RFC 9457 problem details, ``application/problem+json``."""

from collections.abc import Sequence

from pydantic import ValidationError

from autotune.protocol.periods import BudgetPeriod, BudgetScope
from autotune.protocol.types import ResponseModel, Timestamp

PROBLEM_CONTENT_TYPE = "application/problem+json"


class FieldProblem(ResponseModel):
    """One field at fault; ``field`` is its path, such as ``completions[3].taskId``."""

    field: str
    expected: str


def field_problems(error: ValidationError, *, within: str = "") -> list[FieldProblem]:
    """Return pydantic's findings by their place on the wire, below ``within``; never the input."""
    return [
        FieldProblem(
            field=_path(within, fault["loc"]), expected=fault["msg"].removeprefix("Value error, ")
        )
        for fault in error.errors(include_url=False, include_context=False, include_input=False)
    ]


def _path(within: str, location: Sequence[int | str]) -> str:
    path = within
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return path or "(whole)"


class LimitProblem(ResponseModel):
    """The limit that was met; ``actual`` where it is known."""

    name: str
    maximum: int
    unit: str
    actual: int | None = None


class BudgetProblem(ResponseModel):
    """The budget that has no room.

    Attributes:
        task_id: of the apprentice's task whose budget it is; None where it is the organisation's.
        period: the longest one that has none.
        resets_at: when that period is over, and the next begins with nothing spent.
        exceeds_limit: whether one call may cost more than a whole period may, so that it never has
            room: a higher limit helps, or less to ask and answer, and waiting does not.
    """

    scope: BudgetScope
    task_id: str | None = None
    period: BudgetPeriod
    resets_at: Timestamp
    exceeds_limit: bool = False


class Problem(ResponseModel):
    """RFC 9457 problem details with Autotune's extension members.

    ``code`` is the stable word for programs, ``detail`` is for people, ``retry_after_seconds`` says
    when the same request may succeed.
    """

    type: str
    title: str
    status: int
    code: str
    detail: str
    request_id: str
    errors: list[FieldProblem] = []
    limit: LimitProblem | None = None
    retry_after_seconds: int | None = None
    budget: BudgetProblem | None = None
