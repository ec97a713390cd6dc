"""Reading a task's verdicts newest first, at a cost that does not depend on how many there are.

The index ``scoresByTask`` spreads a task over four partitions, each in order of decision. A page
reads all four from their ends and merges them, a few entries at a time, until it is full or its
allowance is spent. Then everything above one place of the common order has been seen, and the next
page goes on below it: what is decided meanwhile lies above, and moves nothing.

A time without a fraction of a second sorts behind all others of its second (see ``filters``), so
that one verdict in a million comes up to a second too early.
"""

import math
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from autotune.protocol.ids import is_id
from autotune_platform.runtime.parts import part
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.table import Item, Table
from autotune_platform.verdicts.filters import ScoreFilters, index_filter, key_range
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.score_index import (
    SCORE_SHARDS,
    SCORES_BY_TASK,
    Allowance,
    index_key,
    partition_of,
)
from autotune_platform.verdicts.stored_verdicts import VERDICT_PREFIX, verdict_from, verdict_key

_NEWEST = "newest"
# Partitions are about equally full: a third of a page mostly suffices where a quarter is needed.
_FIRST_READ_SHARE = 3
_FEWEST_READ = 10
# Where few match, a query reads more each time.
_GROWTH = 4
_MOST_READ = 500


class Place(NamedTuple):
    """A place in the common order of a task's partitions: that of an entry, which is above it."""

    time: str
    completion_id: str
    sort_key: str


_ABOVE_ALL = Place("~", "", "")


@dataclass(frozen=True)
class NewestPosition:
    """Where a page ends: below this place lies what it has not shown."""

    task_id: str
    place: Place

    @classmethod
    def behind(cls, verdict: Verdict) -> Self:
        """Return the place below a verdict."""
        sort_key = verdict_key(verdict.grader_id, verdict.grader_version, verdict.generation)
        place = Place(index_key(verdict)["score_time"], verdict.completion_id, sort_key)
        return cls(verdict.task_id, place)

    @classmethod
    def from_token(cls, token: str, task_id: str) -> Self:
        """Return the place that a page of a task's verdicts ended at.

        Raises:
            InvalidRequestError: the token is not from a list of these, newest first.
        """
        order, of_task, time, completion_id, sort_key = decode_cursor(token, parts=5)
        if not (
            (order, of_task) == (_NEWEST, task_id)
            and is_id("cmp", completion_id)
            and sort_key.startswith(VERDICT_PREFIX)
            and time.endswith(f"#{completion_id}")
        ):
            raise invalid_cursor()
        return cls(task_id, Place(time, completion_id, sort_key))

    def token(self) -> str:
        """Return what ``from_token`` reads."""
        return encode_cursor(_NEWEST, self.task_id, *self.place)


@dataclass
class _Partition:
    """One partition, read from its end."""

    key: str
    after: Item | None
    reads: int
    unread: bool = True
    read: deque[tuple[Place, Verdict]] = field(default_factory=deque)

    @property
    def is_needed(self) -> bool:
        """Whether nothing can be said of what it holds next before it is read on."""
        return self.unread and not self.read

    @property
    def stopped_at(self) -> Place:
        """The place that it was read to."""
        return _place(self.after) if self.after else _ABOVE_ALL


@part
class NewestVerdicts:
    """Reads the index ``scoresByTask`` from its end."""

    table: Table

    def page(
        self,
        task_id: str,
        filters: ScoreFilters,
        *,
        start: NewestPosition | None,
        limit: int,
        allowance: Allowance,
    ) -> tuple[list[Verdict], NewestPosition | None]:
        """Return at most ``limit`` verdicts, newest first, without dimensions and reasoning.

        Returns:
            The verdicts, and where the next page goes on: None at the end.

        Raises:
            InvalidRequestError: the start lies outside the filters' range of time.
        """
        between = key_range(filters)
        if between[0] > between[1]:
            return [], None  # a range that the store refuses, and nothing is in it
        if start is not None and not between[0] <= start.place.time <= between[1]:
            raise invalid_cursor()
        # No more than so that each partition can be looked at: else the page has no place to end.
        reads = min(
            max(math.ceil(limit / _FIRST_READ_SHARE), _FEWEST_READ),
            max(allowance.entries // SCORE_SHARDS, 1),
        )
        partitions = [_opened(task_id, shard, start, reads) for shard in range(SCORE_SHARDS)]
        found: list[Verdict] = []
        place = start.place if start else None
        while len(found) < limit:
            read = [one for one in partitions if one.read]
            newest = max(read, key=lambda one: one.read[0][0]) if read else None
            # What a partition holds below the place where it was read to may be newer still.
            unknown = [
                one
                for one in partitions
                if one.is_needed and (newest is None or one.stopped_at > newest.read[0][0])
            ]
            if unknown:
                next_read = max(unknown, key=lambda one: one.stopped_at)
                if allowance.is_spent:
                    place = next_read.stopped_at
                    break
                self._read(next_read, filters, between, allowance)
            elif newest is None:
                return found, None
            else:
                place, verdict = newest.read.popleft()
                found.append(verdict)
        if place is None or not any(one.read or one.unread for one in partitions):
            return found, None
        return found, NewestPosition(task_id, place)

    def _read(
        self,
        one: _Partition,
        filters: ScoreFilters,
        between: tuple[str, str],
        allowance: Allowance,
    ) -> None:
        page = self.table.query(
            one.key,
            partition_name="score_shard",
            index=SCORES_BY_TASK,
            limit=min(one.reads, allowance.entries),
            after=one.after,
            between=("score_time", *between),
            newest_first=True,
            where=index_filter(filters),
        )
        allowance.spend(page.evaluated)
        one.reads = min(one.reads * _GROWTH, _MOST_READ)
        one.read.extend((_place(item), verdict_from(item)) for item in page.items)
        one.unread, one.after = page.last_key is not None, page.last_key


def _opened(task_id: str, shard: int, start: NewestPosition | None, reads: int) -> _Partition:
    key = partition_of(task_id, shard)
    after: Item | None = None
    if start is not None:
        # An entry of another partition marks a place in this one all the same.
        time, completion_id, sort_key = start.place
        after = {"score_shard": key, "score_time": time, "pk": completion_id, "sk": sort_key}
    return _Partition(key, after, reads)


def _place(entry: Item) -> Place:
    return Place(entry["score_time"], entry["pk"], entry["sk"])
