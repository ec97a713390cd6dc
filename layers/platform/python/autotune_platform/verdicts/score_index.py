"""Reading verdicts by task, filtered, at a cost that does not depend on how many there are.

The index ``scoresByTask`` spreads a task over four partitions, each in order of decision. A page
goes through one partition after the other and reads entries until it is full or its allowance is
spent; what a filter leaves out is read as well, and so a page may be short, even empty, while there
is more.

Entries never change and their keys follow from the verdict, so that whatever is written during a
walk, what was there when it began is listed exactly once. Only a verdict that a later generation
replaces leaves the index.
"""

import hashlib
import math
from dataclasses import dataclass
from typing import Self

from autotune.protocol.ids import is_id
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.table import Item, Table
from autotune_platform.verdicts.filters import ScoreFilters, index_filter, key_range, written
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.stored_verdicts import VERDICT_PREFIX, verdict_from, verdict_key

MOST_ENTRIES = 2_000
"""Most entries that one page reads: about 1 MB, 128 read units."""
MOST_QUERIES = 40
"""Most queries of one page: ten tasks without a match, four partitions each."""

SCORES_BY_TASK = "scoresByTask"
SCORE_SHARDS = 4
INDEX_KEY = ("score_shard", "score_time")
"""What puts a verdict into the index; without it, the verdict is in no list."""
# A few matches show little of how many there will be: a query reads at most this many times as
# much as was read before it.
_GROWTH = 4
# Read a little more than the share of matches so far asks for: one query more costs a round trip.
_MARGIN = 1.25


class Allowance:
    """How much one page may still read, over all the tasks that it goes through."""

    def __init__(self, *, entries: int = MOST_ENTRIES, queries: int = MOST_QUERIES) -> None:
        self.entries = entries
        self._queries = queries

    @property
    def is_spent(self) -> bool:
        """Whether the page has to end here, full or not."""
        return self.entries <= 0 or self._queries <= 0

    def spend(self, entries: int) -> None:
        """Count one query."""
        self.entries -= entries
        self._queries -= 1


@dataclass(frozen=True)
class ScorePosition:
    """A place in the walk through a task: behind an entry, or before all of a partition."""

    task_id: str
    shard: int = 0
    after: Item | None = None

    @classmethod
    def behind(cls, verdict: Verdict) -> Self:
        """Return the place behind a verdict."""
        shard = shard_of(verdict.completion_id)
        sk = verdict_key(verdict.grader_id, verdict.grader_version, verdict.generation)
        after = {**index_key(verdict), "pk": verdict.completion_id, "sk": sk}
        return cls(verdict.task_id, shard, after)

    @classmethod
    def from_token(cls, token: str) -> Self:
        """Return the place that a page ended at.

        Raises:
            InvalidRequestError: the token is not from a list of scores.
        """
        task_id, shard, time, pk, sk = decode_cursor(token, parts=5)
        if not is_id("task", task_id) or shard not in map(str, range(SCORE_SHARDS)):
            raise invalid_cursor()
        if not (time or pk or sk):
            return cls(task_id, int(shard))
        if not (
            is_id("cmp", pk)
            and str(shard_of(pk)) == shard
            and sk.startswith(VERDICT_PREFIX)
            and time.endswith(f"#{pk}")
        ):
            raise invalid_cursor()
        after = {"score_shard": partition_of(task_id, int(shard)), "score_time": time}
        return cls(task_id, int(shard), {**after, "pk": pk, "sk": sk})

    def token(self) -> str:
        """Return what ``from_token`` reads."""
        entry = self.after or {"score_time": "", "pk": "", "sk": ""}
        return encode_cursor(
            self.task_id, str(self.shard), entry["score_time"], entry["pk"], entry["sk"]
        )


class ScoreIndex:
    """The index ``scoresByTask`` of the ``completions`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def page(
        self, filters: ScoreFilters, *, start: ScorePosition, limit: int, allowance: Allowance
    ) -> tuple[list[Verdict], ScorePosition | None]:
        """Return verdicts of the start's task, without dimensions and reasoning.

        Returns:
            At most ``limit`` verdicts, and where the next page starts: None at the task's end.

        Raises:
            InvalidRequestError: the start lies outside the filters' range of time.
        """
        between = key_range(filters)
        where = index_filter(filters)
        if between[0] > between[1]:
            return [], None  # a range that the store refuses, and nothing is in it
        if start.after is not None and not between[0] <= start.after["score_time"] <= between[1]:
            raise invalid_cursor()
        found: list[Verdict] = []
        at, evaluated = start, 0
        while at.shard < SCORE_SHARDS:
            if len(found) == limit or allowance.is_spent:
                return found, at
            wanted = limit - len(found)
            reach = wanted if where is None else _reach(limit, evaluated, len(found))
            page = self._table.query(
                partition_of(at.task_id, at.shard),
                partition_name="score_shard",
                index=SCORES_BY_TASK,
                limit=min(reach, allowance.entries),
                after=at.after,
                between=("score_time", *between),
                where=where,
            )
            allowance.spend(page.evaluated)
            evaluated += page.evaluated
            matching = [verdict_from(item) for item in page.items]
            found += matching[:wanted]
            if len(matching) > wanted:
                return found, ScorePosition.behind(found[-1])
            shard = at.shard if page.last_key is not None else at.shard + 1
            at = ScorePosition(at.task_id, shard, page.last_key)
        return found, None


def index_key(verdict: Verdict) -> dict[str, str]:
    """Return the attributes that put a verdict into the index."""
    return {
        "score_shard": partition_of(verdict.task_id, shard_of(verdict.completion_id)),
        "score_time": f"{written(verdict.decided_at)}#{verdict.completion_id}",
    }


def shard_of(completion_id: str) -> int:
    """Return which of its task's partitions a completion's verdict is in."""
    return hashlib.sha256(completion_id.encode()).digest()[0] % SCORE_SHARDS


def partition_of(task_id: str, shard: int) -> str:
    """Return the key of one of a task's partitions."""
    return f"{task_id}#{shard}"


def _reach(limit: int, evaluated: int, found: int) -> int:
    """Return how many entries to read next, from how many of those read so far matched.

    Never less than a page has: a few more entries cost less than a query for the last match.
    """
    most = max(limit, evaluated * _GROWTH)
    if not found:
        return most
    enough = math.ceil((limit - found) * evaluated / found * _MARGIN)
    return min(max(limit, enough), most)
