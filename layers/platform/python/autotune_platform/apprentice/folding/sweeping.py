"""A net below runs: what nobody works on any more ends, and what nobody counted is counted.

Runs that are pending, or whose answer is to be checked, are open in the lists of their days, by
when somebody is to look at them. A message that was lost, or a record of the stream that was given
up, is found here. Evidence of rules that are over is folded by the present ones here, too.
"""

from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.configuration.service import TaskRemains
from autotune_platform.apprentice.folding.refolding import Refolding, version_of
from autotune_platform.apprentice.folding.repository import (
    SWEPT_AFTER,
    EvidenceRepository,
    OpenEntry,
)
from autotune_platform.apprentice.folding.service import RunFolding
from autotune_platform.apprentice.routing import Refusal, Remote
from autotune_platform.apprentice.runs.handing_over import RunQueue
from autotune_platform.apprentice.runs.models import Run, RunFault
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import AutotuneError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.sweeping import look_at_each

logger = Logger()

CHECKED_AGAIN = timedelta(minutes=15)
FAILED_AGAIN = timedelta(minutes=15)
CHECKED_WITHIN = timedelta(days=1)
"""An answer that was not checked by then is not checked any more."""

MOST_OF_A_SHARD = 500

HasTime = Callable[[], bool]


@part
class RunSweeping:
    """Looks after open runs, evidence of former rules, and tasks whose deletion was cut off."""

    repository: EvidenceRepository
    remains: TaskRemains
    tasks: TaskRepository
    runs: RunRepository
    folding: RunFolding
    refolding: Refolding
    queue: RunQueue
    clock: Clock = SYSTEM_CLOCK

    def sweep(self, *, has_time: HasTime) -> int:
        """Look at what is due, as far as there is time; return at how many.

        Runs come first, then pairs that are folded anew, and deletions take what is left of the
        time: a task may have millions of runs. What fails is looked at again later, and holds up
        nothing that is due behind it.

        Raises:
            Exception: the first one of what failed, once all else was looked at.
        """
        now = self.clock.now()
        refolds: deque[OpenEntry] = deque()
        deletions: list[OpenEntry] = []

        def look(entry: OpenEntry) -> None:
            if entry.run_id is None:
                (refolds if entry.is_refold else deletions).append(entry)
            else:
                self._look(entry, entry.run_id, now)

        def put_off(entry: OpenEntry) -> None:
            self._put_off(entry, now)

        def refold(entry: OpenEntry) -> None:
            """Fold some pairs of a version anew, and the next ones after some of each other."""
            if not self.refolding.go_on(*version_of(entry)):
                refolds.append(entry)

        due = self.repository.due(now - SWEPT_AFTER, limit=MOST_OF_A_SHARD)
        looks = look_at_each(due, look, has_time=has_time, put_off=put_off)
        refolded = look_at_each(_taken_from(refolds), refold, has_time=has_time, put_off=put_off)

        def erase(entry: OpenEntry) -> None:
            self._erase(entry, now, has_time)

        erased = look_at_each(deletions, erase, has_time=has_time, put_off=put_off)
        looks.require()
        refolded.require()
        erased.require()
        return looks.count

    def _put_off(self, entry: OpenEntry, now: datetime) -> None:
        """Have an entry that failed looked at later, behind others."""
        logger.exception("an entry was not swept", run_id=entry.run_id, key=entry.key)
        try:
            self.repository.open_until(entry, now + FAILED_AGAIN)
        except (*REFUSALS, AutotuneError):
            logger.exception("an entry was not put off", run_id=entry.run_id, key=entry.key)

    def _erase(self, entry: OpenEntry, now: datetime, has_time: HasTime) -> None:
        """Go on with deleting a task; one that takes longer waits behind others that are due."""
        task = self.tasks.find_at(entry.key)
        if task is None or task.state != "deleting":
            return
        if self.remains.erase(task.id, has_time=has_time):
            self.tasks.erase(task)
        else:
            self.repository.open_until(entry, now - SWEPT_AFTER)

    def _look(self, entry: OpenEntry, run_id: str, now: datetime) -> None:
        run = self.runs.get(run_id)
        if run is None:
            self.repository.close(entry)
        elif not run.has_ended:
            self._end(run, now)
        elif run.check == "due":
            self._check_again(entry, run, now)
        else:
            self.folding.count([run])

    def _end(self, run: Run, now: datetime) -> None:
        """End a run that nobody works on: as failed, since nobody was answered."""
        fault = RunFault(code="deadline_passed", message="nobody answered it in time")
        ended = run.model_copy(
            update={
                "state": "failed",
                "refusal": Refusal.REMOTE_UNAVAILABLE,
                "remote": Remote.FAILED if run.attempts else run.remote,
                "remote_fault": run.remote_fault or fault,
                "ended_at": now,
            }
        )
        # Whoever works on it after all is refused, or was first.
        if self.runs.change(run, ended):
            self.folding.count([ended])

    def _check_again(self, entry: OpenEntry, run: Run, now: datetime) -> None:
        if run.ended_at is not None and now - run.ended_at < CHECKED_WITHIN:
            self.folding.count([run])  # the record of its end may have been lost
            self.queue.send(run)
            self.repository.open_until(entry, now + CHECKED_AGAIN)
            return
        given_up = run.model_copy(update={"check": "failed"})
        if self.runs.change(run, given_up):
            self.folding.count([given_up])


def _taken_from(entries: deque[OpenEntry]) -> Iterator[OpenEntry]:
    """Yield entries until none is left, those too that are added meanwhile."""
    while entries:
        yield entries.popleft()
