"""Having a chunk of completions graded: one round of calls, verdicts written as they come."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Self

from aws_lambda_powertools import Logger

from autotune.protocol.completions import ReasonCode
from autotune.protocol.grading import (
    GradedCompletion,
)
from autotune_platform.budgets.permits import Admission, TurnRefusedError, Wait
from autotune_platform.completions.models import Completion
from autotune_platform.completions.service import CompletionService
from autotune_platform.gateway.calls import GraderCallError
from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.gateway.models import Grader, UsableGrader
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.judging.builtin.judge import judge_builtin
from autotune_platform.judging.http.answers import read_answer
from autotune_platform.judging.http.deferring import Deferrals, RoundCalls
from autotune_platform.judging.http.hedging import Hedging
from autotune_platform.judging.http.questions import asked_about, packs_of, question
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runtime.environment import GradingEnvironment
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.scoring.deciding import Decisions
from autotune_platform.scoring.resolving import Settling
from autotune_platform.verdicts.judgements import Judgement
from autotune_platform.verdicts.models import CompletionHeader, overdue
from autotune_platform.verdicts.service import VerdictService

logger = Logger()

CALL_TIMEOUT_SECONDS = 30
"""Longest that one call to a grader may take, from connecting to the last byte of its answer."""

MAX_ATTEMPTS = 8
"""Passes in which a completion may fail for a passing reason before it ends ``failed``."""

_CONCURRENT_CALLS = 8
_LONGEST_UNSWEPT_SECONDS = 3_600


class ChunkGrading:
    """Grades the completions of a run that have no verdict yet."""

    def __init__(
        self,
        *,
        completions: CompletionService,
        verdicts: VerdictService,
        graders: GraderDirectory,
        gateway: GraderGateway,
        admission: Admission,
        settling: Settling,
        recorder: RunRecorder,
        decisions: Decisions,
        deferrals: Deferrals,
    ) -> None:
        self._completions = completions
        self._verdicts = verdicts
        self._graders = graders
        self._gateway = gateway
        self._admission = admission
        self._settling = settling
        self._recorder = recorder
        self._decisions = decisions
        self._deferrals = deferrals

    @classmethod
    def from_environment(cls, environment: GradingEnvironment) -> Self:
        """Return the service on the tables and keys that the environment names."""
        decisions = Decisions.from_environment(environment)
        return cls(
            completions=CompletionService.from_environment(environment),
            verdicts=VerdictService.from_environment(environment),
            graders=GraderDirectory.from_environment(environment),
            gateway=GraderGateway.from_environment(environment),
            admission=Admission.from_environment(environment),
            settling=Settling.from_environment(environment),
            recorder=RunRecorder.on_table(environment.completions_table),
            decisions=decisions,
            deferrals=Deferrals.from_environment(environment, decisions=decisions),
        )

    def grade(self, progress: ChunkProgress, *, seconds_left: Callable[[], float]) -> ChunkProgress:
        """Do one round; return what is left and how long to wait for the next.

        A panel's verdicts are written at the end of the round in which all its members have spoken.
        What fails for a passing reason stays in the chunk until ``MAX_ATTEMPTS``; what there was no
        time or no leave for stays without having failed; what is out of time ends ``failed``.

        Args:
            seconds_left: how long this invocation may still run.
        """
        left = self._do_round(progress, seconds_left)
        if progress.panel_id is not None:
            left = self._settle(progress, left)
        left = left.model_copy(update={"rounds": progress.rounds + 1})
        self._recorder.after_round(left)
        return left

    def _settle(self, progress: ChunkProgress, left: ChunkProgress) -> ChunkProgress:
        """Have the panel decide what is graded; return the run, waiting for people where it must.

        Also what had its opinion before: the round that wrote it may have ended there.
        """
        still_open = set(left.open_ids)
        graded = [id_ for id_ in progress.open_ids if id_ not in still_open]
        people = self._settling.settle(self._completions.headers(graded), run_id=progress.run_id)
        return left.also_waiting_for_people(people)

    def _do_round(
        self, progress: ChunkProgress, seconds_left: Callable[[], float]
    ) -> ChunkProgress:
        usable = self._graders.get_usable(progress.grader_id)
        undecided = self._verdicts.undecided(progress.due_ids, progress)
        if usable is None:
            self._fail(progress, [*undecided, *progress.delayed_ids], "grader_missing")
            return progress.finished()
        if usable.grader.kind == "human":
            return progress.finished()  # nobody is called: settling asks the person
        resumed = self._deferrals.resume(progress, usable, undecided)
        waiting = resumed.unasked
        stored = self._completions.load(waiting)
        self._fail_without_text(progress, [id_ for id_ in waiting if id_ not in stored])

        late = overdue(stored.values(), datetime.now(UTC))
        self._fail(progress, late, "deadline_exceeded", attempts=progress.attempt)
        due = [stored[id_] for id_ in waiting if id_ in stored and id_ not in late]

        calls = self._deferrals.of_round(progress, usable, stored)
        left = self._ask_about(due, progress, usable, seconds_left, calls)
        left = left.waiting_for({**resumed.waits, **calls.waits})
        unknown = [id_ for id_ in left.unfinished_ids if id_ not in stored]
        headers = {**stored, **resumed.headers, **self._completions.headers(unknown)}
        left = self._without_late(left, headers)
        self._postpone_sweeps(left, headers)
        return left

    def _postpone_sweeps(
        self, left: ChunkProgress, headers: Mapping[str, CompletionHeader]
    ) -> None:
        """Keep the sweeper from what sleeps on purpose, and for a while from what waits.

        Not for as long as it waits: others of the batch may be lost.
        """
        sleeping = {headers[id_].batch_id for id_ in left.unfinished_ids if id_ in headers}
        waiting = {headers[id_].batch_id for id_ in left.waiting_ids if id_ in headers}
        self._completions.let_sleep(sleeping, seconds=left.sleep_seconds)
        seconds = min(left.wait_seconds, _LONGEST_UNSWEPT_SECONDS)
        self._completions.have_looked_at(waiting - sleeping, in_seconds=seconds)

    def _ask_about(
        self,
        due: Sequence[Completion],
        progress: ChunkProgress,
        usable: UsableGrader,
        seconds_left: Callable[[], float],
        calls: RoundCalls,
    ) -> ChunkProgress:
        """Call the grader as often as it may be called now, and decide what its answers say."""
        if usable.grader.kind == "builtin":
            return self._judge_here(due, progress, usable.grader, seconds_left)
        packs = list(packs_of(map(asked_about, due), usable.grader.capabilities.max_batch_size))
        if not packs:
            return progress.after_round(untried=[], failed={})
        admitted = self._admission.admit(
            usable.grader, calls=min(len(packs), _CONCURRENT_CALLS), seconds_left=seconds_left
        )
        if isinstance(admitted, Wait):
            return progress.after_round(
                untried=[completion.id for completion in due],
                failed={},
                wait_seconds=admitted.seconds,
                asked=False,
            )
        headers = {completion.id: completion for completion in due}
        longest_call = CALL_TIMEOUT_SECONDS + 5 + admitted.longest_pause_seconds
        failed: dict[str, int] = {}
        untried: list[str] = []

        def grade_pack(pack: Sequence[GradedCompletion]) -> None:
            if seconds_left() < longest_call:
                untried.extend(completion.id for completion in pack)
                return
            try:
                with admitted.turn():
                    judgements = hedging.call(
                        lambda seconds: self._ask(usable, pack, seconds, calls),
                        timeout_seconds=CALL_TIMEOUT_SECONDS,
                        late=lambda said: self._decisions.count_late(progress, said.values()),
                    )
            except TurnRefusedError:
                untried.extend(completion.id for completion in pack)
                return
            except GraderCallError as error:
                logger.warning(
                    "grader call failed",
                    grader_id=usable.grader.id,
                    reason_code=error.reason_code,
                    status=error.status,
                    completions=len(pack),
                )
                if error.retryable and progress.attempt + 1 < MAX_ATTEMPTS:
                    wait = error.retry_after_seconds
                    failed.update((completion.id, wait) for completion in pack)
                    return
                failure = Judgement(reason_code=error.reason_code)
                judgements = {completion.id: failure for completion in pack}
            self._decisions.decide(
                progress,
                headers,
                judgements,
                attempts=progress.attempt + 1,
                share_reasoning=usable.grader.share_reasoning,
            )

        # Of two calls that are answered later, one would be work for nothing.
        hedge_after_ms = None if calls.deferrable else usable.grader.limits.hedge_after_ms
        hedging = Hedging(admitted, after_ms=hedge_after_ms)
        with admitted, hedging:
            in_parallel(grade_pack, packs, at_most=admitted.concurrency)
        return progress.after_round(
            untried=untried,
            failed=failed,
            wait_seconds=admitted.wait_seconds(),
            asked=len(untried) < len(due),
        )

    def _judge_here(
        self,
        due: Sequence[Completion],
        progress: ChunkProgress,
        grader: Grader,
        seconds_left: Callable[[], float],
    ) -> ChunkProgress:
        judgements = judge_builtin(grader, due, seconds_left=seconds_left)
        headers = {completion.id: completion for completion in due}
        self._decisions.decide(progress, headers, judgements, attempts=progress.attempt + 1)
        untried = [id_ for id_ in headers if id_ not in judgements]
        return progress.after_round(untried=untried, failed={})

    def _without_late(
        self, left: ChunkProgress, headers: Mapping[str, CompletionHeader]
    ) -> ChunkProgress:
        """Fail what would sleep beyond its deadline; return the run without it."""
        if not left.sleep_seconds:
            return left
        awake_at = datetime.now(UTC) + timedelta(seconds=left.sleep_seconds)
        late = overdue((headers[id_] for id_ in left.unfinished_ids if id_ in headers), awake_at)
        self._fail(left, late, "deadline_exceeded", attempts=left.attempt)
        return left.without(late)

    def _ask(
        self,
        usable: UsableGrader,
        pack: Sequence[GradedCompletion],
        seconds: float,
        calls: RoundCalls,
    ) -> dict[str, Judgement]:
        """Return what the grader says now; nothing where it answers later."""
        path, request = question(usable, pack)
        completion_ids = [completion.id for completion in pack]
        body, call = calls.open(path, request, completion_ids)
        answer = self._gateway.ask(
            usable,
            path,
            body=body,
            request_id=request.request_id,
            timeout_seconds=seconds,
            deferrable=call is not None,
        )
        if call is not None and answer.deferred:
            calls.defer(call, answer)
            return {}
        return read_answer(path, answer, completion_ids)

    def _fail_without_text(self, progress: ChunkProgress, completion_ids: Sequence[str]) -> None:
        """End what has no text: it expired, or is gone although nobody deleted it."""
        headers = self._completions.headers(completion_ids)
        expired = overdue(headers.values(), datetime.now(UTC))
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
        headers = self._completions.headers(completion_ids)
        self._decisions.decide(
            progress,
            headers,
            dict.fromkeys(headers, failure),
            attempts=progress.attempt + 1 if attempts is None else attempts,
        )
