"""Black-box graders over HTTP: asked in packs and within their limits; they answer now or later."""

import hashlib
import math
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import timedelta

from autotune.protocol.grading import BatchScoreRequest, GradedCompletion, ScoreRequest
from autotune.protocol.ids import capability_id
from autotune_platform.budgets.permit import Permit
from autotune_platform.budgets.permits import CONCURRENT_CALLS, Permits, Wait
from autotune_platform.completions.models import Completion
from autotune_platform.gateway.calls import Path
from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.gateway.traced_calls import traced_call
from autotune_platform.judging.http.answers import read_answer, read_deferral
from autotune_platform.judging.http.callbacks import Callbacks
from autotune_platform.judging.http.calls import Asked, Call
from autotune_platform.judging.http.hedging import Hedging
from autotune_platform.judging.http.questions import asked_about, packs_of, question
from autotune_platform.judging.http.repository import CallRepository
from autotune_platform.judging.http.round_calls import RoundCalls, awaited
from autotune_platform.judging.judge import (
    Awaited,
    Judged,
    Remainder,
    Resumed,
    Round,
    refused,
)
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.traces import prepare
from autotune_platform.verdicts.judgements import Judgement


@part
class HttpJudge:
    """Asks graders over HTTP.

    Args:
        api_url: where graders find their callbacks.
    """

    gateway: GraderGateway
    permits: Permits
    calls: CallRepository
    callbacks: Callbacks
    api_url: str
    clock: Clock = SYSTEM_CLOCK

    def resume(self, round_: Round, undecided: Sequence[str]) -> Generator[Judged, None, Resumed]:
        """Yield answers that were recorded, and failures for calls that expired.

        An answer is found here only if the function that recorded it died before its verdicts.
        """
        if not (round_.grader.capabilities.supports_async or round_.is_resumed):
            return Resumed(unasked=undecided)
        asker = round_.asker
        found = self.calls.awaited(
            Asked(id_, asker.grader_id, asker.grader_version, asker.generation) for id_ in undecided
        )
        asked = {id_: call for (id_, *_), call in found.items()}
        waiting: dict[str, Awaited] = {}
        for call in {call.id: call for call in asked.values()}.values():
            of_call = [id_ for id_, one in asked.items() if one.id == call.id]
            current = self.callbacks.current(call)
            if current.state == "answered":
                yield from self.callbacks.judged(current, round_.grader)
            elif current.state == "expired":
                yield self.callbacks.expired(current, of_call, asker)
            else:
                if current.run_id != asker.run_id:
                    self.calls.take_over(current, asker.run_id)
                waiting |= awaited(current, of_call, self.clock.now())
        return Resumed(unasked=[id_ for id_ in undecided if id_ not in asked], waiting=waiting)

    def request_permit(self, round_: Round, completions: int) -> Permit | Wait:
        """Return a permit for as many calls as so many completions need."""
        packs = math.ceil(completions / _most_in_a_pack(round_))
        return self.permits.request(
            round_.grader.id,
            round_.grader.limits,
            calls=min(packs, CONCURRENT_CALLS),
            seconds_left=round_.seconds_left,
            is_expected=round_.is_expected,
        )

    def reserve_turn(self, round_: Round, remainder: Remainder, *, until: float) -> float | None:
        """Reserve a turn as long as what is untried needs calls."""
        assert remainder.hold_seconds is not None, "a limit is full"
        return self.permits.reserve_turn(
            round_.grader.id,
            round_.grader.limits,
            calls=math.ceil(len(remainder.untried) / _most_in_a_pack(round_)),
            hold_seconds=remainder.hold_seconds,
            not_before=self.permits.clock.unix() + remainder.wait_seconds,
            until=until,
        )

    def judge(
        self, round_: Round, completions: Sequence[Completion]
    ) -> Generator[Judged, None, Remainder]:
        """Ask in packs, as many as the permit allows now; yield each pack's judgements."""
        grader = round_.grader
        packs = list(packs_of(map(asked_about, completions), _most_in_a_pack(round_)))
        if not packs:
            return Remainder(asked=False)
        permit = round_.permit or self.request_permit(round_, len(completions))
        if isinstance(permit, Wait):
            return refused(permit, [completion.id for completion in completions])
        # Of two calls that are answered later, the work for one would be lost.
        hedge_after_ms = (
            None if grader.capabilities.supports_async else grader.limits.hedge_after_ms
        )
        calls = RoundCalls(
            judge=self,
            round_=round_,
            permit=permit,
            hedging=Hedging(permit, after_ms=hedge_after_ms),
            completions={one.id: one for one in completions},
        )
        prepare()
        errors: list[BaseException] = []
        with permit, calls.hedging, ThreadPoolExecutor(permit.concurrency) as threads:
            for done in as_completed([threads.submit(calls.ask, pack) for pack in packs]):
                if (error := done.exception()) is not None:
                    errors.append(error)
                elif judged := done.result():
                    yield judged
        yield from calls.late
        if errors:
            raise errors[0]
        return Remainder(
            untried=calls.untried,
            failed=calls.failed,
            waiting=calls.waiting,
            wait_seconds=permit.wait_seconds(),
            asked=len(calls.untried) < len(completions),
            is_down=permit.is_down(),
            down_with=permit.circuit.reason_code if permit.is_down() else None,
            hold_seconds=permit.hold_seconds,
            others_pass=permit.others_pass(round_.looked_at),
            has_answer=permit.has_answer(),
            is_back=permit.is_back,
        )

    def call(
        self, round_: Round, pack: Sequence[GradedCompletion], batch_ids: list[str], seconds: float
    ) -> tuple[Mapping[str, Judgement], Call | None]:
        """Return the judgements that the grader returns now, or the call that it will answer later.

        Raises:
            GraderCallError: it gives no answer, or a bad one.
        """
        path, request = question(round_.usable, pack)
        completion_ids = [completion.id for completion in pack]
        body, call = self._open(round_, path, request, completion_ids, batch_ids)
        with traced_call(
            round_.grader.id,
            request_id=request.request_id,
            attempt=round_.attempt,
            run_id=round_.asker.run_id,
            # One text: CloudWatch reads 200 fields of a line, and each item of a list is one.
            completion_ids=" ".join(completion_ids),
        ) as traced:
            answer = self.gateway.ask(
                round_.usable,
                path,
                body=body,
                request_id=request.request_id,
                timeout_seconds=seconds,
                deferrable=call is not None,
            )
            if call is None or not answer.deferred:
                return read_answer(path, answer, completion_ids), None
            traced.outcome = "deferred"
            traced.logged["estimated_seconds"] = read_deferral(answer).estimated_seconds
        self.calls.add_waits(call)
        return {}, call

    def _open(
        self,
        round_: Round,
        path: Path,
        request: ScoreRequest | BatchScoreRequest,
        completion_ids: list[str],
        batch_ids: list[str],
    ) -> tuple[bytes, Call | None]:
        """Return the body of a request, and the call that is stored for it if it is deferrable.

        The call is stored before the grader is asked, because the callback may come before the 202.
        """
        if not round_.grader.capabilities.supports_async:
            return _json(request), None
        call_id = capability_id("call")
        url = f"{self.api_url}/api/v1/callbacks/{call_id}"
        body = _json(request.model_copy(update={"callback_url": url}))
        settings, asker = round_.grader.async_settings, round_.asker
        now, beat = self.clock.now(), settings.heartbeat_seconds
        call = Call(
            id=call_id,
            organization_id=asker.organization_id,
            grader_id=asker.grader_id,
            grader_version=asker.grader_version,
            panel_id=asker.panel_id,
            generation=asker.generation,
            run_id=asker.run_id,
            completion_ids=completion_ids,
            batch_ids=batch_ids,
            path=path,
            request_id=request.request_id,
            request_sha256=hashlib.sha256(body).hexdigest(),
            attempts=round_.attempt,
            created_at=now,
            due_at=now + timedelta(seconds=settings.timeout_seconds),
            heartbeat_seconds=beat,
            heartbeat_by=now + timedelta(seconds=beat) if beat else None,
        )
        self.calls.add(call)
        return body, call


def _most_in_a_pack(round_: Round) -> int:
    return max(1, round_.grader.capabilities.max_batch_size >> round_.halvings)


def _json(request: ScoreRequest | BatchScoreRequest) -> bytes:
    return request.model_dump_json(by_alias=True, exclude_none=True).encode()
