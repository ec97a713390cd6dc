"""What happened over time, on the wire: figures of an organisation and of a task."""

from typing import Literal

from pydantic import Field

from autotune.protocol.statistics import StateCounts
from autotune.protocol.types import ResponseModel, Timestamp

Window = Literal["1h", "24h", "7d", "30d"]
"""How far back something is shown, up to now."""

OTHER = "other"
"""The model and version of what has no name of its own in a window: there are too many."""

PartWindow = Literal["24h", "7d", "30d"]
"""The same of a task or a grader, whose verdicts are not counted by five minutes."""


class WindowFigures(ResponseModel):
    """Figures over the verdicts of a time; what nothing was counted of is null.

    Attributes:
        counts: verdicts by state.
        failures: ``failed`` verdicts by reason code.
        avg_score: mean of the scores, 0 to 1.
        p50_turnaround_ms: median time from submission to verdict, to 5 %; of what was scored again,
            from when that was asked for.
        p99_turnaround_ms: what 99 % of them did not exceed, to 5 %.
    """

    counts: StateCounts
    failures: dict[str, int]
    avg_score: float | None
    p50_turnaround_ms: float | None
    p99_turnaround_ms: float | None


class Bucket(WindowFigures):
    """What was submitted and decided in a stretch of time, the last of which is not over yet.

    ``submitted`` counts completions that were accepted, or were to be scored again. What is decided
    later than it was submitted is in another bucket then.
    """

    start: Timestamp
    submitted: int


class TaskFigures(WindowFigures):
    """Figures of a task's verdicts; ``score_distribution`` has 20 equal intervals from 0 to 1."""

    score_distribution: list[int]


class TaskBucket(TaskFigures):
    """The same of a stretch of time."""

    start: Timestamp


class ModelFigures(TaskFigures):
    """The same of the completions of one model; ``other`` is all that have no name of their own."""

    model_id: str


class GraderVersionFigures(TaskFigures):
    """The same of what one version of a grader, or of a panel, decided."""

    grader_version: str


class TaskStats(ResponseModel):
    """What a task's completions came to, up to now.

    ``buckets`` and ``totals`` are of the model and version that were asked for, or of all;
    ``models`` and ``versions`` list those with most verdicts first, at most 50 of each.
    """

    task_id: str
    window: PartWindow
    model: str | None = None
    grader_version: str | None = None
    from_: Timestamp = Field(alias="from")
    to: Timestamp
    bucket_seconds: int
    buckets: list[TaskBucket]
    totals: TaskFigures
    models: list[ModelFigures]
    versions: list[GraderVersionFigures]
    is_complete: bool
