"""One step of a batch that is a provider's job: phase after phase, as long as none has to wait."""

from collections.abc import Callable, Mapping

from aws_lambda_powertools import Logger

from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.batch_rows import BatchRows
from autotune_platform.ledger.batching.bringing import JobResults
from autotune_platform.ledger.batching.creating import JobCreating
from autotune_platform.ledger.batching.fetching import JobFetching, result_name
from autotune_platform.ledger.batching.files import JobFiles
from autotune_platform.ledger.batching.polling import JobPolling
from autotune_platform.ledger.batching.stepping import (
    Advanced,
    Desk,
    LostError,
    job_of,
    shown,
    state_of,
)
from autotune_platform.ledger.batching.writing import INPUT, ORDER, JobWriting
from autotune_platform.ledger.building import LOOK_AGAIN
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.jobs.contract import Results
from autotune_platform.ledger.models import Batch, BatchPhase, Connection
from autotune_platform.ledger.phases import phase_of
from autotune_platform.ledger.queue_repository import QueueRepository
from autotune_platform.ledger.reasking import AGAIN_SECONDS, Reasking
from autotune_platform.ledger.settling import BatchSettling, Totals
from autotune_platform.ledger.unclear import needs_operator, operator_needed
from autotune_platform.outbound.connections import time_limit
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

logger = Logger()

_Timed = Callable[[Batch, Connection, Callable[[], float]], Advanced]
_MOST_CLEANING_TRIES = 6
_SPARE_SECONDS = 20
# A phase may send many requests, as for a list of many pages. However slow they are together, the
# step is there to store that they failed: one that is killed says nothing, and begins anew.
_STORING_SECONDS = 10


@part
class JobWork:
    """Goes on with batches that are jobs."""

    desk: Desk
    batches: BatchRepository
    queues: QueueRepository
    remaining: BatchRows
    writing: JobWriting
    creating: JobCreating
    polling: JobPolling
    fetching: JobFetching
    results: JobResults
    files: JobFiles
    reasking: Reasking
    settling: BatchSettling
    clock: Clock = SYSTEM_CLOCK

    def advance(self, batch: Batch, seconds_left: Callable[[], float]) -> Advanced | None:
        """Go on until something is to be waited for; None where another has the batch."""
        try:
            while batch.phase != "settled":
                if seconds_left() < _SPARE_SECONDS:
                    return Advanced(batch, 1)
                with time_limit(seconds_left() - _STORING_SECONDS):
                    advanced = self._phase(batch, seconds_left)
                batch = advanced.batch
                now = self.clock.now()
                if needs_operator(batch, now):
                    self.batches.publish_once(batch.id, operator_needed(batch, now))
                if advanced.wait_seconds is not None:
                    return advanced
        except LostError:
            logger.info("another step has the batch", batch_id=batch.id)
            return None
        return Advanced(batch)

    def _phase(self, batch: Batch, seconds_left: Callable[[], float]) -> Advanced:
        connection = self.desk.connection(batch)
        if batch.phase == "cleaning":
            return self._clean(batch, connection, seconds_left)
        if connection is None:
            return self._abandon(batch)
        if phase_of(batch).is_unsent and self._is_unwanted(batch, connection):
            return Advanced(self.desk.store(batch, phase="cleaning", job={"tries": 0}))
        if batch.phase == "unknown":
            return self.creating.find(batch, connection)
        if batch.phase == "polling":
            return self.polling.poll(batch, connection)
        return _TIMED[batch.phase](self)(batch, connection, seconds_left)

    def _is_unwanted(self, batch: Batch, connection: Connection) -> bool:
        """Return whether nothing is to be sent, after the rows were ended or put back."""
        if state_of(batch).begun_at is not None:
            return False  # it may have been sent
        if batch.cancel_requested_at is not None:
            self.remaining.end_unasked(batch, "canceled")
            return True
        if connection.status == "paused":
            self.remaining.put_back(batch)
            return True
        return False

    def _abandon(self, batch: Batch) -> Advanced:
        """End the rows of a batch whose connection was revoked: nobody can ask for it any more."""
        if phase_of(batch).is_unsent and state_of(batch).begun_at is None:
            self.remaining.end_unasked(batch, "account")
        else:
            gone = Refusal("account", "its connection was revoked", may_be_paid=True)
            self.remaining.refuse(batch, gone, more_attempts=False)
        self.creating.creations.release(batch)
        return Advanced(self.desk.store(batch, phase="cleaning", job={"tries": 0}))

    def _clean(
        self, batch: Batch, connection: Connection | None, seconds_left: Callable[[], float]
    ) -> Advanced:
        """Delete what is left of a batch at the provider and in S3, and settle it.

        What is to be asked again is enqueued before that; all of it may be repeated.
        """
        state = state_of(batch)
        places = state.end.places if state.end else ()
        if connection is not None and (state.input_file or state.job_id):
            session = self.desk.session(connection, batch)
            ended = [Results(place) for place in places]
            refusal = self.desk.provider(batch).clean(session, job_of(batch), ended)
            newer = self.desk.newer_session(connection, batch)
            if newer is not None and refusal is not None and refusal.code == "account":
                refusal = self.desk.provider(batch).clean(newer, job_of(batch), ended)
            if refusal is not None:
                if state.tries < _MOST_CLEANING_TRIES:
                    return self.desk.failed(batch, shown(refusal, session.key))
                logger.warning("files are left at the provider", batch_id=batch.id)
        names = [INPUT, ORDER, *(result_name(number) for number in range(len(places)))]
        self.files.delete(batch.id, names)
        totals, due = Totals(), []
        # A row may have come to it late, taken while another step was at this.
        for row in self.remaining.let_go(batch):
            totals.add(row, batch.id)
            if row.is_reask_due_in(batch.id):
                due.append(row)
        if not self.reasking.ask_again(batch, due, seconds_left):
            return Advanced(batch, AGAIN_SECONDS)
        if totals.released:
            self.queues.open(batch.group, self.clock.now() + LOOK_AGAIN)
        # That rows were asked again is noted on them.
        self.settling.settle(batch, self.settling.totals(batch) if due else totals)
        if state.key_version:
            self._let_key_go(batch, connection)
        return Advanced(batch.model_copy(update={"phase": "settled"}))

    def _let_key_go(self, batch: Batch, connection: Connection | None) -> None:
        """Say that a batch needs its key no more; delete one that was replaced and nobody needs."""
        keys = self.desk.keys
        keys.let_go(batch.connection_id, batch.id)
        if connection is not None and state_of(batch).key_version != connection.key_version:
            keys.retire(connection, is_settled=self.batches.is_settled, now=self.clock.now())


_TIMED: Mapping[BatchPhase, Callable[[JobWork], _Timed]] = {
    "writing": lambda work: work.writing.write,
    "uploading": lambda work: work.creating.upload,
    "creating": lambda work: work.creating.create,
    "fetching": lambda work: work.fetching.fetch,
    "ingesting": lambda work: work.results.ingest,
}
