"""Stores counts by time in the ``completions`` table.

What is counted, an organisation, or a task or a grader in it, has a partition for each grain of
time. Its items are sorted by time, and spread over lanes, so that functions which count at the same
time do not meet. A query reads a window of it. TTL deletes what is older than the grain is kept.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Item, Table
from autotune_platform.windows.grains import Grain, Span

MOST_PAGES = 12
"""Most pages of a megabyte that one window reads."""
SUBMITTED = "submitted"
"""The count of completions that were submitted."""

_SUBMITTING_LANES = 128
# What an item has beside its counts.
_NOT_COUNTS = {"pk", "sk", "expires_at", "model_id", "grader_version"}


class Series(NamedTuple):
    """What distinguishes counts within a bucket; None where nothing does.

    ``model_id`` is the model whose completions are counted, ``grader_version`` the version of the
    grader that judged them, or of the panel.
    """

    model_id: str | None = None
    grader_version: str | None = None


WHOLE = Series()


class Counted(NamedTuple):
    """Where something is counted: in which part of an organisation, None for all of it."""

    organization_id: str
    part_id: str | None = None


@dataclass(frozen=True)
class Windowed:
    """What a window has, by the beginning of its buckets and by series.

    ``is_complete`` is whether all of it was read; what was not is the earliest.
    """

    buckets: Mapping[datetime, Mapping[Series, Counter[str]]]
    is_complete: bool


class WindowCounters:
    """Counts of buckets of time."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def addition(
        self,
        counted: Counted,
        grain: Grain,
        start: datetime,
        counts: Mapping[str, int],
        *,
        series: Series = WHOLE,
        lane: int,
    ) -> Addition:
        """Return an addition to the bucket of a grain that begins at a moment."""
        named = {name: value for name, value in series._asdict().items() if value is not None}
        digest = hashlib.sha256(repr(tuple(series)).encode()).hexdigest()[:12] if named else "all"
        return self._addition(counted, grain, start, f"{digest}#{lane}", counts, changes=named)

    def submitted(
        self, organization_id: str, grains: Sequence[Grain], moment: datetime, count: int, lane: int
    ) -> list[Addition]:
        """Return what counts submitted completions of an organisation, one for each grain."""
        return [
            self._addition(
                Counted(organization_id),
                grain,
                grain.bucket(moment),
                f"{SUBMITTED}#{lane % _SUBMITTING_LANES}",
                {SUBMITTED: count},
                changes={},
            )
            for grain in grains
        ]

    def read(self, counted: Counted, span: Span) -> Windowed:
        """Return the counts of a span, in at most ``MOST_PAGES`` reads."""
        pages = self._table.pages(
            _partition(counted, span.grain),
            between=("sk", _written(span.starts[0]), f"{_written(span.starts[-1])}~"),
            newest_first=True,
        )
        found: dict[datetime, dict[Series, Counter[str]]] = defaultdict(
            lambda: defaultdict(Counter)
        )
        is_complete = False
        for page in islice(pages, MOST_PAGES):
            is_complete = page.last_key is None
            for item in page.items:
                start = datetime.fromisoformat(item["sk"].partition("#")[0])
                series = Series(item.get("model_id"), item.get("grader_version"))
                found[start][series].update(_counts(item))
        return Windowed(found, is_complete)

    def _addition(
        self,
        counted: Counted,
        grain: Grain,
        start: datetime,
        place: str,
        counts: Mapping[str, int],
        *,
        changes: Mapping[str, Any],
    ) -> Addition:
        return Addition(
            table=self._table.name,
            pk=_partition(counted, grain),
            sk=f"{_written(start)}#{place}",
            numbers=counts,
            changes={**changes, "expires_at": int((start + grain.kept).timestamp())},
        )


def together(some: Iterable[Mapping[str, int]]) -> Counter[str]:
    """Return what counts add up to."""
    total: Counter[str] = Counter()
    for counts in some:
        total.update(counts)
    return total


def _partition(counted: Counted, grain: Grain) -> str:
    return f"window#{grain.name}#{counted.organization_id}#{counted.part_id or 'all'}"


def _written(start: datetime) -> str:
    return start.isoformat(timespec="minutes")


def _counts(item: Item) -> dict[str, int]:
    return {name: value for name, value in item.items() if name not in _NOT_COUNTS}
