"""What graders send later: whether it proves to be theirs, and what it says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from aws_lambda_powertools import Logger

from autotune.protocol.callbacks import HeartbeatRequest
from autotune.protocol.limits import MAX_GRADER_RESPONSE_BYTES, MAX_GRADER_RESPONSE_VALUES
from autotune.protocol.problems import FieldProblem, LimitProblem
from autotune.protocol.signing import SignatureError, verify_grader_callback
from autotune_platform.gateway.calls import GraderAnswer, GraderCallError
from autotune_platform.gateway.models import Grader
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.judging.http.answers import read_answer
from autotune_platform.judging.http.calls import Call
from autotune_platform.judging.http.repository import CallRepository
from autotune_platform.judging.judge import Asker, Judged
from autotune_platform.runtime.bounded_json import read_model
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    InvalidRequestError,
    NotFoundError,
    RequestTooLargeError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.verdicts.judgements import Judgement

logger = Logger()


@dataclass(frozen=True)
class ProvenCall:
    """A call about which something came that its grader signed for it."""

    call: Call
    grader: Grader


@part
class Callbacks:
    """Proves what comes for calls, and keeps it until its verdicts are stored.

    To know a call's id is not enough: what comes has to be signed by the grader that was asked, for
    the very request that it was asked.
    """

    calls: CallRepository
    graders: GraderDirectory
    clock: Clock = SYSTEM_CLOCK

    def prove(self, call_id: str, headers: Mapping[str, str], body: bytes) -> ProvenCall:
        """Return the call that something came about, which its grader has to have signed for it.

        Raises:
            RequestTooLargeError: it is over the limit of any grader's answer.
            NotFoundError: there is no such call, or this is not signed by its grader for it.
        """
        if len(body) > MAX_GRADER_RESPONSE_BYTES:
            raise RequestTooLargeError(
                f"the answer has {len(body)} bytes",
                limit=LimitProblem(
                    name="grader answer",
                    maximum=MAX_GRADER_RESPONSE_BYTES,
                    unit="bytes",
                    actual=len(body),
                ),
            )
        call = self.calls.get(call_id)
        usable = self.graders.get_usable(call.grader_id) if call else None
        unknown = NotFoundError(
            "no such call, or not signed by its grader, for its request, in the last 300 s"
        )
        if call is None or usable is None:
            raise unknown
        try:
            verify_grader_callback(
                headers,
                body,
                usable.secrets,
                request_id=call.request_id,
                request_sha256=call.request_sha256,
            )
        except SignatureError as error:
            logger.warning("callback refused", grader_id=usable.grader.id, fault=error.fault)
            raise unknown from error
        return ProvenCall(call, usable.grader)

    def read(self, call: Call, body: bytes) -> dict[str, Judgement]:
        """Return what an answer that comes now says of each completion of its call.

        Raises:
            InvalidRequestError: it is not of the protocol, or about another request.
        """
        try:
            return _judgements(call, body, self.clock.now())
        except GraderCallError as error:
            if error.reason_code == "response_mismatched":
                raise _wrong_request_id(call) from error
            kind = "ScoreResponse" if call.path == "/score" else "BatchScoreResponse"
            raise InvalidRequestError(
                f"the body is not the answer that POST {call.path} asks for",
                fields=[FieldProblem(field="body", expected=f"a {kind} in JSON")],
            ) from error

    def require_heartbeat_of(self, call: Call, body: bytes) -> None:
        """See that a sign of life is about a call.

        Raises:
            InvalidRequestError: it is about another request.
        """
        try:
            asked = read_model(HeartbeatRequest, body, most_values=MAX_GRADER_RESPONSE_VALUES)
        except ValueError as error:
            raise _wrong_request_id(call) from error
        if asked.request_id != call.request_id:
            raise _wrong_request_id(call)

    def record(self, call: Call, body: bytes) -> Call | None:
        """Store an answer that comes now; return None where the call is not open."""
        return self.calls.record(call, body, at=self.clock.now())

    def postpone(self, call: Call) -> Call | None:
        """Put off when the next sign of life is due; return None where the call is not open."""
        if call.state != "open" or call.heartbeat_seconds is None:
            return call if call.state == "open" else None
        by = self.clock.now() + timedelta(seconds=call.heartbeat_seconds)
        return self.calls.note_heartbeat(call, by)

    def get(self, call: Call) -> Call:
        """Return a call as it is stored now."""
        return self.calls.get(call.id) or call

    def current(self, call: Call) -> Call:
        """Return a call as it stands, expired where its time is up."""
        if call.state != "open" or call.until > self.clock.now():
            return call
        # None where an answer or a sign of life came at this moment.
        return self.calls.expire(call) or self.get(call)

    def expired(self, call: Call, completion_ids: Sequence[str], asker: Asker) -> Judged:
        """Return that completions of an expired call have failed."""
        failure = Judgement(reason_code="callback_timeout")
        judgements = dict.fromkeys(completion_ids, failure)
        return Judged(asker=asker, judgements=judgements, attempts=call.attempts)

    def judged(self, call: Call, grader: Grader) -> Iterator[Judged]:
        """Yield what a recorded answer says, unless its verdicts are stored."""
        body = self.calls.answer(call)
        if body is None:
            return
        answered_at = call.answered_at or call.due_at
        try:
            judgements = _judgements(call, body, answered_at)
        except GraderCallError as error:
            # It was read before it was recorded: the protocol has changed since.
            failure = Judgement(reason_code=error.reason_code)
            judgements = dict.fromkeys(call.completion_ids, failure)
        yield Judged(
            asker=call,
            judgements=judgements,
            attempts=call.attempts,
            share_reasoning=grader.share_reasoning,
            recorded_at=answered_at,
            stored=lambda: self.calls.forget_answer(call),
        )


def _judgements(call: Call, body: bytes, at: datetime) -> dict[str, Judgement]:
    elapsed_ms = round((at - call.created_at).total_seconds() * 1000)
    answer = GraderAnswer(request_id=call.request_id, body=body, elapsed_ms=elapsed_ms)
    return read_answer(call.path, answer, call.completion_ids)


def _wrong_request_id(call: Call) -> InvalidRequestError:
    return InvalidRequestError(
        "the body is about another request",
        fields=[FieldProblem(field="requestId", expected=f"{call.request_id}, as in the request")],
    )
