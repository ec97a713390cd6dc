"""One step of a batch's execution: as much as there is time for, each row a checkpoint.

A step has the batch for itself until a time that it stores before it begins. So two steps never ask
the same rows. What a killed one was asking may be paid, and nobody knows which rows that were: as
many of the dearest as it asks at once are charged at their bounds, and go back to their queue.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from aws_lambda_powertools import Logger

from autotune_platform.budgets.permits import CONCURRENT_CALLS
from autotune_platform.ledger.admission import room_wait
from autotune_platform.ledger.asking import Asked, RowAsking
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.batch_rows import BatchRows
from autotune_platform.ledger.batching.guarding import as_lost, as_refused, stored_state
from autotune_platform.ledger.batching.work import JobWork
from autotune_platform.ledger.building import LOOK_AGAIN, LOST_AFTER, BatchBuilder
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.job_states import JobState
from autotune_platform.ledger.models import Batch
from autotune_platform.ledger.phases import phase_of
from autotune_platform.ledger.queue_repository import QueueRepository
from autotune_platform.ledger.reasking import AGAIN_SECONDS, Reasking
from autotune_platform.ledger.settling import BatchSettling, Totals
from autotune_platform.ledger.step_shares import StepShares
from autotune_platform.ledger.usable_connections import usable
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import AutotuneError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.retry import jittered

logger = Logger()

# An execution has 25,000 events, and a step six of them.
_SHORTEST_WAIT_SECONDS = 5
_LONGEST_WAIT_SECONDS = 600
_LONGEST_RETRY_AFTER_SECONDS = 3_600
# After a day in which an endpoint took no call at all, that uses one of the rows' attempts.
_LONGEST_THROTTLED = timedelta(days=1)
_THROTTLED = Refusal("rate_limited", "the endpoint took no call for a day, for there were too many")


@dataclass(frozen=True)
class Step:
    """Where an execution stands.

    Attributes:
        batch: what is to be gone on with; None where there is nothing left to do.
        wait_seconds: how long before the next step.
        full: a batch after which another may be made of its queue at once.
        ended: a batch whose end lets another be made of its queue.
    """

    batch: Batch | None
    wait_seconds: int = 0
    full: Batch | None = None
    ended: Batch | None = None


@part
class BatchWork:
    """Makes batches, asks their rows and settles them."""

    batches: BatchRepository
    queues: QueueRepository
    connections: ConnectionRepository
    builder: BatchBuilder
    asking: RowAsking
    remaining: BatchRows
    jobs: JobWork
    reasking: Reasking
    settling: BatchSettling
    shares: StepShares
    clock: Clock = SYSTEM_CLOCK

    def begin(self, group_key: str, *, seconds_left: Callable[[], float]) -> Step:
        """Make a batch of a queue; its first step follows."""
        group = self.queues.get(group_key)
        if group is None:
            return Step(None)
        with self.shares.place(group.organization_id, seconds_left()) as has_place:
            if not has_place:
                # The sweeper begins it then: executions that wait would be more with each start.
                wait = timedelta(seconds=self.shares.wait_seconds())
                self.queues.defer(group_key, self.clock.now() + wait)
                return Step(None)
            built = self.builder.build(group_key, seconds_left=seconds_left)
        if built is None:
            return Step(None)
        return Step(built, full=built if self.builder.may_be_followed(built) else None)

    def advance(self, batch_id: str, *, redrive: int, seconds_left: Callable[[], float]) -> Step:
        """Go on with a batch; an execution from before its latest redrive has nothing to do."""
        batch = self.batches.get(batch_id)
        if batch is None or batch.redrive != redrive:
            return Step(None)
        if batch.phase == "settled":
            return self._ended(batch)
        now = self.clock.now()
        if batch.worked_until is not None and batch.worked_until > now:
            return Step(batch, _whole_seconds(batch.worked_until - now))
        with self.shares.place(batch.organization_id, seconds_left()) as has_place:
            if has_place:
                return self._advance(batch, seconds_left)
        wait = self.shares.wait_seconds()
        due_at = now + timedelta(seconds=wait) + LOST_AFTER
        return Step(batch, wait if self.batches.change(batch, {}, due_at=due_at) else 1)

    def _advance(self, batch: Batch, seconds_left: Callable[[], float]) -> Step:
        taken = self._taken(batch, seconds_left())
        if taken is None:
            return Step(batch, 1)
        if taken.phase == "building":
            return self._take_rows(taken, seconds_left)
        if taken.mode == "job":
            return self._advance_job(taken, seconds_left)
        if batch.worked_until is not None:
            taken = self._charge_lost(taken)
        return self._advance_calls(taken, seconds_left)

    def _take_rows(self, batch: Batch, seconds_left: Callable[[], float]) -> Step:
        """Go on with a batch whose first step had no time for all of its rows, or was lost."""
        try:
            taken = self.builder.take_rows(batch, seconds_left)
        except Exception:
            self._give_up(batch)
            raise
        if taken is None:
            return Step(None)
        wait = 1 if taken.waiting_for is None else round(room_wait(taken, self.clock.now()))
        if not self._release(taken, wait, {"waiting_for": taken.waiting_for}):
            return Step(None)
        is_followed = phase_of(taken).is_first and self.builder.may_be_followed(taken)
        return Step(taken, wait, full=taken if is_followed else None)

    def _ended(self, batch: Batch) -> Step:
        """Have another batch made of what waited for the end of this one; repeating it is fine."""
        return Step(None, ended=batch if self.settling.lets_another_begin(batch) else None)

    def _advance_calls(self, taken: Batch, seconds_left: Callable[[], float]) -> Step:
        asked = self._ask(taken, seconds_left)
        wait = min(max(round(asked.wait_seconds), _SHORTEST_WAIT_SECONDS), _LONGEST_WAIT_SECONDS)
        if asked.is_idle:
            return Step(taken, wait) if self._release(taken, wait, {}) else Step(None)
        taken = taken.model_copy(update={"unclear": taken.unclear + asked.unclear})
        throttling: dict[str, Any] = {}
        if asked.is_throttled:
            throttling, wait = self._throttled(taken, asked)
        elif taken.throttled:
            throttling = {"throttled": 0, "throttled_since": None}
        totals = self.settling.totals(taken)
        if not totals.pending and self._is_asked_again(taken, totals, seconds_left):
            # What was just asked again is another row; that it was, is noted on those that are due.
            totals = self.settling.totals(taken) if totals.reasks_due else totals
            self.settling.settle(taken, totals)
            return self._ended(taken)
        wait = wait if totals.pending else AGAIN_SECONDS
        if not self._release(taken, wait, {**totals.numbers, **throttling}):
            return Step(None)
        return Step(taken, wait)

    def _throttled(self, batch: Batch, asked: Asked) -> tuple[dict[str, Any], int]:
        """Return what is stored of a batch whose endpoint has too much to do, and when to go on.

        Its rows were not tried; those that are not wanted any more end, and all are put back once
        the endpoint has taken no call for a day.
        """
        now = self.clock.now()
        is_new = asked.answered > 0 or batch.throttled_since is None
        since = now if is_new else batch.throttled_since
        rounds = 1 if is_new else batch.throttled + 1
        self.remaining.end_unwanted(batch, now)
        if since is not None and now - since > _LONGEST_THROTTLED:
            if self.remaining.refuse(batch, _THROTTLED, more_attempts=True):
                self.queues.open(batch.group, now + LOOK_AGAIN)
            rounds = 0
        backing_off = min(_SHORTEST_WAIT_SECONDS * 2 ** min(rounds, 10), _LONGEST_WAIT_SECONDS)
        asks_for = min(asked.retry_after_seconds, _LONGEST_RETRY_AFTER_SECONDS)
        noted = {"throttled": rounds, "throttled_since": since if rounds else None}
        return noted, round(max(asks_for, asked.wait_seconds, jittered(backing_off)))

    def _is_asked_again(
        self, batch: Batch, totals: Totals, seconds_left: Callable[[], float]
    ) -> bool:
        due = self.remaining.reasks_due(batch) if totals.reasks_due else []
        return self.reasking.ask_again(batch, due, seconds_left)

    def _advance_job(self, batch: Batch, seconds_left: Callable[[], float]) -> Step:
        try:
            advanced = self.jobs.advance(batch, seconds_left)
        except (AutotuneError, *REFUSALS):
            self._give_up(batch, as_refused)
            raise
        except Exception:
            # A fault of what was read is a kill as well.
            self._give_up(batch, as_lost)
            raise
        if advanced is None or advanced.wait_seconds is None:
            return Step(None)
        after, wait = advanced.batch, round(advanced.wait_seconds)
        progress = after.progress and after.progress.model_dump(mode="json")
        noted = {"progress": progress} if progress else {}
        return Step(after, wait) if self._release(after, wait, noted) else Step(None)

    def _give_up(
        self, batch: Batch, after: Callable[[Batch], JobState | None] = as_refused
    ) -> None:
        """Have the execution's next try begin before this step would have been over.

        Args:
            after: returns how far a job is after this; None where that does not change.
        """
        found = self.batches.get(batch.id)
        if found is not None and found.worked_until == batch.worked_until:
            self._release(found, 0, stored_state(after(found)))

    def _taken(self, batch: Batch, seconds: float) -> Batch | None:
        """Have the batch for oneself; one that another had until now was lost by that step."""
        until = self.clock.now() + timedelta(seconds=seconds)
        job = None if batch.worked_until is None else as_lost(batch)
        changes = {"worked_until": until, **stored_state(job)}
        if not self.batches.change(batch, changes, due_at=until + LOST_AFTER):
            return None
        return batch.model_copy(update={"worked_until": until, "job": job or batch.job})

    def _charge_lost(self, batch: Batch) -> Batch:
        """Charge what the step before may have been asking when it was killed."""
        lost = self.remaining.charge_dearest(batch, at_most=CONCURRENT_CALLS)
        logger.warning("step was lost; calls may be paid twice", batch_id=batch.id, calls=lost)
        if lost:
            self.queues.open(batch.group, self.clock.now() + LOOK_AGAIN)
        return batch.model_copy(update={"unclear": batch.unclear + lost})

    def _ask(self, batch: Batch, seconds_left: Callable[[], float]) -> Asked:
        connection = usable(self.connections.get(batch.connection_id))
        if connection is None:
            self.remaining.end_unasked(batch, "account")
            return Asked()
        if batch.cancel_requested_at is not None:
            self.remaining.end_unasked(batch, "canceled")
            return Asked()
        asked = Asked(is_paused=connection.status == "paused")
        if not asked.is_paused:
            asked = self.asking.ask_all(
                connection, self.remaining.pending(batch), seconds_left=seconds_left
            )
        if asked.is_paused:
            asked.requeued += self.remaining.put_back(batch)
        if asked.requeued:
            self.queues.open(batch.group, self.clock.now() + LOOK_AGAIN)
        return asked

    def _release(self, batch: Batch, wait: int, changes: Mapping[str, Any]) -> bool:
        """Let the next step have the batch, with how far it has come."""
        written = {
            "worked_until": None,
            "unclear": batch.unclear,
            **changes,
        }
        due_at: datetime = self.clock.now() + timedelta(seconds=wait) + LOST_AFTER
        return self.batches.change(batch, written, due_at=due_at)


def _whole_seconds(left: timedelta) -> int:
    return int(left.total_seconds()) + 1
