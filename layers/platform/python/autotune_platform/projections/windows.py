"""Counts decisions by time, in the transaction that counts them for their graders.

A verdict is counted for its organisation, for its task by model and version, and, like an opinion,
for its grader by version. It is counted where it was decided, which never changes.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from threading import Lock

from cachetools import TTLCache

from autotune.protocol.ids import is_id
from autotune.protocol.limits import MAX_WINDOW_SERIES
from autotune.protocol.windows import OTHER
from autotune_platform.completions.models import Batch
from autotune_platform.projections.figures import counts_of, turnarounds_of, without
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.lanes import Lane
from autotune_platform.verdicts.decisions import Decision
from autotune_platform.windows.counters import WHOLE, Counted, Series, WindowCounters
from autotune_platform.windows.grains import DAY, OF_ORGANIZATION, OF_PARTS, Grain

_REST = Series(OTHER, OTHER)
_MOST_PARTS = 1_024


@part
class DecisionWindows:
    """Turns decisions into additions to counters of windows.

    A process names at most ``MAX_WINDOW_SERIES`` models and versions of a task, and versions of a
    grader, in a day. It counts what more there are together, as ``other``.

    Attributes:
        lane: that of the statistics, which the same transaction writes.
    """

    counters: WindowCounters
    lane: Lane
    _named: TTLCache[tuple[Counted, datetime], set[Series]] = field(
        default_factory=lambda: TTLCache(_MOST_PARTS, DAY.seconds), init=False
    )

    _naming: Lock = field(default_factory=Lock, init=False)

    def additions(
        self, decisions: Sequence[Decision], batches: Mapping[str, Batch]
    ) -> list[Addition]:
        """Return the additions that count decisions, at most one for each of ``window_items``.

        Args:
            batches: those of the decisions, by id.
        """
        places: dict[tuple[Counted, Grain, datetime, Series], list[Decision]] = defaultdict(list)
        for one in decisions:
            for counted, grains, series in _counted(one, _task_of(one, batches)):
                named = self._name(counted, one.decided_at, series)
                for grain in grains:
                    places[counted, grain, grain.bucket(one.decided_at), named].append(one)
        lane = self.lane.number
        return [
            self.counters.addition(
                counted, grain, start, _counts(counted, some, batches), series=series, lane=lane
            )
            for (counted, grain, start, series), some in places.items()
        ]

    def _name(self, counted: Counted, moment: datetime, series: Series) -> Series:
        if series == WHOLE:
            return series
        with self._naming:
            known = self._named.setdefault((counted, DAY.bucket(moment)), set())
            if series in known or len(known) < MAX_WINDOW_SERIES:
                known.add(series)
                return series
        return _REST if series.model_id is not None else Series(grader_version=OTHER)


def window_items(decision: Decision) -> set[Hashable]:
    """Return what a decision is counted in; its transaction writes an item for each at most."""
    return {
        ("window", counted, grain.name, grain.bucket(decision.decided_at), series)
        for counted, grains, series in _counted(decision, decision.task_id or decision.batch_id)
        for grain in grains
    }


def _counted(one: Decision, task_id: str) -> Iterator[tuple[Counted, Sequence[Grain], Series]]:
    whose = one.organization_id
    if not one.is_opinion:
        yield Counted(whose), OF_ORGANIZATION, WHOLE
        model = one.model_id or OTHER
        yield Counted(whose, task_id), OF_PARTS, Series(model, one.answered_version)
    if not one.is_of_panel:
        yield Counted(whose, one.grader_id), OF_PARTS, Series(None, one.answered_version)


def _task_of(one: Decision, batches: Mapping[str, Batch]) -> str:
    if one.task_id is not None:
        return one.task_id
    return next(
        segment.task_id
        for place, segment in enumerate(batches[one.batch_id].by_completion())
        if place == one.index
    )


def _counts(
    counted: Counted, decisions: Sequence[Decision], batches: Mapping[str, Batch]
) -> Counter[str]:
    counts = counts_of(decisions)
    if is_id("grd", counted.part_id or ""):
        return counts
    turnarounds = turnarounds_of(_turnaround_ms(one, batches[one.batch_id]) for one in decisions)
    return without(counts, scores=counted.part_id is None, latencies=True) + turnarounds


def _turnaround_ms(one: Decision, batch: Batch) -> float:
    """Return how long its generation took from when that was requested."""
    rescored = batch.generations[one.generation - 1] if one.generation else None
    started = batch.created_at if rescored is None else rescored.requested_at
    return (one.decided_at - started).total_seconds() * 1_000
