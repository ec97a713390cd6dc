"""How many jobs of a connection have not ended, and how much is in them.

They are counted before they are made, also where nothing limits them: a limit that is set later
finds those that are there. A batch is counted in the transaction that notes so on it, only where
every limit leaves room, and taken off the count in the one that settles it. So no crash comes
between the two, and any number of executions at once leave no limit behind.

Ceiling: a job writes two items of its connection when it is counted, and again when it is settled,
so some hundred jobs a second; a connection creates one at a time, which takes a second or more.
"""

from collections.abc import Mapping

from autotune.protocol.llm_limits import JobLimitName
from autotune_platform.ledger.job_limits import Limits
from autotune_platform.ledger.models import Batch
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Table

_ALL = "all"


class LiveJobs:
    """Counts of jobs that have not ended, in the ``ledger`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def short_of(self, batch: Batch, limits: Limits) -> JobLimitName | None:
        """Return a limit that has no room for a batch's job now; None where all have."""
        pk = _counts_of(batch)
        found = self._table.get_many([(pk, _ALL), (pk, _model(batch))])
        counts = found.get((pk, _ALL), {})
        tokens = found.get((pk, _model(batch)), {}).get("tokens", 0)
        uses: Mapping[JobLimitName, tuple[int, int | None]] = {
            "openJobs": (counts.get("jobs", 0) + 1, limits.open_jobs),
            "enqueuedRows": (counts.get("rows", 0) + batch.rows, limits.enqueued_rows),
            "enqueuedTokens": (
                tokens + batch.input_tokens,
                limits.enqueued_tokens.get(batch.model),
            ),
        }
        short = (name for name, (use, most) in uses.items() if most is not None and use > most)
        return next(short, None)

    def more(self, batch: Batch, limits: Limits) -> list[Addition]:
        """Return what counts a batch's job, and fails where a limit has no room."""
        tokens = limits.enqueued_tokens.get(batch.model)
        ceilings = {
            "jobs": None if limits.open_jobs is None else limits.open_jobs - 1,
            "rows": None if limits.enqueued_rows is None else limits.enqueued_rows - batch.rows,
        }
        return [
            self._addition(
                batch,
                _ALL,
                {"jobs": 1, "rows": batch.rows},
                {name: most for name, most in ceilings.items() if most is not None},
            ),
            self._addition(
                batch,
                _model(batch),
                {"tokens": batch.input_tokens},
                {} if tokens is None else {"tokens": tokens - batch.input_tokens},
            ),
        ]

    def fewer(self, batch: Batch) -> list[Addition]:
        """Return what takes a batch's job off the count, if it is counted."""
        if batch.counted_tokens is None:
            return []
        return [
            self._addition(batch, _ALL, {"jobs": -1, "rows": -batch.rows}, {}),
            self._addition(batch, _model(batch), {"tokens": -batch.counted_tokens}, {}),
        ]

    def _addition(
        self, batch: Batch, sk: str, numbers: Mapping[str, int], at_most: Mapping[str, int]
    ) -> Addition:
        return Addition(
            table=self._table.name,
            pk=_counts_of(batch),
            sk=sk,
            numbers=numbers,
            changes={"organization_id": batch.organization_id},
            at_most=at_most,
        )


def exceeds(batch: Batch, limits: Limits) -> bool:
    """Return whether a batch alone is more than its connection may have at all."""
    rows, tokens = limits.enqueued_rows, limits.enqueued_tokens.get(batch.model)
    is_long = rows is not None and batch.rows > rows
    return is_long or (tokens is not None and batch.input_tokens > tokens)


def _counts_of(batch: Batch) -> str:
    return f"live#{batch.connection_id}"


def _model(batch: Batch) -> str:
    return f"model#{batch.model}"
