"""Asking graders that may answer later, and going on with what they were asked before."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Self

from aws_lambda_powertools import Logger

from autotune.protocol.completions import ReasonCode
from autotune.protocol.grading import BatchScoreRequest, ScoreRequest
from autotune.protocol.ids import capability_id
from autotune_platform.completions.service import CompletionService
from autotune_platform.gateway.calls import GraderAnswer, Path
from autotune_platform.gateway.models import Grader, UsableGrader
from autotune_platform.judging.http.answers import read_deferral
from autotune_platform.judging.http.applying import RecordedAnswers
from autotune_platform.judging.http.calls import Call
from autotune_platform.judging.http.repository import CallRepository
from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runtime.environment import GradingEnvironment
from autotune_platform.scoring.deciding import Decisions
from autotune_platform.verdicts.judgements import Judgement
from autotune_platform.verdicts.models import CompletionHeader, overdue
from autotune_platform.verdicts.service import VerdictService

logger = Logger()


@dataclass(frozen=True)
class Resumed:
    """What a round finds of the calls of rounds before it.

    Attributes:
        unasked: completions that nobody has been asked about.
        waits: when each completion is due that still waits.
        headers: of those that wait.
    """

    unasked: Sequence[str]
    waits: Mapping[str, datetime] = field(default_factory=dict)
    headers: Mapping[str, CompletionHeader] = field(default_factory=dict)


class RoundCalls:
    """The calls of one round to one grader.

    Attributes:
        waits: when each completion is due whose answer is to come later.
    """

    def __init__(
        self,
        *,
        repository: CallRepository,
        api_url: str,
        progress: ChunkProgress,
        grader: Grader,
        headers: Mapping[str, CompletionHeader],
    ) -> None:
        self._repository = repository
        self._api_url = api_url
        self._progress = progress
        self._grader = grader
        self._headers = headers
        self.waits: dict[str, datetime] = {}

    @property
    def deferrable(self) -> bool:
        """Whether the grader may answer later."""
        return self._grader.capabilities.supports_async

    def open(
        self, path: Path, request: ScoreRequest | BatchScoreRequest, completion_ids: list[str]
    ) -> tuple[bytes, Call | None]:
        """Return the body of a request, and the call that is stored for it if it is deferrable.

        The call is stored before the grader is asked: it may answer before we hear that it will.
        """
        if not self.deferrable:
            return _json(request), None
        call_id = capability_id("call")
        url = f"{self._api_url}/api/v1/callbacks/{call_id}"
        body = _json(request.model_copy(update={"callback_url": url}))
        call = self._call(call_id, path, request.request_id, body, completion_ids)
        self._repository.add(call)
        return body, call

    def defer(self, call: Call, answer: GraderAnswer) -> None:
        """Let completions wait for the answer that a 202 promises.

        Raises:
            GraderCallError: the promise is not of the protocol, or is about another request.
        """
        estimated = read_deferral(answer).estimated_seconds
        self._repository.add_waits(call)
        self.waits |= _due(call, (self._headers[id_] for id_ in call.completion_ids))
        logger.info(
            "answer deferred",
            grader_id=self._grader.id,
            completions=len(call.completion_ids),
            estimated_seconds=estimated,
        )

    def _call(
        self, call_id: str, path: Path, request_id: str, body: bytes, completion_ids: list[str]
    ) -> Call:
        now = datetime.now(UTC)
        settings = self._grader.async_settings
        beat = settings.heartbeat_seconds
        reduced = self._progress.finished().model_copy(
            update={"completion_ids": completion_ids, "delayed_ids": []}
        )
        return Call(
            id=call_id,
            progress=reduced,
            batch_ids=sorted({self._headers[id_].batch_id for id_ in completion_ids}),
            path=path,
            request_id=request_id,
            request_sha256=hashlib.sha256(body).hexdigest(),
            attempts=self._progress.attempt + 1,
            created_at=now,
            due_at=now + timedelta(seconds=settings.timeout_seconds),
            heartbeat_seconds=beat,
            heartbeat_by=now + timedelta(seconds=beat) if beat else None,
        )


class Deferrals:
    """Lets completions of a run wait for callbacks."""

    def __init__(
        self,
        *,
        repository: CallRepository,
        completions: CompletionService,
        verdicts: VerdictService,
        decisions: Decisions,
        api_url: str,
    ) -> None:
        self._repository = repository
        self._completions = completions
        self._decisions = decisions
        self._api_url = api_url
        self._answers = RecordedAnswers(
            repository=repository, completions=completions, verdicts=verdicts, decisions=decisions
        )

    @classmethod
    def from_environment(cls, environment: GradingEnvironment, *, decisions: Decisions) -> Self:
        """Return the service on the tables that the environment names."""
        return cls(
            repository=CallRepository.from_environment(environment),
            completions=CompletionService.from_environment(environment),
            verdicts=VerdictService.from_environment(environment),
            decisions=decisions,
            api_url=environment.api_url,
        )

    def resume(
        self, progress: ChunkProgress, usable: UsableGrader, undecided: Sequence[str]
    ) -> Resumed:
        """Apply what was answered, fail what has expired, and return what still waits.

        Answers are applied here only where whoever recorded them died before their verdicts.
        """
        if not (usable.grader.capabilities.supports_async or progress.waiting_ids):
            return Resumed(undecided)
        awaited = self._repository.awaited(
            (id_, progress.grader_id, progress.grader_version) for id_ in undecided
        )
        waiting = {id_: call for (id_, *_), call in awaited.items()}
        headers = self._completions.headers(waiting)
        waits: dict[str, datetime] = {}
        for call in {call.id: call for call in waiting.values()}.values():
            asked = {
                id_: headers[id_]
                for id_, of in waiting.items()
                if of.id == call.id and id_ in headers
            }
            waits |= self._resume_call(call, progress, usable, asked)
        return Resumed(
            unasked=[id_ for id_ in undecided if id_ not in waiting],
            waits=waits,
            headers={id_: headers[id_] for id_ in waits},
        )

    def of_round(
        self,
        progress: ChunkProgress,
        usable: UsableGrader,
        headers: Mapping[str, CompletionHeader],
    ) -> RoundCalls:
        """Return what the round's own calls go through."""
        return RoundCalls(
            repository=self._repository,
            api_url=self._api_url,
            progress=progress,
            grader=usable.grader,
            headers=headers,
        )

    def _resume_call(
        self,
        call: Call,
        progress: ChunkProgress,
        usable: UsableGrader,
        asked: Mapping[str, CompletionHeader],
    ) -> dict[str, datetime]:
        now = datetime.now(UTC)
        if call.state == "open" and call.until <= now:
            # None where an answer or a sign of life came at this moment.
            call = self._repository.expire(call) or self._repository.get(call.id) or call
        if call.state == "answered":
            self._answers.apply(call, usable)
            return {}
        if call.state == "expired":
            self._fail(progress, asked, asked, "callback_timeout", call)
            return {}
        late = overdue(asked.values(), now)
        self._fail(progress, asked, late, "deadline_exceeded", call)
        if call.progress.run_id != progress.run_id:
            self._repository.take_over(call, progress.run_id)
        return _due(call, (header for id_, header in asked.items() if id_ not in late))

    def _fail(
        self,
        progress: ChunkProgress,
        headers: Mapping[str, CompletionHeader],
        completion_ids: Iterable[str],
        reason_code: ReasonCode,
        call: Call,
    ) -> None:
        failure = Judgement(reason_code=reason_code)
        self._decisions.decide(
            progress, headers, dict.fromkeys(completion_ids, failure), attempts=call.attempts
        )


def _due(call: Call, completions: Iterable[CompletionHeader]) -> dict[str, datetime]:
    look_at = call.looked_at(datetime.now(UTC))
    return {completion.id: min(look_at, completion.deadline) for completion in completions}


def _json(request: ScoreRequest | BatchScoreRequest) -> bytes:
    return request.model_dump_json(by_alias=True, exclude_none=True).encode()
