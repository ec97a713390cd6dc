"""Looking at a job until it has ended: seldom, with a key that sees it, and in no hurry.

That a job cannot be seen proves nothing: some are seen late, and by one key only. That it has ended
without results proves nothing either, unless it says that no row was answered.
"""

from datetime import timedelta

from aws_lambda_powertools import Logger

from autotune_platform.ledger.batching.failing import JobFailing
from autotune_platform.ledger.batching.stepping import (
    LONGEST_WAIT_SECONDS,
    Advanced,
    Desk,
    jittered,
    job_of,
    shown,
    state_of,
)
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.jobs.contract import Ended, Missing, Reported, Running
from autotune_platform.ledger.jobs.registry import ends_within
from autotune_platform.ledger.models import Batch, Connection, JobEnd, JobProgress
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

logger = Logger()

OVERDUE = timedelta(hours=1)
"""After the end that its provider promised, a job is asked to end."""

LOST_AFTER = timedelta(hours=72)
"""After which a job that cannot be seen is given up, and its rows count as paid."""

PATIENCE = timedelta(minutes=15)
"""For how long it must not have been seen by then: a single look proves nothing."""

RESULTS_WITHIN = timedelta(hours=1)
"""For how long results are waited for after a job has ended."""

_SHORTEST_WAIT_SECONDS = 60


@part
class JobPolling:
    """Looks at jobs."""

    desk: Desk
    failing: JobFailing
    clock: Clock = SYSTEM_CLOCK

    def poll(self, batch: Batch, connection: Connection) -> Advanced:
        """Look once."""
        batch = self._cancel(batch, connection)
        session, look = self.desk.look(batch, connection)
        version = session.connection.key_version
        if isinstance(look, Running | Ended):
            batch = self._noted(batch, look.reported)
            if state_of(batch).key_version != version:
                batch = self.desk.store(batch, job={"key_version": version})
        if isinstance(look, Refusal):
            refusal = shown(look, session.key)
            if refusal.code == "account":
                self.desk.pause(connection, refusal)
            return self.desk.failed(batch, refusal)
        if isinstance(look, Ended):
            return self._ended(batch, connection, look, session.key)
        if not isinstance(look, Missing):
            if state_of(batch).missed_since is not None:
                batch = self.desk.store(batch, job={"missed_since": None})
            return Advanced(batch, self._wait(batch))
        if state_of(batch).missed_since is None:
            batch = self.desk.store(batch, job={"missed_since": self.clock.now()})
        if self._age(batch) > LOST_AFTER and self._missed_for(batch) > PATIENCE:
            logger.error("job lost sight of", batch_id=batch.id, job_id=state_of(batch).job_id)
            lost = JobEnd(how="completed", seen_at=self.clock.now() - RESULTS_WITHIN)
            return Advanced(self.desk.store(batch, phase="fetching", job={"end": lost}))
        return Advanced(batch, self._wait(batch))

    def _ended(
        self, batch: Batch, connection: Connection, look: Ended, key: str | None
    ) -> Advanced:
        state, now = state_of(batch), self.clock.now()
        if look.how == "failed":
            refusal = look.refusal or Refusal("rejected", "the job failed without a reason")
            lines = {
                place: shown(Refusal("rejected", why), key).message
                for place, why in look.lines.items()
            }
            return self.failing.fail(
                batch, connection, shown(refusal, key), lines, was_created=True
            )
        seen_at = state.end.seen_at if state.end else now
        end = JobEnd(
            how=look.how,
            places=[one.place for one in look.results],
            succeeded=look.succeeded,
            usage=look.usage,
            cost_nano_usd=look.cost_nano_usd,
            seen_at=seen_at,
        )
        # What was fetched before was not all of it: all is read again, and stored once.
        anew = {"end": end, "tries": 0, "source": 0, "offset": 0, "strange": 0, "sizes": []}
        may_come = look.succeeded != 0 and now < seen_at + RESULTS_WITHIN
        if not look.results and may_come:
            return Advanced(self.desk.store(batch, job=anew), self._wait(batch, seen_at))
        fetching = self.desk.store(batch, phase="fetching", job=anew, progress=batch.progress)
        return Advanced(fetching)

    def _noted(self, batch: Batch, reported: Reported) -> Batch:
        """Return a batch with how far its job is, which is stored when the step lets it go."""
        if reported.completed is None or reported.failed is None or reported.total is None:
            return batch
        progress = JobProgress(
            completed=reported.completed,
            failed=reported.failed,
            rows=reported.total,
            at=self.clock.now(),
        )
        return batch.model_copy(update={"progress": progress})

    def _cancel(self, batch: Batch, connection: Connection) -> Batch:
        """Ask the provider to end the job, once, if it is not wanted or overdue."""
        longest = ends_within(connection) + OVERDUE
        is_late = self._age(batch) > longest and batch.provider != "azure"
        if state_of(batch).is_cancel_sent or not (batch.cancel_requested_at or is_late):
            return batch
        session = self.desk.session(connection, batch)
        refusal = self.desk.provider(batch).cancel(session, job_of(batch))
        if refusal is not None:
            return batch
        logger.info("job asked to end", batch_id=batch.id, is_late=is_late)
        return self.desk.store(batch, job={"is_cancel_sent": True})

    def _missed_for(self, batch: Batch) -> timedelta:
        now = self.clock.now()
        return now - (state_of(batch).missed_since or now)

    def _age(self, batch: Batch) -> timedelta:
        return self.clock.now() - (state_of(batch).begun_at or batch.created_at)

    def _wait(self, batch: Batch, seen_at: object = None) -> float:
        if seen_at is not None or batch.cancel_requested_at is not None:
            return jittered(_SHORTEST_WAIT_SECONDS)
        tenth = self._age(batch).total_seconds() / 10
        return jittered(min(max(tenth, _SHORTEST_WAIT_SECONDS), LONGEST_WAIT_SECONDS))
