"""The grader protocol without a transport: one request in, one answer out."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autotune.grader import judging
from autotune.grader.callback import Callback, Deferral, DeferredJob, Enqueue, Work, hand_over
from autotune.grader.exchange import (
    BatchRequest,
    HttpRequest,
    HttpResponse,
    Operation,
    ProblemError,
    operation_of,
    read_score_request,
    require_size,
)
from autotune.grader.replay import RequestIdMemory
from autotune.grader.shared_secrets import MissingSecretError, SecretSource, SharedSecrets
from autotune.protocol import grading, signing
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_GRADER_RESPONSE_BYTES, SIGNATURE_TOLERANCE_SECONDS

_logger = logging.getLogger("autotune.grader")

GRADER_FAILED = "grader_failed"
"""Error of a completion on which the function raised, or returned what is no score."""

INVALID_COMPLETION = "invalid_completion"
"""Error code of a batch item that lacks a prompt, a response or another required field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderSettings:
    """What ``@grader`` was given, checked.

    Attributes:
        max_concurrency: most calls of the function at a time in this process.
        deferral: how answers are deferred, None for a grader that answers at once.
    """

    name: str
    version: str
    capabilities: grading.GraderCapabilities
    max_concurrency: int
    secrets: SecretSource | None
    deferral: Deferral | None


@dataclass(frozen=True, slots=True)
class _Caller:
    """Who asks: verified, refused with a reason, or neither, which is an unsigned request."""

    request_id: str
    verified: bool = False
    refusal: ProblemError | None = None


