"""Creating a job exactly once, whatever is killed or lost on the way.

What is about to be asked is stored first, with a name for this one creation. It is asked once, and
never again by itself: only an explicit refusal says that there is no job. After anything else the
provider's list is searched. One job that it may be is adopted; where there is none once it could be
seen, the creation is begun anew under another name; several wait for an operator, and so does one
that is noted as another batch's. As long as it is unclear, rows and money are held.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from aws_lambda_powertools import Logger

from autotune_platform.ledger.batching.failing import JobFailing
from autotune_platform.ledger.batching.files import JobFiles
from autotune_platform.ledger.batching.stepping import (
    LONGEST_WAIT_SECONDS,
    Advanced,
    Desk,
    job_of,
    shown,
    state_of,
)
from autotune_platform.ledger.batching.writing import INPUT
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.creations import CreationRepository
from autotune_platform.ledger.job_states import JobState, new_nonce
from autotune_platform.ledger.jobs.contract import MOST_FOUND, Created, NotCreated
from autotune_platform.ledger.models import Batch, Connection
from autotune_platform.ledger.unclear import WAITS_FOR_OPERATOR, needs_operator
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import jittered

logger = Logger()

SEND_SECONDS = 270
"""Time that a step must have left to send an input: the longest that sending takes, and some."""

# Longer than it takes to notice that a step was killed: until then nobody else may create.
_LEASE = timedelta(minutes=20)
_LEASE_UNCLEAR = timedelta(hours=1)
_SEARCH_EVERY_SECONDS = 60
_TURN_SECONDS, _LONGEST_TURN_SECONDS = 15, 300
_MOST_TRIES = 40
_MOST_EARLY_TRIES = 5


@part
class JobCreating:
    """Uploads inputs and creates jobs, one creation of a connection at a time.

    Others may create only after what came of this creation is stored: else one that is killed in
    between would look for its job while theirs is made.
    """

    desk: Desk
    creations: CreationRepository
    files: JobFiles
    failing: JobFailing
    clock: Clock = SYSTEM_CLOCK

    def upload(
        self, batch: Batch, connection: Connection, seconds_left: Callable[[], float]
    ) -> Advanced:
        """Send the input; sending it again leaves a file that goes by itself."""
        if seconds_left() < SEND_SECONDS:
            return Advanced(batch, 1)
        session = self.desk.session(connection, batch)
        body = self.files.body(batch.id, INPUT, state_of(batch).bytes)
        sent = self.desk.provider(batch).upload(session, job_of(batch), body)
        if isinstance(sent, str):
            uploaded = {"input_file": sent, "tries": 0, "begun_at": None}
            return Advanced(self.desk.store(batch, phase="creating", job=uploaded))
        return self._refused(batch, connection, NotCreated(shown(sent, session.key)))

    def create(
        self, batch: Batch, connection: Connection, seconds_left: Callable[[], float]
    ) -> Advanced:
        """Ask for the job, once."""
        if state_of(batch).begun_at is not None:
            # The step that asked was killed before it stored what came of it.
            return self._unclear(batch, "the creation was interrupted")
        if seconds_left() < SEND_SECONDS:
            return Advanced(batch, 1)
        now = self.clock.now()
        waiting = self._wait_for_turn(batch, connection, now)
        if waiting is not None:
            return waiting
        provider = self.desk.provider(batch)
        # Before it is stored: the key of a job that there may be is not to be deleted.
        self.desk.keys.use(connection, batch.id)
        begun = self.desk.store(
            batch,
            waiting_for=None,
            job={
                "begun_at": now,
                "nonce": new_nonce(),
                "key_version": connection.key_version,
                "visibility_seconds": connection.timings.visibility_seconds,
            },
        )
        session = self.desk.session(connection, begun)
        body = self.files.body(batch.id, INPUT, state_of(begun).bytes)
        made = provider.create(session, job_of(begun), body)
        if isinstance(made, Created):
            return self._adopt(begun, connection, made.job_id)
        if isinstance(made, NotCreated):
            again = self.desk.store(begun, job={"begun_at": None})
            self.creations.release(begun)
            refused = NotCreated(shown(made.refusal, session.key), made.lines)
            return self._refused(again, connection, refused)
        return self._unclear(
            begun, shown(Refusal("outcome_unclear", made.message), session.key).message
        )

    def _wait_for_turn(
        self, batch: Batch, connection: Connection, now: datetime
    ) -> Advanced | None:
        """Have the connection's creations for oneself, and this one counted; else wait."""
        if not self.creations.take(batch, now, until=now + _LEASE):
            return Advanced(batch, jittered(turn_wait(now - batch.created_at)))
        most = connection.limits.creations_per_hour
        wait = 0 if most is None else self.creations.spend(batch, now, at_most=most)
        if wait <= 0:
            return None
        self.creations.release(batch)
        waiting = self.desk.store(batch, waiting_for="creationsPerHour")
        return Advanced(waiting, min(max(jittered(wait), 1), LONGEST_WAIT_SECONDS))

    def find(self, batch: Batch, connection: Connection) -> Advanced:
        """Look for the job of an unclear creation; at each look the log says who waits for long."""
        found = self._find(batch, connection)
        after = found.batch
        if needs_operator(after, self.clock.now()):
            jobs = state_of(after).candidates
            logger.error(WAITS_FOR_OPERATOR, batch_id=after.id, jobs=list(jobs))
        return found

    def _find(self, batch: Batch, connection: Connection) -> Advanced:
        state = state_of(batch)
        assert state.begun_at is not None, "a creation is unclear once it was begun"
        session = self.desk.session(connection, batch)
        provider = self.desk.provider(batch)
        now = self.clock.now()
        if not provider.is_named:
            # Another creation would be taken for this one.
            self.creations.hold(batch, until=now + _LEASE_UNCLEAR)
        found = provider.search(session, job_of(batch))
        newer = self.desk.newer_session(connection, batch) if provider.is_named else None
        if newer is not None and isinstance(found, Refusal) and found.code == "account":
            # That the present key sees none proves nothing: the other may have created one.
            found = provider.search(newer, job_of(batch)) or found
        if isinstance(found, Refusal):
            return self.desk.failed(batch, shown(found, session.key))
        some = list(dict.fromkeys(found))[:MOST_FOUND]
        is_all = len(some) == len(set(found))
        mine = [one for one in some if self.creations.may_own(batch, connection, one)]
        if len(mine) == 1 and is_all and state.taken is None:
            return self._adopt(batch, connection, mine[0])
        # There is a job. Another would be paid, and be noted as another batch's too.
        taken = [state.taken] if state.taken else some if provider.is_named or not is_all else []
        if candidates := mine or taken:
            waiting = self.desk.store(batch, job={"candidates": candidates})
            return Advanced(waiting, LONGEST_WAIT_SECONDS)
        if now < state.begun_at + visible_within(state, connection):
            return Advanced(batch, jittered(_SEARCH_EVERY_SECONDS))
        logger.info("the job was not created", batch_id=batch.id, nonce=state.nonce)
        return self.begin_again(batch)

    def begin_again(self, batch: Batch) -> Advanced:
        """Create a job under another name, because it is certain that there is none."""
        anew: dict[str, Any] = {"begun_at": None, "candidates": [], "taken": None, "tries": 0}
        begun = self.desk.store(batch, phase="creating", job=anew)
        self.creations.release(batch)
        return Advanced(begun)

    def _adopt(self, batch: Batch, connection: Connection, job_id: str) -> Advanced:
        """Take a job for the batch's own, unless another batch has it."""
        if not self.creations.own(batch, connection, job_id):
            taken = self.desk.store(batch, job={"taken": job_id, "candidates": [job_id]})
            return self._unclear(taken, "the job is another batch's")
        now = self.clock.now()
        adopted = self.desk.store(
            batch,
            phase="polling",
            job={"job_id": job_id, "tries": 0, "candidates": []},
            submitted_at=now,
        )
        self.creations.release(batch)
        logger.info("job created", batch_id=batch.id, job_id=job_id)
        return Advanced(adopted, jittered(connection.timings.poll_least_seconds))

    def _unclear(self, batch: Batch, why: str) -> Advanced:
        logger.warning("it is unclear whether a job was created", batch_id=batch.id, reason=why)
        unclear = self.desk.store(batch, phase="unknown", job={"tries": 0})
        if self.desk.provider(batch).is_named:
            self.creations.release(batch)
        return Advanced(unclear)

    def _refused(self, batch: Batch, connection: Connection, made: NotCreated) -> Advanced:
        """Try again later what passes; else end the batch, and say of which rows it was."""
        state = state_of(batch)
        passes = made.refusal.code in {"rate_limited", "provider_error", "outcome_unclear"}
        # A file that was just uploaded may be refused in words that do not say that it is early.
        may_be_early = bool(state.input_file) and made.refusal.code == "rejected" and not made.lines
        most = _MOST_TRIES if passes else _MOST_EARLY_TRIES if may_be_early else 0
        if state.tries < most:
            return self.desk.failed(batch, made.refusal)
        return self.failing.fail(batch, connection, made.refusal, made.lines, was_created=False)


def turn_wait(age: timedelta) -> float:
    """Return after how many seconds a batch of an age looks again whether it may create its job.

    One creation takes seconds. Where many batches wait for it, each waits for longer, and they look
    no more often together.
    """
    return min(max(age.total_seconds() / 10, _TURN_SECONDS), _LONGEST_TURN_SECONDS)


def visible_within(state: JobState, connection: Connection) -> timedelta:
    """Return after which time a job that was created is in its provider's list."""
    present = connection.timings.visibility_seconds
    return timedelta(seconds=max(state.visibility_seconds or 0, present))
