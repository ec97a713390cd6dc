"""Rounds of runs: one judge is asked, and verdicts are written as its judgements come."""

import math
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from autotune_platform.budgets.permits import CONCURRENT_CALLS, Wait
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.service import CompletionService
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.judging.judge import (
    Awaited,
    Judge,
    Judged,
    Judges,
    Remainder,
    Round,
    refused,
)
from autotune_platform.runs.parking import Parking
from autotune_platform.runs.progress import (
    MAX_ATTEMPTS,
    ROUNDS_OF_AN_EXECUTION,
    ChunkProgress,
)
from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.scoring.endings import Endings
from autotune_platform.scoring.postponing import postpone_sweeps
from autotune_platform.scoring.resolving import PanelResolver
from autotune_platform.scoring.writing import VerdictWriter
from autotune_platform.verdicts.judgements import Judgement
from autotune_platform.verdicts.models import CompletionHeader, overdue
from autotune_platform.verdicts.service import VerdictService

_FAILING_AT_LEAST_SECONDS = 3_600
_LONGEST_TURN_AHEAD_SECONDS = 7 * 86_400
# Step Functions sleeps whole seconds, and wakes a run a little early or late.
_EARLY_SECONDS = 5

LeftT = TypeVar("LeftT")


@part
class ChunkGrading:
    """Grades the completions of a run that have no verdict yet."""

    batches: OpenBatches
    completions: CompletionService
    verdicts: VerdictService
    graders: GraderDirectory
    judges: Judges
    resolver: PanelResolver
    recorder: RunRecorder
    writer: VerdictWriter
    endings: Endings
    parking: Parking
    clock: Clock = SYSTEM_CLOCK

    def grade(self, progress: ChunkProgress, *, seconds_left: Callable[[], float]) -> ChunkProgress:
        """Do one round; return what is left and how long to wait for the next.

        A panel's verdicts are written at the end of the round in which all its members have an
        opinion. What fails for a passing reason stays in the chunk until its deadline, unless
        its text is the cause; what there was no time or no permit for stays without having failed;
        what is out of time ends ``failed``.

        Args:
            seconds_left: how long this invocation may still run.
        """
        with self.verdicts.listing():
            left = self._do_round(progress, seconds_left)
            if progress.panel_id is not None:
                left = self._resolve_panel(progress, left)
        rounds = progress.rounds + 1
        is_full = rounds % ROUNDS_OF_AN_EXECUTION == 0
        left = left.model_copy(update={"rounds": rounds, "is_history_full": is_full})
        self.recorder.after_round(left)
        if progress.is_parked and (is_full or not left.is_parked):
            self.parking.leave(left)
        return left

    def _resolve_panel(self, progress: ChunkProgress, left: ChunkProgress) -> ChunkProgress:
        """Have the panel decide what is graded; return the run, waiting for people where it must.

        Also what had its opinion before: the round that wrote it may have ended there.
        """
        still_open = set(left.open_ids)
        graded = [id_ for id_ in progress.open_ids if id_ not in still_open]
        people = self.resolver.resolve(self.completions.headers(graded), run_id=progress.run_id)
        return left.also_waiting_for_people(people, self.clock.now())

    def _do_round(
        self, progress: ChunkProgress, seconds_left: Callable[[], float]
    ) -> ChunkProgress:
        usable = self.graders.get_usable(progress.grader_id)
        if usable is None:
            undecided = self.verdicts.undecided_after_crash(progress.due_ids, progress)
            self.endings.fail(progress, [*undecided, *progress.delayed_ids], "grader_missing")
            return progress.finished()
        judge = self.judges.of(usable.grader)
        round_ = Round(
            asker=progress,
            usable=usable,
            attempt=progress.attempt + 1,
            halvings=progress.suspect_attempts,
            looked_at=progress.looked_at,
            is_resumed=bool(progress.waiting_ids),
            is_expected=0 < progress.turn_at <= self.clock.unix() + _EARLY_SECONDS,
            seconds_left=seconds_left,
        )
        # Of what waits for an answer it is not known yet whether anybody is to be asked.
        if progress.waiting_ids or not progress.completion_ids:
            return self._handed_on(self._do_pass(progress, judge, round_), round_)
        permit = judge.request_permit(round_, len(progress.completion_ids))
        if isinstance(permit, Wait):
            return self._await_permit(progress, judge, round_, permit)
        with permit or nullcontext():
            left = self._do_pass(progress, judge, replace(round_, permit=permit))
        return self._handed_on(left, round_)

    def _handed_on(self, left: ChunkProgress, round_: Round) -> ChunkProgress:
        """Wake others that are parked for the grader, where the round showed that it is back.

        No more than the grader has permits for: each of them wakes as many, once it had an answer.
        """
        if left.wakes_others:
            limit = round_.grader.limits.max_concurrency or CONCURRENT_CALLS
            self.parking.wake(left.grader_id, at_most=max(2, min(limit, CONCURRENT_CALLS)))
        return left

    def _await_permit(
        self, progress: ChunkProgress, judge: Judge, round_: Round, wait: Wait
    ) -> ChunkProgress:
        """Return a run that got no permit. Of its completions only headers were read.

        What was canceled meanwhile takes no turn: one verdict is looked up, to see whether there
        are any.
        """
        due = progress.completion_ids
        if not self.verdicts.undecided(due[-1:], progress):
            decided = set(due) - set(self.verdicts.undecided(due, progress))
            progress = progress.without(decided)
        headers = self.completions.headers(progress.unfinished_ids)
        late = overdue(headers.values(), self.clock.now())
        self.endings.fail(progress, late, "deadline_exceeded", attempts=progress.attempt)
        left = progress.without(late)
        remainder = refused(wait, left.completion_ids)
        left = self._after(left, remainder, headers, judged=0, waits=(), at=(judge, round_))
        left = self.endings.without_late(left, headers, now=self.clock.now())
        postpone_sweeps(self.batches, left, headers, now=self.clock.now())
        return left

    def _do_pass(self, progress: ChunkProgress, judge: Judge, round_: Round) -> ChunkProgress:
        """Ask about what is due, as far as time and permit go."""
        undecided = self.verdicts.undecided_after_crash(progress.due_ids, progress)
        resumed = self._store(judge.resume(round_, undecided), {})
        waits, headers = self._keep_waiting(progress, resumed.waiting)

        stored = self.completions.load(resumed.unasked)
        gone = [id_ for id_ in resumed.unasked if id_ not in stored]
        self.endings.fail_without_text(progress, gone, now=self.clock.now())
        late = overdue(stored.values(), self.clock.now())
        self.endings.fail(progress, late, "deadline_exceeded", attempts=progress.attempt)
        due = [stored[id_] for id_ in resumed.unasked if id_ in stored and id_ not in late]

        remainder = self._store(judge.judge(round_, due), stored)
        waits |= {
            id_: min(awaited.look_at, stored[id_].deadline)
            for id_, awaited in remainder.waiting.items()
        }
        unknown = [id_ for id_ in progress.delayed_ids if id_ not in stored]
        headers = {**stored, **headers, **self.completions.headers(unknown)}
        left = self._after(
            progress,
            remainder,
            headers,
            judged=len(due),
            waits=waits.values(),
            at=(judge, round_),
        )
        left = left.waiting_for(waits, self.clock.now())
        left = self.endings.without_late(left, headers, now=self.clock.now())
        postpone_sweeps(self.batches, left, headers, now=self.clock.now())
        return left

    def _store(
        self, judging: Generator[Judged, None, LeftT], known: Mapping[str, CompletionHeader]
    ) -> LeftT:
        """Write verdicts as judgements come; return what the judge ends with.

        What cannot be written for one holds up no other, because their answers may be paid for.
        The first error is raised at the end.
        """
        errors: list[Exception] = []
        while True:
            try:
                judged = next(judging)
            except StopIteration as end:
                if errors:
                    raise errors[0] from None
                left: LeftT = end.value
                return left
            try:
                self.writer.apply(judged, known)
            except Exception as error:  # noqa: BLE001 - raised at the end
                errors.append(error)

    def _keep_waiting(
        self, progress: ChunkProgress, waiting: Mapping[str, Awaited]
    ) -> tuple[dict[str, datetime], Mapping[str, CompletionHeader]]:
        """Fail what is out of time; return until when the others wait, and their headers."""
        headers = self.completions.headers(waiting)
        late = overdue(headers.values(), self.clock.now())
        self.endings.fail_late(progress, headers, {id_: waiting[id_].attempts for id_ in late})
        waits = {
            id_: min(waiting[id_].look_at, header.deadline)
            for id_, header in headers.items()
            if id_ not in late
        }
        return waits, {id_: headers[id_] for id_ in waits}

    def _after(
        self,
        progress: ChunkProgress,
        remainder: Remainder,
        headers: Mapping[str, CompletionHeader],
        *,
        judged: int,
        waits: Collection[datetime],
        at: tuple[Judge, Round],
    ) -> ChunkProgress:
        """Return the run after its judge.

        A text that failed in eight passes over at least an hour, in each of which the grader
        answered others, ends ``failed``. Everything else is tried again until its deadline.

        Args:
            headers: of all that the run is not through with.
            judged: how many the judge was given.
            waits: when signals are due.
            at: the judge and the round, for reserving a turn for what a full limit left untried.
        """
        now, failed = self.clock.now(), remainder.failed
        others = remainder.others_pass or progress.others_passed
        elapsed = now.timestamp() - (progress.suspect_since or now.timestamp())
        if (
            others
            and progress.suspect_attempts + 1 >= MAX_ATTEMPTS
            and elapsed >= _FAILING_AT_LEAST_SECONDS
        ):
            judgements = {
                id_: Judgement(reason_code=failure.reason_code)
                for id_, failure in failed.items()
                if failure.may_be_text
            }
            self.writer.write(progress, headers, judgements, attempts=progress.attempt + 1)
            failed = {id_: one for id_, one in failed.items() if id_ not in judgements}
        unfinished = [*remainder.untried, *failed, *progress.delayed_ids]
        moments = [headers[id_].deadline for id_ in unfinished if id_ in headers] + [*waits]
        left = len(remainder.untried) + len(remainder.failed) + len(remainder.waiting)
        seconds_left = (min(moments) - now).total_seconds() if moments else math.inf
        wait_seconds, turn_at = remainder.wait_seconds, None
        permit = at[1].permit
        nothing_to_ask = judged == 0 and permit is not None and not permit.circuit.openings
        if remainder.hold_seconds is not None and remainder.untried:
            judge, round_ = at
            seconds_left = min(seconds_left, _LONGEST_TURN_AHEAD_SECONDS)
            until = now.timestamp() + seconds_left
            turn_at = judge.reserve_turn(round_, remainder, until=until)
            if turn_at is None:
                # Others have turns until the deadline. A place may become free, and it may not.
                wait_seconds = max(wait_seconds, seconds_left / 2)
        return progress.after_round(
            untried=list(remainder.untried),
            failed={id_: failure.retry_after_seconds for id_, failure in failed.items()},
            now=now,
            wait_seconds=wait_seconds,
            asked=remainder.asked,
            is_down=remainder.is_down,
            is_suspect=any(failure.may_be_text for failure in failed.values()),
            others_pass=remainder.others_pass,
            has_judged=judged > left,
            is_back=remainder.is_back,
            is_well=remainder.has_answer or (nothing_to_ask and not unfinished),
            reason_code=next(
                (failure.reason_code for failure in failed.values()), remainder.down_with
            ),
            seconds_left=seconds_left,
            turn_at=turn_at,
        )
