"""Taking what graders say later."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self

from aws_lambda_powertools import Logger
from pydantic import ValidationError

from autotune.protocol.callbacks import HeartbeatRequest
from autotune.protocol.limits import MAX_GRADER_RESPONSE_BYTES
from autotune.protocol.problems import FieldProblem, LimitProblem
from autotune.protocol.signing import SignatureError, verify_grader_callback
from autotune_platform.completions.service import CompletionService
from autotune_platform.gateway.calls import GraderCallError
from autotune_platform.gateway.models import UsableGrader
from autotune_platform.graders.directory import GraderDirectory
from autotune_platform.judging.http.applying import RecordedAnswers, judgements_in
from autotune_platform.judging.http.calls import Call
from autotune_platform.judging.http.repository import CallRepository
from autotune_platform.runs.waits import RunWaits
from autotune_platform.runtime.environment import ContentEnvironment
from autotune_platform.runtime.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    RequestTooLargeError,
)
from autotune_platform.scoring.deciding import Decisions
from autotune_platform.scoring.resolving import Settling
from autotune_platform.verdicts.judgements import Judgement
from autotune_platform.verdicts.models import CompletionHeader, overdue
from autotune_platform.verdicts.service import VerdictService

logger = Logger()

_NOBODY_WAITS = "nothing waits for an answer to this request any more"


@dataclass(frozen=True)
class ProvenCall:
    """A call about which something came that its grader signed for it."""

    call: Call
    usable: UsableGrader


class CallbackService:
    """Records graders' later answers, decides by them, and wakes the runs that waited.

    To know a call's id is not enough: what comes has to be signed by the grader that was asked, for
    the very request that it was asked.
    """

    def __init__(
        self,
        *,
        repository: CallRepository,
        graders: GraderDirectory,
        completions: CompletionService,
        verdicts: VerdictService,
        decisions: Decisions,
        settling: Settling,
        waits: RunWaits,
    ) -> None:
        self._repository = repository
        self._graders = graders
        self._completions = completions
        self._verdicts = verdicts
        self._settling = settling
        self._waits = waits
        self._decisions = decisions
        self._answers = RecordedAnswers(
            repository=repository,
            completions=completions,
            verdicts=verdicts,
            decisions=decisions,
        )

    @classmethod
    def from_environment(cls, environment: ContentEnvironment) -> Self:
        """Return the service on the tables and keys that the environment names."""
        return cls(
            repository=CallRepository.from_environment(environment),
            graders=GraderDirectory.from_environment(environment),
            completions=CompletionService.from_environment(environment),
            verdicts=VerdictService.from_environment(environment),
            decisions=Decisions.from_environment(environment),
            settling=Settling.from_environment(environment),
            waits=RunWaits.from_environment(environment),
        )

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
        call = self._repository.get(call_id)
        usable = self._graders.get_usable(call.progress.grader_id) if call else None
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
        return ProvenCall(call, usable)

    def answer(self, proven: ProvenCall, body: bytes) -> Call:
        """Take the answer to a call; the same answer again is answered as it was before.

        Raises:
            InvalidRequestError: it is not of the protocol; a better one may follow.
            ConflictError: it was answered otherwise, or nothing waits for an answer any more.
        """
        call, usable = proven.call, proven.usable
        now = datetime.now(UTC)
        said = _read(call, body, now)
        call = self._expire_if_overdue(call, now)
        undecided = self._undecided(call)
        if call.state == "open" and undecided:
            if len(overdue(undecided.values(), now)) == len(undecided):
                self._decide(call, undecided, said)
                raise ConflictError("the completions' deadlines have passed; the answer is dropped")
            recorded = self._repository.record(call, body, at=now)
            if recorded is not None:
                late = [said[id_] for id_ in call.completion_ids if id_ not in undecided]
                self._decisions.count_late(call.progress, late)
                self._follow_up(recorded, usable)
                return recorded
            call = self._repository.get(call.id) or call
        if call.answer_sha256 == hashlib.sha256(body).hexdigest():
            # Whoever recorded it may have died: what is left to do is done now.
            self._follow_up(call, usable)
            return call
        if call.state == "answered":
            raise ConflictError("this request was answered before, and not with these bytes")
        self._decisions.count_late(call.progress, said.values())
        raise ConflictError(_NOBODY_WAITS)

    def heartbeat(self, proven: ProvenCall, body: bytes) -> Call:
        """Take a sign of life, which puts off when the next one is due.

        Raises:
            InvalidRequestError: it is about another request.
            ConflictError: nothing waits for an answer any more.
        """
        call = proven.call
        _require_request_id(call, body)
        now = datetime.now(UTC)
        call = self._expire_if_overdue(call, now)
        beaten: Call | None = call
        if call.state == "open" and call.heartbeat_seconds is not None:
            by = now + timedelta(seconds=call.heartbeat_seconds)
            beaten = self._repository.note_heartbeat(call, by)
        if beaten is None or beaten.state != "open" or not self._undecided(call):
            raise ConflictError(_NOBODY_WAITS)
        return beaten

    def _expire_if_overdue(self, call: Call, now: datetime) -> Call:
        """End a call whose time is up, as the run would that waits for it."""
        if call.state != "open" or call.until > now:
            return call
        expired = self._repository.expire(call)
        if expired is None:
            return self._repository.get(call.id) or call
        undecided = self._undecided(call)
        failure = Judgement(reason_code="callback_timeout")
        self._decide(call, undecided, dict.fromkeys(undecided, failure))
        return expired

    def _follow_up(self, call: Call, usable: UsableGrader) -> None:
        """Do what follows from a recorded answer, which nothing can lose any more."""
        self._completions.have_looked_at(call.batch_ids)
        self._answers.apply(call, usable)
        self._go_on(call)

    def _undecided(self, call: Call) -> dict[str, CompletionHeader]:
        undecided = self._verdicts.undecided(call.completion_ids, call.progress)
        return self._completions.headers(undecided)

    def _decide(
        self,
        call: Call,
        undecided: Mapping[str, CompletionHeader],
        said: Mapping[str, Judgement],
    ) -> None:
        self._decisions.decide(
            call.progress,
            undecided,
            {id_: said[id_] for id_ in undecided},
            attempts=call.attempts,
        )
        self._go_on(call)

    def _go_on(self, call: Call) -> None:
        """Have the panel decide whose member was asked, and wake the run that waits."""
        if call.progress.panel_id is not None:
            headers = self._completions.headers(call.completion_ids)
            self._settling.settle(headers, run_id=call.progress.run_id)
        if call.progress.run_id is not None:
            self._waits.wake(call.progress.run_id)


def _read(call: Call, body: bytes, now: datetime) -> dict[str, Judgement]:
    elapsed_ms = round((now - call.created_at).total_seconds() * 1000)
    try:
        return judgements_in(call, body, elapsed_ms=elapsed_ms)
    except GraderCallError as error:
        if error.reason_code == "response_mismatched":
            raise _wrong_request_id(call) from error
        kind = "ScoreResponse" if call.path == "/score" else "BatchScoreResponse"
        raise InvalidRequestError(
            f"the body is not the answer that POST {call.path} asks for",
            fields=[FieldProblem(field="body", expected=f"a {kind} in JSON")],
        ) from error


def _require_request_id(call: Call, body: bytes) -> None:
    try:
        asked = HeartbeatRequest.model_validate_json(body)
    except ValidationError as error:
        raise _wrong_request_id(call) from error
    if asked.request_id != call.request_id:
        raise _wrong_request_id(call)


def _wrong_request_id(call: Call) -> InvalidRequestError:
    return InvalidRequestError(
        "the body is about another request",
        fields=[FieldProblem(field="requestId", expected=f"{call.request_id}, as in the request")],
    )
