"""Answering later: sends a signed answer, or a sign of life, to a request's callback URL.

    from autotune.grader.callback import Callback, DeferredJob

    job = DeferredJob.model_validate_json(message)      # what enqueue was given
    with Callback(job) as callback:
        callback.heartbeat()
        callback.answer(ScoreResponse(request_id=job.request_id, grader_version="1.0.0", ...))

The secret is the one that the grader answers with: ``AUTOTUNE_GRADER_SECRET``, or given. ``Work``
does the same for a grader that defers its answers within its own process.
"""

import asyncio
import hashlib
import inspect
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, Self

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from autotune.grader.shared_secrets import SecretSource, SharedSecrets
from autotune.protocol.callbacks import CallbackReceipt, HeartbeatReceipt, HeartbeatRequest
from autotune.protocol.grading import BatchScoreResponse, ScoreResponse
from autotune.protocol.problems import Problem
from autotune.protocol.retry import RetryPolicy
from autotune.protocol.signing import sign_grader_callback

_logger = logging.getLogger("autotune.grader")

ATTEMPTS = 8
"""How often a callback is sent: about five minutes in all, with full jitter."""

_BACK_OFF = RetryPolicy(first_seconds=2, longest_seconds=60)
_PASSING = frozenset({408, 425, 429})


class CallbackRefusedError(Exception):
    """Autotune does not take a callback, and will not take it later.

    Attributes:
        status: 404 (unknown, or not signed for this request), 409 (answered otherwise, canceled or
            out of time), 413 or 422 (not an answer).
        code: the problem's word for programs, if it named one.
    """

    def __init__(self, status: int, code: str | None, detail: str) -> None:
        super().__init__(f"{status} {code or ''}: {detail}")
        self.status = status
        self.code = code


class CallbackUnreachableError(Exception):
    """Autotune could not be reached, or was too busy, at every attempt."""


class DeferredJob(BaseModel):
    """A verified request that is answered later; JSON holds all of it.

    Attributes:
        operation: ``score``, to be answered with a ``ScoreResponse``, or ``score_batch``.
        request_id: which every answer repeats.
        callback_url: where the answer goes. Whoever knows it can still not answer: keep it all the
            same to yourself.
        request_sha256: of the request's body, in hexadecimal; the answer's signature covers it.
        body: the request as it came, with prompts and responses.
    """

    model_config = ConfigDict(frozen=True)

    operation: Literal["score", "score_batch"]
    request_id: str
    callback_url: str
    request_sha256: str
    body: str

    @classmethod
    def of(
        cls,
        operation: Literal["score", "score_batch"],
        body: bytes,
        *,
        request_id: str,
        callback_url: str,
    ) -> Self:
        """Return the job that a request's body asks for."""
        return cls(
            operation=operation,
            request_id=request_id,
            callback_url=callback_url,
            request_sha256=hashlib.sha256(body).hexdigest(),
            body=body.decode(),
        )


