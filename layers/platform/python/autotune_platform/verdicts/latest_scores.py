"""The latest scores of some models at a task, in a bounded number of reads."""

from collections.abc import Collection
from dataclasses import dataclass

from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.expressions import Filter
from autotune_platform.storage.table import Item, Table
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.score_index import SCORE_SHARDS, SCORES_BY_TASK, partition_of
from autotune_platform.verdicts.stored_verdicts import verdict_from

ENTRIES_PER_QUERY = 1_000
QUERIES_PER_SHARD = 2
"""So at most 8,000 entries of a task are read, some 4 MB."""


@dataclass(frozen=True)
class LatestScores:
    """Scored verdicts, the latest first; ``read`` entries were read, and ``is_complete`` is all."""

    verdicts: list[Verdict]
    read: int
    is_complete: bool


class LatestScoreIndex:
    """The index ``scoresByTask``, read from its end: each of its partitions as far as another."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def of_models(self, task_id: str, model_ids: Collection[str]) -> LatestScores:
        """Return the latest scored verdicts of models, without dimensions and reasoning."""
        names = {f":model{place}": model_id for place, model_id in enumerate(model_ids)}
        where = Filter(
            f"#state = :scored AND #model IN ({', '.join(names)})",
            {"#state": "state", "#model": "model_id"},
            {":scored": "scored", **names},
        )
        found: list[tuple[list[Verdict], int, bool]] = []
        in_parallel(
            lambda shard: found.append(self._shard(task_id, shard, where)),
            range(SCORE_SHARDS),
            at_most=SCORE_SHARDS,
        )
        verdicts = [verdict for some, _, _ in found for verdict in some]
        verdicts.sort(key=lambda one: (one.decided_at, one.completion_id), reverse=True)
        return LatestScores(
            verdicts, sum(read for _, read, _ in found), all(whole for _, _, whole in found)
        )

    def _shard(self, task_id: str, shard: int, where: Filter) -> tuple[list[Verdict], int, bool]:
        verdicts: list[Verdict] = []
        read = 0
        after: Item | None = None
        for _ in range(QUERIES_PER_SHARD):
            page = self._table.query(
                partition_of(task_id, shard),
                partition_name="score_shard",
                index=SCORES_BY_TASK,
                limit=ENTRIES_PER_QUERY,
                after=after,
                newest_first=True,
                where=where,
            )
            verdicts += [verdict_from(item) for item in page.items]
            read += page.evaluated
            after = page.last_key
            if after is None:
                break
        return verdicts, read, after is None
