"""Which verdicts are asked for, and how the index ``scoresByTask`` is asked for them.

The index's sort key starts with the time of decision as pydantic writes it: with six digits of
fraction, or with none where they are zero. So "…:43Z" sorts behind "…:43.000001Z", though it is
earlier: at the ends of a range of time the key condition takes in too much, and the filter decides.
"""

from datetime import datetime
from functools import cache
from typing import Any, Self

from pydantic import TypeAdapter

from autotune.protocol.completions import VerdictState
from autotune.protocol.scores import ScoreFilters as WireScoreFilters
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.expressions import Filter

# Around every sort key: digits and "-" are what times are made of, and "~" lies behind them.
_FIRST_KEY, _LAST_KEY = "0", "~"


@cache
def _times() -> TypeAdapter[datetime]:
    return TypeAdapter(datetime)


class ScoreFilters(FrozenModel):
    """Which verdicts are asked for; ``None`` leaves nothing out.

    Attributes:
        min_score: lowest value, included; only what is scored has one.
        max_score: highest value, included.
        start: the earliest decision, included; in UTC.
        end: the latest decision, left out; in UTC.
    """

    task_id: str | None = None
    model_id: str | None = None
    grader_id: str | None = None
    min_score: float | None = None
    max_score: float | None = None
    start: datetime | None = None
    end: datetime | None = None
    state: VerdictState | None = None

    @classmethod
    def of(cls, wire: WireScoreFilters, *, state: VerdictState | None = None) -> Self:
        """Return what a caller's filters mean."""
        return cls(
            task_id=wire.task_id,
            model_id=wire.model_id,
            grader_id=wire.grader_id,
            min_score=wire.min_score,
            max_score=wire.max_score,
            start=wire.start_date,
            end=wire.end_date,
            state=state,
        )


def key_range(filters: ScoreFilters) -> tuple[str, str]:
    """Return the lowest and the highest sort key that a verdict asked for may have."""
    lowest, highest = _FIRST_KEY, _LAST_KEY
    if filters.start is not None:
        # Before "." in the ASCII order lies nothing that a time of the same second goes on with.
        lowest = (
            written(filters.start) if filters.start.microsecond else f"{_second(filters.start)}."
        )
    if filters.end is not None:
        second = _second(filters.end)
        highest = f"{second}Z{_LAST_KEY}" if filters.end.microsecond else f"{second}."
    return lowest, highest


def index_filter(filters: ScoreFilters) -> Filter | None:
    """Return what the index's entries within the key range are to be; None where any will do."""
    conditions: list[str] = []
    names: dict[str, str] = {}
    values: dict[str, Any] = {}

    def require(attribute: str, condition: str, **compared: Any) -> None:
        names[f"#{attribute}"] = attribute
        values.update({f":{name}": value for name, value in compared.items()})
        conditions.append(condition)

    if filters.model_id is not None:
        require("model_id", "#model_id = :model", model=filters.model_id)
    if filters.grader_id is not None:
        require("grader_id", "#grader_id = :grader", grader=filters.grader_id)
    if filters.state is not None:
        require("state", "#state = :state", state=filters.state)
    if filters.min_score is not None:
        require("value", "#value >= :min", min=filters.min_score)
    if filters.max_score is not None:
        require("value", "#value <= :max", max=filters.max_score)
    if filters.start is not None and filters.start.microsecond:
        whole = f"{_second(filters.start)}Z"
        require("decided_at", "#decided_at <> :start_second", start_second=whole)
    if filters.end is not None and filters.end.microsecond:
        whole = f"{_second(filters.end)}Z"
        require(
            "decided_at",
            "(#decided_at < :end OR #decided_at = :end_second)",
            end=written(filters.end),
            end_second=whole,
        )
    if not conditions:
        return None
    return Filter(" AND ".join(conditions), names, values)


def written(moment: datetime) -> str:
    """Return a time as verdicts store it."""
    return str(_times().dump_python(moment, mode="json"))


def _second(moment: datetime) -> str:
    return written(moment.replace(microsecond=0)).removesuffix("Z")
