"""Looking at a job until it has ended: seldom, with a key that sees it, and in no hurry.

That a job cannot be seen proves nothing: some are seen late, and by one key only. That it has ended
without results proves nothing either, unless it says that no row was answered.
"""

from datetime import timedelta

from aws_lambda_powertools import Logger

from autotune_platform.ledger.batching.failing import JobFailing
from autotune_platform.ledger.batching.stepping import (
    Advanced,
    Desk,
    job_of,
    shown,
    state_of,
)
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.job_sizes import ends_within
from autotune_platform.ledger.job_states import JobEnd, JobProgress
from autotune_platform.ledger.jobs.contract import Ended, Missing, Reported, Running
from autotune_platform.ledger.models import Batch, Connection
from autotune_platform.ledger.unclear import WAITS_FOR_OPERATOR, needs_operator
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import jittered

logger = Logger()

GIVEN_UP_AFTER = timedelta(days=30)
"""After which a job is given up, if looks at it have been refused for long: no provider keeps
results as long. Anthropic has them for 29 days, and files of ours at OpenAI go after 14."""


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
                self.desk.keys.use(session.connection, batch.id)
                batch = self.desk.store(batch, job={"key_version": version})
        if isinstance(look, Refusal):
            return self._refused(batch, connection, shown(look, session.key))
        if isinstance(look, Ended):
            return self._ended(batch, connection, look, session.key)
        state, now, timings = state_of(batch), self.clock.now(), connection.timings
        missed_since = (state.missed_since or now) if isinstance(look, Missing) else None
        if missed_since != state.missed_since or state.refused_since is not None:
            seen = {"missed_since": missed_since, "refused_since": None}
            batch = self.desk.store(batch, job=seen)
        is_unseen = missed_since is not None and now - missed_since > timings.patience
        if is_unseen and self._age(batch) > timings.lost_after:
            return self._lost(batch, connection, "job lost sight of")
        return Advanced(batch, self._wait(batch, connection))

    def _refused(self, batch: Batch, connection: Connection, refusal: Refusal) -> Advanced:
        """Look again later: for as long as the provider may have results, nothing is given up."""
        if refusal.code == "account":
            self.desk.pause(connection, refusal)
        now = self.clock.now()
        if state_of(batch).refused_since is None:
            batch = self.desk.store(batch, job={"refused_since": now})
        if needs_operator(batch, now):
            if self._age(batch) > GIVEN_UP_AFTER:
                return self._lost(batch, connection, "job given up, looks at it were refused")
            logger.error(
                WAITS_FOR_OPERATOR,
                batch_id=batch.id,
                job_id=state_of(batch).job_id,
                code=refusal.code,
                reason=refusal.message,
            )
        return self.desk.failed(batch, refusal)

    def _lost(self, batch: Batch, connection: Connection, why: str) -> Advanced:
        """Give a job up, whose rows count as paid."""
        logger.error(why, batch_id=batch.id, job_id=state_of(batch).job_id)
        lost = JobEnd(how="completed", seen_at=self.clock.now() - connection.timings.results_within)
        gone = {"end": lost, "refused_since": None}
        return Advanced(self.desk.store(batch, phase="fetching", job=gone))

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
        anew["refused_since"] = None
        may_come = look.succeeded != 0 and now < seen_at + connection.timings.results_within
        if not look.results and may_come:
            waiting = self.desk.store(batch, job=anew)
            return Advanced(waiting, self._wait(batch, connection, has_ended=True))
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
        longest = ends_within(connection) + connection.timings.overdue
        is_late = self._age(batch) > longest and self.desk.provider(batch).expires_by_itself
        if state_of(batch).is_cancel_sent or not (batch.cancel_requested_at or is_late):
            return batch
        session = self.desk.session(connection, batch)
        refusal = self.desk.provider(batch).cancel(session, job_of(batch))
        if refusal is not None:
            return batch
        logger.info("job asked to end", batch_id=batch.id, is_late=is_late)
        return self.desk.store(batch, job={"is_cancel_sent": True})

    def _age(self, batch: Batch) -> timedelta:
        return self.clock.now() - (state_of(batch).begun_at or batch.created_at)

    def _wait(self, batch: Batch, connection: Connection, *, has_ended: bool = False) -> float:
        if has_ended or batch.cancel_requested_at is not None:
            return jittered(connection.timings.poll_least_seconds)
        return jittered(connection.timings.poll_after(self._age(batch)))
