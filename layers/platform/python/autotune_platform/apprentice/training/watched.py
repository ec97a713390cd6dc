"""Where jobs are noted that are not paid for; see ``items``.

A note is written in the transaction that plans a job, and closed in the one that pays for it: so
there is a note for whatever may be running, whoever was killed, and whatever was deleted meanwhile.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from autotune_platform.apprentice.configuration.items import model_from
from autotune_platform.apprentice.folding.items import DUE_RUNS_INDEX
from autotune_platform.apprentice.training.items import JOB, jobs_of
from autotune_platform.apprentice.training.models import Training, TrainingJob, WatchedJob
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.due_index import OPEN_SHARD, due_of
from autotune_platform.storage.item_format import Item, moment
from autotune_platform.storage.table import Table

OPEN_JOBS: Final = "jobs"
"""The partition of the index that has all notes: there are as many as jobs under way."""
LOOK_AFTER: Final = timedelta(minutes=5)
LOOK_SOON: Final = timedelta(minutes=1)
NEVER_CREATED_AFTER: Final = timedelta(minutes=15)
"""Whoever was about to create a job when its training ended has done so by then, or never will."""
_KEPT_CLOSED = timedelta(days=1)


class WatchedJobs:
    """Notes of jobs in the ``apprentice`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def opened(self, training: Training, job: TrainingJob, *, scope: str) -> Addition:
        """Return what notes a job that is planned now, as a part of a transaction."""
        watched = WatchedJob(
            name=job.name,
            task_id=training.task_id,
            number=training.number,
            training_id=training.id,
            scope=scope,
            price_nano_usd=job.price_nano_usd,
            reserved_nano_usd=job.reserved_nano_usd,
            periods=job.periods,
            due_at=job.planned_at + LOOK_AFTER,
        )
        return Addition(
            table=self._table.name,
            pk=jobs_of(training.task_id),
            sk=JOB + job.name,
            changes={OPEN_SHARD: OPEN_JOBS, **_attributes(watched)},
        )

    def open(self, training: Training, job: TrainingJob, *, scope: str) -> None:
        """Note a job that has no note, as where it was planned by a version without such.

        One that is noted, or was paid for, stays so.
        """
        if self._table.get(jobs_of(training.task_id), JOB + job.name) is None:
            opened = self.opened(training, job, scope=scope)
            self._table.add_together([replace(opened, only_if={"name": None})])

    def closed(self, task_id: str, name: str, now: datetime) -> Addition:
        """Return what closes the note of a job that is paid for, as a part of a transaction.

        It requires the note to be open: so nothing is paid for twice.
        """
        return Addition(
            table=self._table.name,
            pk=jobs_of(task_id),
            sk=JOB + name,
            changes={"expires_at": int((now + _KEPT_CLOSED).timestamp())},
            remove=(OPEN_SHARD, "due_at"),
            only_if={OPEN_SHARD: OPEN_JOBS},
        )

    def left(self, task_id: str, name: str, now: datetime) -> Addition:
        """Return what leaves a job to whoever watches, as a part of a transaction.

        Its training goes on without it, or ends, and nobody knows that it will never be created.
        """
        return Addition(
            table=self._table.name,
            pk=jobs_of(task_id),
            sk=JOB + name,
            changes={"left_since": moment(now), "due_at": moment(now + LOOK_SOON)},
            only_if={OPEN_SHARD: OPEN_JOBS},
        )

    def close(self, watched: WatchedJob, now: datetime, *paid: Addition) -> bool:
        """Close a note with what pays for its job; return False where another did."""
        writes = [self.closed(watched.task_id, watched.name, now), *paid]
        return self._table.write_together(writes, token=uuid4().hex) is None

    def unpaid(self, task_id: str) -> Sequence[WatchedJob]:
        """Return a task's jobs for which money is set aside."""
        found = self._table.items(jobs_of(task_id), starting=JOB)
        return [self.read(item) for item in found if OPEN_SHARD in item]

    def due(self, before: datetime, *, limit: int) -> Iterator[Item]:
        """Yield notes that are to be looked at, as stored, the longest due first; see ``read``."""
        for item in due_of(self._table, OPEN_JOBS, before, index=DUE_RUNS_INDEX, limit=limit):
            if OPEN_SHARD in item:
                yield item

    def read(self, item: Item) -> WatchedJob:
        """Return a note as it is stored.

        Raises:
            ValidationError: it is of another shape.
        """
        return model_from(item, WatchedJob)

    def put_off(self, item: Item, at: datetime) -> None:
        """Have a note looked at again at a time; one that is closed stays so."""
        key = (item["pk"], item["sk"])
        self._table.update(*key, {"due_at": moment(at)}, only_if={OPEN_SHARD: OPEN_JOBS})

    def look_again(self, watched: WatchedJob, at: datetime, *, left_since: datetime | None) -> None:
        """Have a job looked at again at a time; one that is closed stays so."""
        changes: dict[str, Any] = {"due_at": moment(at)}
        if left_since is not None:
            changes["left_since"] = moment(left_since)
        key = (jobs_of(watched.task_id), JOB + watched.name)
        self._table.update(*key, changes, only_if={OPEN_SHARD: OPEN_JOBS})


def free_at(watched: WatchedJob, now: datetime) -> datetime:
    """Return about when the money is free that is set aside for a job which was left.

    It is so sooner where the job is found and has ended.
    """
    since = watched.left_since or watched.due_at
    seen_at = max(watched.due_at, since + NEVER_CREATED_AFTER)
    return max(seen_at, now) + LOOK_SOON


def _attributes(watched: WatchedJob) -> dict[str, Any]:
    attributes = watched.model_dump(mode="json", exclude_none=True)
    return {**attributes, "due_at": moment(watched.due_at)}