class Callback:
    """Sends the answer to one deferred request, and signs of life; every attempt is signed anew.

    Args:
        job: the request.
        secrets: the shared secret, or where it is found; by default as ``@grader`` does.
        attempts: at most so many for each call, with full jitter between them.
        http_client: to use instead of an own one; redirects must stay off.
    """

    def __init__(
        self,
        job: DeferredJob,
        *,
        secrets: SecretSource | None = None,
        attempts: int = ATTEMPTS,
        http_client: httpx.Client | None = None,
    ) -> None:
        self._job = job
        self._secrets = SharedSecrets(secrets)
        self._attempts = attempts
        self._own = http_client is None
        self._http = http_client or httpx.Client(timeout=30, follow_redirects=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, unless it was given."""
        if self._own:
            self._http.close()

    def answer(self, answer: ScoreResponse | BatchScoreResponse | bytes) -> CallbackReceipt:
        """Send the answer: a model, or the JSON that a 200 would have had.

        Sending the same again is safe, and needed where nobody knows whether it arrived.

        Raises:
            CallbackRefusedError: it is not taken, now or later.
            CallbackUnreachableError: no attempt got through.
            MissingSecretError: there is no secret to sign with.
        """
        body = answer if isinstance(answer, bytes) else _json(answer)
        return CallbackReceipt.model_validate_json(self._send(self._job.callback_url, body))

    def heartbeat(self) -> HeartbeatReceipt:
        """Say that the work goes on; return until when to answer, and to say so again.

        Raises:
            CallbackRefusedError: nothing waits for the answer any more: stop working.
            CallbackUnreachableError: no attempt got through.
            MissingSecretError: there is no secret to sign with.
        """
        body = _json(HeartbeatRequest(request_id=self._job.request_id))
        url = f"{self._job.callback_url}/heartbeat"
        return HeartbeatReceipt.model_validate_json(self._send(url, body))

    def _send(self, url: str, body: bytes) -> bytes:
        failure: Exception | None = None
        for _ in _BACK_OFF.attempts(self._attempts):
            try:
                response = self._http.post(url, content=body, headers=self._headers(body))
            except httpx.TransportError as error:
                failure = error
                continue
            if response.is_success:
                return response.content
            if response.status_code < 500 and response.status_code not in _PASSING:
                raise _refusal(response)
            failure = None
        raise CallbackUnreachableError(f"no attempt of {self._attempts} got through") from failure

    def _headers(self, body: bytes) -> dict[str, str]:
        signature = sign_grader_callback(
            self._secrets.current(),
            request_id=self._job.request_id,
            request_sha256=self._job.request_sha256,
            body=body,
        )
        return {"content-type": "application/json", **signature}


def _json(model: BaseModel) -> bytes:
    return model.model_dump_json(by_alias=True, exclude_none=True).encode()


def _refusal(response: httpx.Response) -> CallbackRefusedError:
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        return CallbackRefusedError(response.status_code, None, "no problem details came with it")
    return CallbackRefusedError(response.status_code, problem.code, problem.detail)


Enqueue = Callable[[DeferredJob], Awaitable[None] | None]
"""Hands a job to whatever works it off, such as a queue; what it raises is answered 503."""

Judge = Callable[[DeferredJob], Awaitable[bytes]]
"""Returns the body that answers a job."""

Connect = Callable[[DeferredJob], Callback]
"""Returns what speaks to a job's callback URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferral:
    """How answers are deferred.

    Attributes:
        enqueue: takes jobs; without it they are worked off in this process, where it stays alive.
        estimated_seconds: named in each 202.
        heartbeat_seconds: how often this process gives a sign of life while it works on a job.
    """

    enqueue: Enqueue | None = None
    estimated_seconds: float | None = None
    heartbeat_seconds: float | None = None


class Work:
    """Works deferred jobs off: judges, gives signs of life, answers."""

    def __init__(
        self, judge: Judge, connect: Connect, *, heartbeat_seconds: float | None = None
    ) -> None:
        self._judge = judge
        self._connect = connect
        self._heartbeat_seconds = heartbeat_seconds
        self._tasks: set[asyncio.Task[None]] = set()

    async def do(self, job: DeferredJob) -> None:
        """Work a job off.

        Raises:
            CallbackRefusedError: the answer is not taken.
            CallbackUnreachableError: Autotune could not be reached.
        """
        with self._connect(job) as callback:
            beating = asyncio.create_task(self._beat(callback))
            try:
                answer = await self._judge(job)
            finally:
                beating.cancel()
                with suppress(asyncio.CancelledError):
                    await beating
            await asyncio.to_thread(callback.answer, answer)

    def start(self, job: DeferredJob) -> None:
        """Work a job off beside the requests that this process answers; it ends with the process.

        Without an answer Autotune fails its completions when their time is up, or their next sign
        of life: what must outlive this process is for a queue.
        """
        task = asyncio.get_running_loop().create_task(self._do_and_log(job))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _do_and_log(self, job: DeferredJob) -> None:
        try:
            await self.do(job)
        except (CallbackRefusedError, CallbackUnreachableError):
            _logger.exception("the answer to %s was not taken", job.request_id)

    async def _beat(self, callback: Callback) -> None:
        while self._heartbeat_seconds is not None:
            await asyncio.sleep(self._heartbeat_seconds)
            try:
                await asyncio.to_thread(callback.heartbeat)
            except CallbackRefusedError as error:
                _logger.warning("nobody waits for this answer any more: %s", error)
                return
            except CallbackUnreachableError as error:
                _logger.warning("a sign of life did not arrive: %s", error)


async def hand_over(enqueue: Enqueue, job: DeferredJob) -> None:
    """Call the owner's function, plain or async; a plain one runs in a thread."""
    returned = await asyncio.to_thread(enqueue, job)
    if inspect.isawaitable(returned):
        await returned