class GraderService:
    """Verifies, judges and signs; shared by the ASGI app and the Lambda handler.

    Every answer to a verified request is signed, errors too. What the owner's function raises is
    logged here and never sent.
    """

    def __init__(
        self, settings: GraderSettings, *, function: judging.BoundedFunction, secrets: SharedSecrets
    ) -> None:
        self._name = settings.name
        self._version = settings.version
        self._capabilities = settings.capabilities
        self._deferral = settings.deferral
        self._function = function
        self._secrets = secrets
        self._used_request_ids = RequestIdMemory()
        self.work = Work(
            self._judge_job,
            lambda job: Callback(job, secrets=secrets.current()),
            heartbeat_seconds=self._deferral.heartbeat_seconds if self._deferral else None,
        )

    async def respond(self, request: HttpRequest, *, host_stays: bool = False) -> HttpResponse:
        """Return the answer; never raises for what a caller or the owner's function does.

        Args:
            host_stays: whether this event loop goes on after the answer, so that work may, too.
        """
        caller = _Caller(new_id("req"))
        secrets: Sequence[str] = ()
        try:
            require_size(request.body)
            secrets = self._secrets.current()
            caller = self._identify(request, secrets)
            response = await self._answer(request, caller, host_stays=host_stays)
        except ProblemError as problem:
            response = problem.to_response(caller.request_id)
        except MissingSecretError:
            _logger.exception("grader %s cannot verify requests", self._name)
            response = self._answer_without_secret(request, caller)
        if not caller.verified:
            return response
        signature = signing.sign_grader_response(
            secrets, request_id=caller.request_id, request_body=request.body, body=response.body
        )
        return response.with_headers(signature)

    def _identify(self, request: HttpRequest, secrets: Sequence[str]) -> _Caller:
        headers = (signing.SIGNATURE_HEADER, signing.TIMESTAMP_HEADER, signing.REQUEST_ID_HEADER)
        if not any(name in request.headers for name in headers):
            return _Caller(new_id("req"))
        try:
            request_id = signing.verify_grader_request(request.headers, request.body, secrets)
        except signing.SignatureError as error:
            _logger.warning("grader %s refused a request: %s", self._name, error)
            code = "stale_request" if error.fault == "stale" else "unauthenticated"
            return _Caller(new_id("req"), refusal=_unauthenticated(code))
        expires_at = int(request.headers[signing.TIMESTAMP_HEADER]) + SIGNATURE_TOLERANCE_SECONDS
        if not self._used_request_ids.admit(request_id, expires_at=expires_at):
            _logger.warning("grader %s refused a replay of %s", self._name, request_id)
            return _Caller(request_id, refusal=_unauthenticated("replayed_request"))
        return _Caller(request_id, verified=True)

    async def _answer(
        self, request: HttpRequest, caller: _Caller, *, host_stays: bool
    ) -> HttpResponse:
        operation = operation_of(request)
        if caller.refusal is not None:
            raise caller.refusal
        if operation == "health":
            return self._health("healthy")
        if not caller.verified:
            raise _unauthenticated("unauthenticated")
        job = self._job(operation, request.body)
        if job is not None and self._deferral is not None:
            if self._deferral.enqueue is not None:
                return await self._hand_over(job, self._deferral.enqueue)
            if host_stays:
                self.work.start(job)
                return self._deferred(job)
        return await self._judged(operation, request.body)

    async def _judged(self, operation: Operation, body: bytes) -> HttpResponse:
        return await (self._score(body) if operation == "score" else self._score_batch(body))

    async def _judge_job(self, job: DeferredJob) -> bytes:
        return (await self._judged(job.operation, job.body.encode())).body

    def _job(self, operation: Operation, body: bytes) -> DeferredJob | None:
        """Return what can be answered later, None where the request names no callback URL.

        Raises:
            ProblemError: the request cannot be read, which is answered now and not later.
        """
        if self._deferral is None or operation == "health":
            return None
        asked: grading.ScoreRequest | BatchRequest
        if operation == "score":
            asked = read_score_request(body)
        else:
            asked = BatchRequest(body, max_batch_size=self._capabilities.max_batch_size)
        if asked.callback_url is None:
            return None
        return DeferredJob.of(
            operation, body, request_id=asked.request_id, callback_url=asked.callback_url
        )

    async def _hand_over(self, job: DeferredJob, enqueue: Enqueue) -> HttpResponse:
        try:
            await hand_over(enqueue, job)
        except Exception:
            # The owner's code may raise anything; nothing was promised yet, so it can come again.
            _logger.exception("grader %s could not enqueue %s", self._name, job.request_id)
            raise _unavailable("The grader cannot take work now.") from None
        return self._deferred(job)

    def _deferred(self, job: DeferredJob) -> HttpResponse:
        promise = grading.DeferredResponse(
            request_id=job.request_id,
            grader_version=self._version,
            estimated_seconds=self._deferral.estimated_seconds if self._deferral else None,
        )
        return HttpResponse.of_model(promise, status=202)

    def _answer_without_secret(self, request: HttpRequest, caller: _Caller) -> HttpResponse:
        try:
            if (
                operation_of(request) == "health"
                and signing.SIGNATURE_HEADER not in request.headers
            ):
                return self._health("unhealthy")
            raise _unavailable("The grader is not set up yet.")
        except ProblemError as problem:
            return problem.to_response(caller.request_id)

    def _health(self, status: Literal["healthy", "unhealthy"]) -> HttpResponse:
        return HttpResponse.of_model(
            grading.HealthResponse(
                status=status, version=self._version, capabilities=self._capabilities
            )
        )

    async def _score(self, body: bytes) -> HttpResponse:
        started = time.perf_counter()
        asked = read_score_request(body)
        context = judging.GraderContext(request_id=asked.request_id, options=asked.options)
        item = await self._judge(asked.completion, context)
        return HttpResponse.of_model(
            grading.ScoreResponse(
                request_id=asked.request_id,
                grader_version=self._version,
                score=item.score,
                abstained=item.abstained,
                # Not a 5xx, which Autotune would try again: the function has spoken.
                error=item.error,
                processing_time_ms=_milliseconds_since(started),
            )
        )

    async def _score_batch(self, body: bytes) -> HttpResponse:
        started = time.perf_counter()
        asked = BatchRequest(body, max_batch_size=self._capabilities.max_batch_size)
        context = judging.GraderContext(request_id=asked.request_id, options=asked.options)
        judged = await asyncio.gather(
            *(self._judge(completion, context) for completion in asked.completions)
        )
        broken = [
            grading.BatchItemScore(completion_id=completion_id, error=INVALID_COMPLETION)
            for completion_id in asked.broken_ids
        ]
        answer = grading.BatchScoreResponse(
            request_id=asked.request_id,
            grader_version=self._version,
            scores=[*judged, *broken],
            processing_time_ms=_milliseconds_since(started),
        )
        response = HttpResponse.of_model(answer)
        if len(response.body) <= MAX_GRADER_RESPONSE_BYTES:
            return response
        # Autotune would refuse the whole batch; its values are worth more than its explanations.
        _logger.warning("grader %s left details out of an answer over the limit", self._name)
        values = [item.model_copy(update={"score": _bare(item.score)}) for item in answer.scores]
        return HttpResponse.of_model(answer.model_copy(update={"scores": values}))

    async def _judge(
        self, completion: grading.GradedCompletion, context: judging.GraderContext
    ) -> grading.BatchItemScore:
        try:
            score = judging.score_from(await self._function(completion, context))
        except judging.Abstain as abstention:
            reason = abstention.reason
            _logger.debug("grader %s abstained on %s: %s", self._name, completion.id, reason)
            return grading.BatchItemScore(completion_id=completion.id, abstained=True)
        except Exception:
            # The owner's code may raise anything, and one completion must not spoil the others.
            _logger.exception("grader %s failed on completion %s", self._name, completion.id)
            return grading.BatchItemScore(completion_id=completion.id, error=GRADER_FAILED)
        return grading.BatchItemScore(
            completion_id=completion.id, score=judging.with_options(score, context.options)
        )


def _unauthenticated(code: str) -> ProblemError:
    details = {
        "unauthenticated": "The request must carry a valid Autotune signature.",
        "stale_request": "The request's timestamp is too far from this grader's clock.",
        "replayed_request": "The request id was used before.",
    }
    return ProblemError(401, code, details[code])


def _unavailable(detail: str) -> ProblemError:
    return ProblemError(503, "unavailable", detail)


def _bare(score: grading.GraderScore | None) -> grading.GraderScore | None:
    return score and score.model_copy(update={"dimensions": None, "reasoning": None})


def _milliseconds_since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
