"""Reads what windows of time have, as figures of an organisation, a task or a grader."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from autotune.protocol.limits import MAX_STATISTICS_VERSIONS, MAX_WINDOW_SERIES
from autotune.protocol.statistics import (
    GraderBucket,
    GraderStats,
    GraderWindow,
    VersionFigures,
)
from autotune.protocol.windows import (
    OTHER,
    Bucket,
    GraderVersionFigures,
    ModelFigures,
    PartWindow,
    TaskBucket,
    TaskFigures,
    TaskStats,
    Window,
)
from autotune_platform.projections.figures import (
    STATES,
    bucket_fields,
    figure_fields,
    score_distribution,
)
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.windows.counters import (
    SUBMITTED,
    Counted,
    Series,
    WindowCounters,
    Windowed,
    together,
)
from autotune_platform.windows.grains import Span, span_of


class OrganizationWindow(NamedTuple):
    """What an organisation had in a window, by stretches of time and in all."""

    to: datetime
    bucket_seconds: int
    buckets: list[Bucket]
    totals: Bucket
    is_complete: bool


@part
class WindowStatistics:
    """Turns counts of windows into figures; each window is one query, of a bounded length."""

    counters: WindowCounters
    clock: Clock = SYSTEM_CLOCK

    def of_organization(self, organization_id: str, window: Window) -> OrganizationWindow:
        """Return what an organisation's completions came to."""
        now = self.clock.now()
        span = span_of(window, now)
        found = self.counters.read(Counted(organization_id), span)
        counts = {start: together(found.buckets.get(start, {}).values()) for start in span.starts}
        return OrganizationWindow(
            to=now,
            bucket_seconds=span.grain.seconds,
            buckets=[_bucket(start, some) for start, some in counts.items()],
            totals=_bucket(span.starts[0], together(counts.values())),
            is_complete=found.is_complete,
        )

    def of_task(
        self,
        organization_id: str,
        task_id: str,
        window: PartWindow,
        *,
        model: str | None = None,
        grader_version: str | None = None,
    ) -> TaskStats:
        """Return what a task's completions came to, of a model and a version or of all."""
        now = self.clock.now()
        span = span_of(window, now, by_parts=True)
        found = self.counters.read(Counted(organization_id, task_id), span)
        wanted = Series(model, grader_version)
        by_bucket = _matching(found, span, wanted)
        by_series = _by_series(found, wanted)
        models = _listed(by_series, lambda series: series.model_id)
        versions = _listed(by_series, lambda series: series.grader_version)
        return TaskStats(
            task_id=task_id,
            window=window,
            model=model,
            grader_version=grader_version,
            from_=span.starts[0],
            to=now,
            bucket_seconds=span.grain.seconds,
            buckets=[TaskBucket(start=start, **_task(some)) for start, some in by_bucket.items()],
            totals=TaskFigures(**_task(together(by_bucket.values()))),
            models=[ModelFigures(model_id=name, **_task(some)) for name, some in models],
            versions=[
                GraderVersionFigures(grader_version=name, **_task(some)) for name, some in versions
            ],
            is_complete=found.is_complete,
        )

    def of_grader(
        self,
        organization_id: str,
        grader_id: str,
        window: PartWindow,
        *,
        version: str | None = None,
    ) -> GraderStats:
        """Return how a grader did for an organisation, of a version or of all."""
        now = self.clock.now()
        span = span_of(window, now, by_parts=True)
        found = self.counters.read(Counted(organization_id, grader_id), span)
        wanted = Series(grader_version=version)
        by_bucket = _matching(found, span, wanted)
        versions = _listed(_by_series(found, wanted), lambda series: series.grader_version)
        return GraderStats(
            grader_id=grader_id,
            version=version,
            **figure_fields(together(by_bucket.values())),
            versions=[
                VersionFigures(version=name, **figure_fields(some))
                for name, some in versions[:MAX_STATISTICS_VERSIONS]
            ],
            over_time=GraderWindow(
                from_=span.starts[0],
                to=now,
                bucket_seconds=span.grain.seconds,
                buckets=[
                    GraderBucket(start=start, **figure_fields(some))
                    for start, some in by_bucket.items()
                ],
                is_complete=found.is_complete,
            ),
        )


def _bucket(start: datetime, counts: Mapping[str, int]) -> Bucket:
    return Bucket(start=start, submitted=counts.get(SUBMITTED, 0), **bucket_fields(counts))


def _task(counts: Mapping[str, int]) -> dict[str, object]:
    return {**bucket_fields(counts), "score_distribution": score_distribution(counts)}


def _is_wanted(series: Series, wanted: Series) -> bool:
    return all(want is None or has == want for has, want in zip(series, wanted, strict=True))


def _matching(found: Windowed, span: Span, wanted: Series) -> dict[datetime, Counter[str]]:
    """Return the counts of what is wanted, for each bucket of the span."""
    return {
        start: together(
            counts
            for series, counts in found.buckets.get(start, {}).items()
            if _is_wanted(series, wanted)
        )
        for start in span.starts
    }


def _by_series(found: Windowed, wanted: Series) -> dict[Series, Counter[str]]:
    """Return the counts of each series that is wanted, over all buckets."""
    total: dict[Series, Counter[str]] = defaultdict(Counter)
    for bucket in found.buckets.values():
        for series, counts in bucket.items():
            if _is_wanted(series, wanted):
                total[series].update(counts)
    return total


def _listed(
    by_series: Mapping[Series, Counter[str]], name_of: Callable[[Series], str | None]
) -> list[tuple[str, Counter[str]]]:
    """Return counts by a name, those with most verdicts first, and all beyond the most as one."""
    by_name: dict[str, Counter[str]] = defaultdict(Counter)
    for series, counts in by_series.items():
        by_name[name_of(series) or OTHER].update(counts)
    rest = by_name.pop(OTHER, Counter())
    ordered = sorted(by_name.items(), key=lambda pair: (-_verdicts([pair[1]]), pair[0]))
    rest.update(together(counts for _, counts in ordered[MAX_WINDOW_SERIES - 1 :]))
    listed = ordered[: MAX_WINDOW_SERIES - 1]
    return [*listed, (OTHER, rest)] if rest else listed


def _verdicts(some: Iterable[Counter[str]]) -> int:
    return sum(counts[state] for counts in some for state in STATES)
