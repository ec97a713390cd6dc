"""How a grader does and how much it is used, on the wire."""

from typing import Annotated

from pydantic import Field, StringConstraints

from autotune.protocol.types import ResponseModel, Timestamp

Month = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])$")]
"""A month in UTC, such as ``2026-11``."""


class StateCounts(ResponseModel):
    """Verdicts by state."""

    scored: int = 0
    abstained: int = 0
    failed: int = 0
    canceled: int = 0


class GraderFigures(ResponseModel):
    """Figures over verdicts; what nothing was counted of is null.

    Attributes:
        total_scored: verdicts that are ``scored``.
        failures: ``failed`` verdicts by reason code.
        error_rate: share of ``failed`` in what was not canceled, 0 to 1, whoever was to blame;
            ``failures`` names the reasons.
        avg_score: mean of the scores, 0 to 1.
        score_distribution: scores in 20 equal intervals from 0 to 1; the last one holds 1.0.
        avg_latency_ms: mean time of the grader's answers, each counted once for each completion
            that it judged.
        p50_latency_ms: median of the same, to 5 %.
        p99_latency_ms: what 99 % of them did not exceed, to 5 %.
        late_answers: answers that came after the verdict and were dropped.
    """

    total_scored: int
    counts: StateCounts
    failures: dict[str, int]
    error_rate: float | None
    avg_score: float | None
    score_distribution: list[int]
    avg_latency_ms: float | None
    p50_latency_ms: float | None
    p99_latency_ms: float | None
    late_answers: int = 0


class VersionFigures(GraderFigures):
    """Figures of one version, as the grader named itself in its answers."""

    version: str


class GraderBucket(GraderFigures):
    """Figures of a stretch of time, the last of which is not over yet."""

    start: Timestamp


class GraderWindow(ResponseModel):
    """A window of time up to now; ``is_complete`` is whether all of its counts were read."""

    from_: Timestamp = Field(alias="from")
    to: Timestamp
    bucket_seconds: int
    buckets: list[GraderBucket]
    is_complete: bool


class GraderStats(GraderFigures):
    """Figures of a grader over all its versions, or of one that was asked for.

    ``versions`` has those with most verdicts first, at most 50; the figures beside it are of all.
    Where a window was asked for, all of them are of the caller's organisation in it, and
    ``over_time`` has them by stretches of time; late answers are not counted by time.
    """

    grader_id: str
    version: str | None = None
    versions: list[VersionFigures]
    over_time: GraderWindow | None = None


class GraderUsage(ResponseModel):
    """Verdicts that a grader was used for in a month, all organisations together."""

    grader_id: str
    month: str
    total: int
    counts: StateCounts
