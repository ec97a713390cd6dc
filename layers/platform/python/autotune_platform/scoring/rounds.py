"""Rounds of runs: one judge is asked, and verdicts are written as its judgements come."""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from autotune.protocol.completions import ReasonCode
from autotune_platform.completions.models import FIRST_SWEEP_AFTER
from autotune_platform.completions.open_batches import OpenBatches
from autotune_platform.completions.service import CompletionService
from autotune_platform.completions.sleeps import Sleep
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.judging.judge import Awaited, Judged, Judges, Remainder, Round
from autotune_platform.runs.models import RunStatus
from autotune_platform.runs.progress import MAX_ATTEMPTS, ChunkProgress
from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.scoring.resolving import PanelResolver
from autotune_platform.scoring.writing import VerdictWriter
from autotune_platform.verdicts.judgements import Judgement
from autotune_platform.verdicts.models import CompletionHeader, overdue
from autotune_platform.verdicts.service import VerdictService

_FAILING_AT_LEAST_SECONDS = 3_600
_LONGEST_UNSWEPT_SECONDS = 3_600

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
        left = left.model_copy(update={"rounds": progress.rounds + 1})
        self.recorder.after_round(left)
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
        undecided = self.verdicts.undecided_after_crash(progress.due_ids, progress)
        if usable is None:
            self._fail(progress, [*undecided, *progress.delayed_ids], "grader_missing")
            return progress.finished()
        judge = self.judges.of(usable.grader)
        round_ = Round(
            asker=progress,
            usable=usable,
            attempt=progress.attempt + 1,
            halvings=progress.suspect_attempts,
            looked_at=progress.looked_at,
            is_resumed=bool(progress.waiting_ids),
            seconds_left=seconds_left,
        )
        resumed = self._store(judge.resume(round_, undecided), {})
        waits, headers = self._keep_waiting(progress, resumed.waiting)

        stored = self.completions.load(resumed.unasked)
        self._fail_without_text(progress, [id_ for id_ in resumed.unasked if id_ not in stored])
        late = overdue(stored.values(), self.clock.now())
        self._fail(progress, late, "deadline_exceeded", attempts=progress.attempt)
        due = [stored[id_] for id_ in resumed.unasked if id_ in stored and id_ not in late]

        remainder = self._store(judge.judge(round_, due), stored)
        waits |= {
            id_: min(awaited.look_at, stored[id_].deadline)
            for id_, awaited in remainder.waiting.items()
        }
        unknown = [id_ for id_ in progress.delayed_ids if id_ not in stored]
        headers = {**stored, **headers, **self.completions.headers(unknown)}
        left = self._after(progress, remainder, headers, judged=len(due), waits=waits.values())
        left = left.waiting_for(waits, self.clock.now())
        left = self._without_late(left, headers)
        self._postpone_sweeps(left, headers)
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
        self._fail_late(progress, headers, {id_: waiting[id_].attempts for id_ in late})
        waits = {
            id_: min(waiting[id_].look_at, header.deadline)
            for id_, header in headers.items()
            if id_ not in late
        }
        return waits, {id_: headers[id_] for id_ in waits}

    def _fail_late(
        self,
        progress: ChunkProgress,
        headers: Mapping[str, CompletionHeader],
        attempts: Mapping[str, int],
    ) -> None:
        failure = Judgement(reason_code="deadline_exceeded")
        for id_, made in attempts.items():
            self.writer.write(progress, headers, {id_: failure}, attempts=made)

    def _after(
        self,
        progress: ChunkProgress,
        remainder: Remainder,
        headers: Mapping[str, CompletionHeader],
        *,
        judged: int,
        waits: Collection[datetime],
    ) -> ChunkProgress:
        """Return the run after its judge.

        A text that failed in eight passes over at least an hour, in each of which the grader
        answered others, ends ``failed``. Everything else is tried again until its deadline.

        Args:
            headers: of all that the run is not through with.
            judged: how many the judge was given.
            waits: when signals are due.
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
        return progress.after_round(
            untried=list(remainder.untried),
            failed={id_: failure.retry_after_seconds for id_, failure in failed.items()},
            now=now,
            wait_seconds=remainder.wait_seconds,
            asked=remainder.asked,
            is_down=remainder.is_down,
            is_suspect=any(failure.may_be_text for failure in failed.values()),
            others_pass=remainder.others_pass,
            has_judged=judged > left,
            reason_code=next((failure.reason_code for failure in failed.values()), None),
            seconds_left=(min(moments) - now).total_seconds() if moments else math.inf,
        )

    def _postpone_sweeps(
        self, left: ChunkProgress, headers: Mapping[str, CompletionHeader]
    ) -> None:
        """Keep the sweeper from what sleeps on purpose, and for a while from what waits.

        Not for as long as it waits: others of the batch may be lost.
        """
        sleeping: dict[str, list[str]] = defaultdict(list)
        for id_ in left.unfinished_ids:
            if id_ in headers:
                sleeping[headers[id_].batch_id].append(id_)
        waiting = {headers[id_].batch_id for id_ in left.waiting_ids if id_ in headers}
        status = RunStatus.after_round(left, self.clock.now())
        awake_at = self.clock.now() + timedelta(seconds=left.sleep_seconds)
        sleep = Sleep(
            grader_id=left.grader_id,
            run_id=left.run_id,
            panel_id=left.panel_id,
            unswept_until=awake_at + FIRST_SWEEP_AFTER,
            awake_at=awake_at,
            attempts=left.attempt,
            step=status.step,
            reason_code=left.reason_code,
        )
        self.batches.let_sleep(sleeping, sleep)
        seconds = min(left.wait_seconds, _LONGEST_UNSWEPT_SECONDS)
        self.batches.have_looked_at(waiting - sleeping.keys(), in_seconds=seconds)

    def _without_late(
        self, left: ChunkProgress, headers: Mapping[str, CompletionHeader]
    ) -> ChunkProgress:
        """Fail what would sleep beyond its deadline; return the run without it."""
        if not left.sleep_seconds:
            return left
        awake_at = self.clock.now() + timedelta(seconds=left.sleep_seconds)
        late = overdue((headers[id_] for id_ in left.unfinished_ids if id_ in headers), awake_at)
        self._fail(left, late, "deadline_exceeded", attempts=left.attempt)
        return left.without(late)

    def _fail_without_text(self, progress: ChunkProgress, completion_ids: Sequence[str]) -> None:
        """End what has no text: it expired, or is gone although nobody deleted it."""
        headers = self.completions.headers(completion_ids)
        expired = overdue(headers.values(), self.clock.now())
        self._fail(progress, expired, "deadline_exceeded", attempts=progress.attempt)
        lost = [id_ for id_ in headers if id_ not in expired]
        self._fail(progress, lost, "platform_error")

    def _fail(
        self,
        progress: ChunkProgress,
        completion_ids: Sequence[str],
        reason_code: ReasonCode,
        *,
        attempts: int | None = None,
    ) -> None:
        if not completion_ids:
            return
        failure = Judgement(reason_code=reason_code)
        headers = self.completions.headers(completion_ids)
        self.writer.write(
            progress,
            headers,
            dict.fromkeys(headers, failure),
            attempts=progress.attempt + 1 if attempts is None else attempts,
        )
