"""One step of a run's execution: what has ended is stored, and as much is begun as there is room.

Pairs of a sample and a grader are begun in chunks. Money for a chunk is set aside in the write that
stores it, before its rows are enqueued, and given back in the write that counts what came of them:
what is spent and what is set aside are never above the run's cap, whatever is killed. After steps
that were killed, one goes row by row, so that what kills them is found (``guarding``).

Ceiling: one step at a time works on a run, some hundred judgements a second.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from aws_lambda_powertools import Logger

from autotune.protocol.deck_runs import DeckRunStatus, DeckRunStop, DeckRunWait
from autotune_platform.decks.runs.asking import Asking, Planned, RunAsking, Wanted
from autotune_platform.decks.runs.collecting import Draft, RunCollecting, new_chunk
from autotune_platform.decks.runs.guarding import (
    ChangedError,
    RunGuard,
    as_begun,
    as_ended,
    as_read,
)
from autotune_platform.decks.runs.looks import is_due, next_look
from autotune_platform.decks.runs.models import MOST_KILLERS, REST, Asked, Chunk, Run
from autotune_platform.decks.runs.pairs import NextPairs, pair_key, place_of
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.decks.runs.starting import START_WITHIN
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import TooManyOpenRowsError, UnavailableError
from autotune_platform.runtime.parts import part

logger = Logger()

PAIRS_TOGETHER = 50
"""Judgements of one chunk: their rows are enqueued together, and one write pays for them."""

MOST_UNDER_WAY = 10_000
"""Judgements of one run that are under way at most; a job of a provider has as many rows."""

_RESERVED_SECONDS = 45
# A store that hangs is an error before the function's time is over, and no kill.
_RESERVED_FOR_A_ROW_SECONDS = 180
_FULL_SECONDS = 60
_NOBODY_SECONDS = 120
_CANCELING_SECONDS = 60


@dataclass(frozen=True)
class RunStep:
    """Where an execution stands: whether it is over, and how long it waits before it goes on.

    Attributes:
        measures: whether the run has ended and replayed an edit, which is measured then.
    """

    done: bool
    wait_seconds: int = 1
    measures: bool = False


@dataclass
class _Step:
    """What one step of a run is at."""

    run: Run
    asking: Asking
    seconds_left: Callable[[], float]
    careful: bool = False
    wait_seconds: int = 0
    waiting_because: DeckRunWait | None = None

    @property
    def has_time(self) -> bool:
        reserved = _RESERVED_FOR_A_ROW_SECONDS if self.careful else _RESERVED_SECONDS
        return self.seconds_left() > reserved

    def wait(self, seconds: int, because: DeckRunWait | None = None) -> None:
        """Have the next step come so late at least."""
        self.wait_seconds = max(self.wait_seconds, seconds)
        self.waiting_because = because or self.waiting_because


@part
class RunWork:
    """Goes on with runs."""

    repository: RunRepository
    pairs: NextPairs
    asking: RunAsking
    collecting: RunCollecting
    guard: RunGuard
    clock: Clock = SYSTEM_CLOCK

    def advance(
        self, deck_id: str, run_id: str, *, redrive: int, seconds_left: Callable[[], float]
    ) -> RunStep:
        """Do what there is to do; an execution from before the latest redrive has nothing to do."""
        run = self.repository.get(deck_id, run_id)
        if run is None or not run.is_open or run.redrive != redrive:
            # A step that was killed behind the end of its run comes again, and measures.
            return RunStep(done=True, measures=run is not None and run.is_ended_replay)
        try:
            with self.guard.taking_back(run):
                return self._go_on(run, seconds_left)
        except ChangedError:
            return RunStep(done=False)

    def _go_on(self, run: Run, seconds_left: Callable[[], float]) -> RunStep:
        due_at = self.clock.now() + timedelta(seconds=seconds_left()) + START_WITHIN
        asking = self.asking.begin(run)
        if asking is None:
            return self._waiting(run, _NOBODY_SECONDS, "organization_suspended")
        run = self._changed(run, {"due_at": due_at, **as_begun(run)})
        step = _Step(run, asking, seconds_left, careful=run.is_careful)
        if self._has_seen_to_all(step):
            if over := self._has_killers(step.run):
                return over
            while step.has_time and not step.wait_seconds and self._begin_more(step):
                pass
        if not step.has_time:
            # What comes no further now is no lost step.
            self._changed(step.run, as_ended(careful=step.careful))
            return RunStep(done=False)
        chunks = self.repository.chunks(step.run)
        if not chunks and (ended := self._ended(step)):
            return ended
        because = step.waiting_because or self.asking.waits_for(step.run, chunks)
        if because is None and self._is_stuck(step.run, chunks):
            logger.warning("rest of a run given up", run_id=step.run.id, left=step.run.pending)
            self._changed(step.run, {"given_up_at": self.clock.now(), **as_ended()})
            return RunStep(done=False)
        return self._waiting(step.run, self._seconds(step, chunks), because)

    def _has_seen_to_all(self, step: _Step) -> bool:
        """Go on with all that is under way; return whether there was time for that."""
        last_look, now = step.run.looked_at, self.clock.now()
        # What a step was killed at before comes last: all others have their results first.
        for suspected in (False, True) if step.careful else (None,):
            for chunk in self.repository.chunks(step.run):
                if not step.has_time:
                    return False
                self._see_to(step, chunk, last_look, suspected)
        step.run = self._changed(step.run, {"looked_at": now})
        return True

    def _has_killers(self, run: Run) -> RunStep | None:
        """Begin nothing more of a run that kills ever more steps, or end it at last."""
        if run.killers < MOST_KILLERS:
            return None
        now = self.clock.now()
        if not run.ends_early:
            logger.error("run given up", run_id=run.id, killers=run.killers)
            self._changed(run, {"failing_at": now, **as_ended()})
            return RunStep(done=False)
        if run.killers < 2 * MOST_KILLERS:
            return None
        logger.error("run failed", run_id=run.id, killers=run.killers)
        failed = self._changed(run, run.changes_of_failure(now))
        self.repository.forget(failed)
        return RunStep(done=True, measures=failed.is_ended_replay)

    def _is_stuck(self, run: Run, chunks: Sequence[Chunk]) -> bool:
        """Return whether nothing is answered any more of the calls that are left of a run.

        Jobs are not given up: a provider may take a day for one. Nor are calls that wait for money
        or for a connection, which somebody sees to.
        """
        since = run.progressed_at or run.created_at
        if run.position < run.expected or run.given_up_at or run.ends_early:
            return False
        return self.clock.now() - since >= REST and self.asking.are_calls(chunks)

    def _see_to(
        self, step: _Step, chunk: Chunk, last_look: datetime, suspected: bool | None
    ) -> None:
        """Go on with a chunk: have its rows asked, or store what came of them.

        Args:
            suspected: whether only those are looked at, one by one, at which a step was killed
                before, or only the others; None for all, together.
        """
        if chunk.erasing:
            self.collecting.erase(step.run, chunk)
            chunk = chunk.model_copy(update={"erasing": (), "revision": chunk.revision + 1})
            if not chunk.left:
                return
        is_canceled = step.run.ends_early
        is_given_up = step.run.given_up_at is not None
        is_over = is_canceled or is_given_up or self.clock.now() >= step.run.deadline
        if chunk.state == "reserved":
            if is_over and not self.asking.was_begun(step.run, chunk):
                self._drop(step, chunk)
            elif not step.wait_seconds:
                self._order(step, chunk)
            return
        if is_canceled or is_given_up:
            self.asking.cancel(chunk)
        elif not is_due(chunk.asked_at, last_look, self.clock.now()):
            return
        if suspected is None:
            self._collect(step, chunk, again=not is_over)
        else:
            self._collect_each(step, chunk, again=not is_over, suspected=suspected)

    def _collect_each(self, step: _Step, chunk: Chunk, *, again: bool, suspected: bool) -> None:
        """Store what has ended of a chunk row by row, each noted before it is read."""
        for one in self.asking.ended(chunk.left):
            if (one.row_id in step.run.suspects) == suspected and step.has_time:
                self._note(step, one.row_id)
                chunk = self._collect(step, chunk, again=again, rows=[one])

    def _collect(
        self, step: _Step, chunk: Chunk, *, again: bool, rows: Sequence[Asked] | None = None
    ) -> Chunk:
        """Store what has ended of a chunk; return the chunk after that."""
        after = self.collecting.collect(step.asking, step.run, chunk, again=again, rows=rows)
        if after is None:
            raise ChangedError
        step.run = after.run
        return after.chunk

    def _note(self, step: _Step, key: str) -> None:
        """Note that a row is about to be read; one that is not read any more needs no note."""
        if not step.run.is_killer(key):
            step.run = self.guard.note(step.run, key)

    def _order(self, step: _Step, chunk: Chunk) -> None:
        """Enqueue the rows of a chunk, and note that they are."""
        if step.careful:
            self._try_each(step, chunk)
        try:
            self.asking.order(step.asking, step.run, chunk)
        except TooManyOpenRowsError:
            step.wait(_FULL_SECONDS, "open_requests")
            return
        except UnavailableError as error:
            step.wait(error.retry_after_seconds or 1)
            return
        asked = {
            "state": "asked",
            "rows": None,
            "asked_at": self.clock.now(),
            "revision": chunk.revision + 1,
        }
        if not self.repository.change_chunk(step.run, chunk, chunk.model_copy(update=asked)):
            raise ChangedError

    def _try_each(self, step: _Step, chunk: Chunk) -> None:
        """Read what the rows of a chunk are to ask, each by itself: who is killed has it noted."""
        for one in chunk.left:
            if not step.run.is_killer(one.row_id):
                self._note(step, one.row_id)
                self.asking.inputs(step.asking, step.run, [one])
        step.run = self.guard.release(step.run)

    def _drop(self, step: _Step, chunk: Chunk) -> None:
        """Give up a chunk of which no row is stored."""
        run = step.run
        gone = chunk.model_copy(update={"left": (), "revision": chunk.revision + 1})
        changes = {
            "reserved": run.reserved - chunk.reserved,
            "counts": run.counts.plus("canceled", len(chunk.left)),
        }
        step.run = self._changed(run, changes, [self.repository.changed(run, chunk, gone)])

    def _begin_more(self, step: _Step) -> bool:
        """Begin the next judgements; return whether there may be more to begin."""
        run = step.run
        if run.ends_early or self.clock.now() >= run.deadline:
            return False
        under_way = run.position - run.counts.decided
        together = 1 if step.careful else PAIRS_TOGETHER
        wanted = self.pairs.next(run, min(together, MOST_UNDER_WAY - under_way))
        if step.careful and wanted:
            self._note(step, pair_key(wanted[0]))
        return self._begin(step, wanted) if wanted else False

    def _begin(self, step: _Step, wanted: Sequence[Wanted]) -> bool:
        """Begin some judgements as far as there is room; return whether all of them are."""
        run = step.run
        killers = {one for one in wanted if run.is_killer(pair_key(one))}
        wanted = self.asking.within_memory(run, wanted)
        known = {} if run.repeat else self.pairs.known(run, wanted)
        unknown = [one for one in wanted if place_of(run, one) not in known and one not in killers]
        plans = dict(zip(unknown, self.asking.plan(step.asking, run, unknown), strict=True))
        if step.careful and not killers:
            run = step.run = self.guard.release(run)
        counts, room, taken = run.counts, run.room, 0
        planned: list[Planned] = []
        drafts: list[Draft] = []
        for one in wanted:
            plan = plans.get(one)
            if one in killers:
                drafts.append(Draft.of_killer(one))
            elif plan is None:
                counts = counts.plus_known(known[place_of(run, one)])
            elif not isinstance(plan, Planned):
                drafts.append(Draft.of(plan))
            elif plan.asked.most <= room:
                room -= plan.asked.most
                planned.append(plan)
            else:
                break
            taken += 1
        if not taken:
            return False
        counts = self.collecting.store(run, drafts, counts) if drafts else counts
        changes: dict[str, Any] = {
            "position": run.position + taken,
            "counts": counts,
            "lost": 0,
            "progressed_at": self.clock.now(),
            "killers": run.killers + len(killers.intersection(wanted[:taken])),
            **as_read(run, *(pair_key(one) for one in wanted[:taken])),
        }
        if not planned:
            step.run = self._changed(run, changes)
            return taken == len(wanted)
        chunk = new_chunk(run, planned, self.clock)
        changes |= {"chunks": chunk.number, "reserved": run.reserved + chunk.reserved}
        step.run = self._changed(run, changes, [self.repository.added(run, chunk)])
        self._order(step, chunk)
        return taken == len(wanted)

    def _ended(self, step: _Step) -> RunStep | None:
        """End a run of which nothing is under way, unless it is to be waited for more."""
        run = step.run
        because: DeckRunStop | None = None
        status: DeckRunStatus = "completed"
        if run.cancel_requested_at is not None:
            status = "canceled"
        elif run.failing_at is not None:
            status = "failed"
        elif run.position < run.expected:
            if step.wait_seconds:
                return None
            status = "stopped"
            because = "deadline" if self.clock.now() >= run.deadline else "cap"
        changes = {
            "status": status,
            "stopped_because": because,
            "waiting_because": None,
            "counts": run.counts.plus("failed" if status == "failed" else "canceled", run.pending),
            "ended_at": self.clock.now(),
        }
        ended = self._changed(run, changes)
        self.repository.forget(ended)
        logger.info("run ended", run_id=run.id, status=status, spent=run.spent)
        return RunStep(done=True, measures=ended.is_ended_replay)

    def _seconds(self, step: _Step, chunks: Sequence[Chunk]) -> int:
        """Return how long to wait for the next step."""
        now = self.clock.now()
        looks = [next_look(one.asked_at, now) for one in chunks if one.state == "asked"]
        waits = [math.ceil((look - now).total_seconds()) for look in looks]
        if step.run.ends_early or step.run.given_up_at is not None:
            waits.append(_CANCELING_SECONDS)
        if step.wait_seconds:
            waits.append(step.wait_seconds)
        return max(1, min(waits, default=1))

    def _waiting(self, run: Run, seconds: int, because: DeckRunWait | None) -> RunStep:
        due_at = self.clock.now() + timedelta(seconds=seconds) + START_WITHIN
        # Of a step that was killed before this one the next that is begun makes a suspicion.
        waiting = {"waiting_because": because, "due_at": due_at, "steps_begun": 0}
        self._changed(run, waiting)
        return RunStep(done=False, wait_seconds=seconds)

    def _changed(self, run: Run, changes: Mapping[str, Any], others: Sequence[Any] = ()) -> Run:
        """Store changes of a run and return it.

        Raises:
            ChangedError: it is not any more as it was read.
        """
        after = run.model_copy(update={**changes, "revision": run.revision + 1})
        if not self.repository.change(run, after, others):
            raise ChangedError
        return after
