"""Redriving what is pending longer than it should be.

A batch is open from its acceptance until the sweeper has seen a verdict for each of its
completions. A run that sleeps on purpose postpones its batches; whatever else is overdue was lost
on its way, by a crash, as a dead letter or with its run, and goes through the queue again. What
waits for a person is not lost, and neither is what waits for a callback that may still come: their
answers need no run to be recorded. Once their time is over, it is resolved or redriven.
Nothing ends ``failed`` here before its deadline, however often it was redriven.
What follows from verdicts is made good where a decision list, or the stream, lost some: at each
look, and before a batch is closed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from threading import Lock
from typing import Literal

from aws_lambda_powertools import Logger

from autotune.protocol.completions import Priority
from autotune_platform.completions.models import Batch
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.queues import ChunkQueues
from autotune_platform.judging.http.waiting import CallWaits
from autotune_platform.projections.projection import VerdictProjection
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.scoring.recovery import BatchRecovery
from autotune_platform.verdicts.models import overdue

logger = Logger()

SWEPT = "batches swept"
"""Of a line in the log, whose ``oldest_due_seconds`` an alarm watches."""
_LOOKERS = 8
_SECONDS_TO_STOP = 10

_LONGEST_WAIT = timedelta(hours=1)
_HOURLY_SWEEPS = 12
_RARE_WAIT = timedelta(hours=6)


_Backlog = Callable[[Priority, str], datetime | None]

Outcome = Literal["closed", "redriven", "failed", "postponed", "overtaken"]
"""What became of one batch; ``overtaken`` is one that another sweep took."""


class SweepReport(FrozenModel):
    """What one sweep did, in batches."""

    closed: int = 0
    redriven: int = 0
    failed: int = 0
    postponed: int = 0


@part
class Sweeper:
    """Looks after open batches whose time has come."""

    batches: OpenBatches
    recovery: BatchRecovery
    queues: ChunkQueues
    waits: CallWaits
    projection: VerdictProjection
    clock: Clock = SYSTEM_CLOCK

    def sweep(
        self, *, seconds_left: Callable[[], float], part: int = 0, parts: int = 1
    ) -> SweepReport:
        """Look after every overdue batch that there is time for, several at once.

        Args:
            part: of which of as many ``parts``; the others are for sweeps beside this one.
        """
        outcomes: list[Outcome] = []
        now = self.clock.now()
        backlog = _asked_once(self.queues.backlog)

        def look_after_one(batch_id: str) -> None:
            if seconds_left() < _SECONDS_TO_STOP:
                return
            batch = self.batches.find(batch_id)
            if batch is not None:
                outcomes.append(self._outcome_of(batch, now, backlog))

        overdue = self.batches.overdue(now, part=part, parts=parts)
        in_parallel(look_after_one, list(overdue), at_most=_LOOKERS)
        done = Counter(outcomes)
        oldest = (now - min(overdue.values(), default=now)).total_seconds()
        logger.info(SWEPT, batches=len(overdue), oldest_due_seconds=round(oldest))
        return SweepReport(
            closed=done["closed"],
            redriven=done["redriven"],
            failed=done["failed"],
            postponed=done["postponed"],
        )

    def _outcome_of(self, batch: Batch, now: datetime, backlog: _Backlog) -> Outcome:
        try:
            return self._look_after(batch, now, backlog)
        except (*REFUSALS, UnavailableError):
            # The batches behind it must not wait for what is in this one's way.
            logger.exception("batch not looked after", batch_id=batch.id)
            return self._postpone(batch, now + _wait(0))
        except Exception:
            # An error of ours, which the sweep ends with. It puts no batch first in line.
            self._postpone(batch, now + _wait(0))
            raise

    def _look_after(self, batch: Batch, now: datetime, backlog: _Backlog) -> Outcome:
        unjudged, people = self.recovery.examine(batch)
        waits = self._waits_of(batch, unjudged, now) | people
        lost = [id_ for id_ in unjudged if id_ not in waits]
        if not (lost or waits):
            return self._close(batch)
        if lost:
            outcome = self._mend(batch, lost, waits, now, backlog)
        else:
            outcome = self._wait_for_signals(batch, waits.values(), now)
        # It may stay open for a week: what its lists or the stream lost is not to wait for that.
        self.projection.catch_up(batch, decided=batch.size - len(unjudged) - len(people))
        return outcome

    def _mend(
        self,
        batch: Batch,
        lost: Sequence[str],
        waits: Mapping[str, datetime],
        now: datetime,
        backlog: _Backlog,
    ) -> Outcome:
        """Redrive what is lost, and end what is out of time, whatever waits in the queue."""
        if late := self._out_of_time(batch, lost, now):
            self.recovery.end(batch, late)
            logger.error("completions out of time", batch_id=batch.id, completions=len(late))
            if len(late) == len(lost) and not waits:
                self._close(batch)
            return "failed"
        asleep = self._asleep(batch, lost, now)
        if len(asleep) == len(lost):
            deadlines = [one.deadline for one in batch.headers(lost).values()]
            return self._postpone(batch, min(*asleep.values(), *deadlines))
        lost = [id_ for id_ in lost if id_ not in asleep]
        waiting_since = backlog(batch.priority, batch.organization_id)
        if waiting_since and batch.queued_at >= waiting_since:
            # It may just be waiting its turn: redriving it would lengthen the queue.
            return self._postpone(batch, now + _wait(0))
        if not self.recovery.redrive(batch, lost, due_at=now + _wait(batch.latest_sweeps + 1)):
            return "overtaken"
        logger.warning("batch redriven", batch_id=batch.id, completions=len(lost))
        return "redriven"

    def _waits_of(
        self, batch: Batch, undecided: Sequence[str], now: datetime
    ) -> dict[str, datetime]:
        """Return when to ask again about each completion that lacks nothing but callbacks.

        That is a while after they are due: the runs that wait for them end their waits first.
        """
        unanswered = self.recovery.unanswered(batch, undecided)
        due = self.waits.until(asked for some in unanswered.values() for asked in some)
        deadlines = {id_: one.deadline for id_, one in batch.headers(undecided).items()}
        return {
            id_: min(deadlines[id_], *(due[asked] for asked in some)) + _wait(0)
            for id_, some in unanswered.items()
            if some and all(asked in due for asked in some) and deadlines[id_] > now
        }

    def _asleep(self, batch: Batch, lost: Sequence[str], now: datetime) -> dict[str, datetime]:
        """Return what runs that sleep on purpose look after, and until when the first sleeps.

        Where one of a panel's members is asked by nobody, its opinion is lost.
        """
        if not any(sleep.unswept_until > now for sleep in batch.sleeps):
            return {}
        unanswered = self.recovery.unanswered(batch, lost)
        sleeps = {
            id_: [batch.sleep_of(id_, asked.grader_id, now) for asked in some]
            for id_, some in unanswered.items()
        }
        return {
            id_: min(sleep.unswept_until for sleep in some if sleep)
            for id_, some in sleeps.items()
            if some and all(some)
        }

    def _out_of_time(self, batch: Batch, lost: Sequence[str], now: datetime) -> list[str]:
        """Return what is past its deadline and has no recorded answer that is to be applied."""
        late = overdue(batch.headers(lost).values(), now)
        unanswered = self.recovery.unanswered(batch, late)
        recorded = self.waits.recorded(asked for some in unanswered.values() for asked in some)
        return [id_ for id_ in late if id_ not in recorded]

    def _wait_for_signals(self, batch: Batch, until: Iterable[datetime], now: datetime) -> Outcome:
        """Look again when the first signal is overdue; sooner in case something else is lost."""
        first = min(until)
        # Beside the one completion of a batch there is nothing that could be lost.
        return self._postpone(batch, first if batch.size == 1 else min(first, now + _LONGEST_WAIT))

    def _postpone(self, batch: Batch, until: datetime) -> Outcome:
        self.batches.postpone(batch.id, until)
        return "postponed"

    def _close(self, batch: Batch) -> Outcome:
        """Close a batch once all of it is published and counted."""
        self.projection.complete(batch)
        self.batches.close(batch)
        return "closed"


def _asked_once(backlog: _Backlog) -> _Backlog:
    """Have each answer asked for once, also by several threads at a time.

    One that is asked for later holds what this sweep itself has queued meanwhile.
    """
    answers = cache(backlog)
    asking: dict[tuple[Priority, str], Lock] = {}

    def asked(priority: Priority, organization_id: str) -> datetime | None:
        with asking.setdefault((priority, organization_id), Lock()):
            return answers(priority, organization_id)

    return asked


def _wait(sweeps: int) -> timedelta:
    longest = _LONGEST_WAIT if sweeps <= _HOURLY_SWEEPS else _RARE_WAIT
    return min(longest, timedelta(minutes=3 * 2 ** min(sweeps, 16)))
