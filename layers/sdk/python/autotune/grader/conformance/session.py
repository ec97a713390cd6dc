"""Talking to a grader as Autotune does, and as an impostor would."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from autotune.protocol.compact_json import compact
from autotune.protocol.grading import (
    BatchScoreResponse,
    GradedCompletion,
    HealthResponse,
    ScoreResponse,
)
from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_grader_request, verify_grader_response

Outcome = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One line of a conformance report.

    Attributes:
        name: stable, in snake case.
        outcome: ``skipped`` where an earlier failure or the grader's capabilities leave nothing
            to try.
        expected: what the protocol asks for, in one sentence.
        seen: what the grader did, in one sentence.
    """

    name: str
    outcome: Outcome
    expected: str
    seen: str


class CheckFailedError(Exception):
    """A grader does not do what the protocol asks for; the message says what it did."""


class CheckSkippedError(Exception):
    """A check has nothing to try; the message says why."""


SAMPLE_COMPLETION: Mapping[str, Any] = {
    "prompt": "Ava picks 12 apples and buys 3 bags of 5 apples. How many apples does she have?",
    "response": "The bags hold 3 * 5 = 15 apples, so she has 12 + 15 = 27 apples.\nA: 27",
    "metadata": {"answer": "27"},
}
"""An arithmetic completion; a grader of another field may abstain on it."""


Answer = TypeVar("Answer", ScoreResponse, BatchScoreResponse, HealthResponse)


OWN_LOG = "the grader's own log says why"


class GraderUnreachableError(Exception):
    """Nothing answers at the address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and its answer."""

    request_id: str
    request_body: bytes
    response: httpx.Response

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.response.status_code

    def verify(
        self,
        secrets: Sequence[str],
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> None:
        """Check the signature of the answer, or of one with these headers and body.

        Raises:
            SignatureError: it fits neither the secrets nor this request.
        """
        verify_grader_response(
            self.response.headers if headers is None else headers,
            self.response.content if body is None else body,
            secrets,
            request_id=self.request_id,
            request_body=self.request_body,
        )

    def read_score(self) -> ScoreResponse:
        """Return the answer to ``POST /score``.

        Raises:
            CheckFailedError: it is another status, no JSON, out of range, or for another request.
        """
        answer = self._read(ScoreResponse)
        if answer.error is not None:
            raise CheckFailedError(f"the judgement failed; {OWN_LOG}")
        return answer

    @property
    def says_error(self) -> bool:
        """Whether the answer to ``POST /score`` has an ``error``, sound otherwise or not."""
        try:
            content = self.response.json()
        except ValueError:
            return False
        return isinstance(content, dict) and content.get("error") is not None

    def read_batch(self) -> BatchScoreResponse:
        """Return the answer to ``POST /score/batch``.

        Raises:
            CheckFailedError: as ``read_score``.
        """
        return self._read(BatchScoreResponse)

    def read_health(self) -> HealthResponse:
        """Return the answer to ``GET /health``.

        Raises:
            CheckFailedError: it is another status or not what the protocol says.
        """
        return self._read(HealthResponse)

    def _read(self, model: type[Answer]) -> Answer:
        if self.status != 200:
            raise CheckFailedError(answered(self.status))
        try:
            answer = model.model_validate_json(self.response.content)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = ".".join(str(part) for part in fault["loc"]) or "the body"
            raise CheckFailedError(f"in the answer, {place}: {fault['msg']}") from None
        if not isinstance(answer, HealthResponse) and answer.request_id != self.request_id:
            raise CheckFailedError("the answer's requestId is not the request's")
        return answer


class GraderSession:
    """A grader's address, the secrets shared with it, and what earlier checks learnt."""

    def __init__(
        self,
        http_client: httpx.Client,
        *,
        url: str,
        secrets: Sequence[str],
        completion: Mapping[str, Any],
    ) -> None:
        self._http = http_client
        self._url = url.rstrip("/")
        self.secrets = tuple(secrets)
        self._completion = completion
        self.health: HealthResponse | None = None
        self.scored: Exchange | None = None

    @property
    def is_local(self) -> bool:
        """Whether the grader runs on this machine, and can reach what listens on its loopback."""
        return urlsplit(self._url).hostname in {"127.0.0.1", "localhost", "::1"}

    def completion(self, **changes: object) -> dict[str, Any]:
        """Return the sample as a grader receives it, under a fresh id."""
        sample = GradedCompletion.model_validate(
            {"taskId": new_id("task"), **self._completion, "id": new_id("cmp")}
        )
        return {**sample.model_dump(by_alias=True, exclude_none=True), **changes}

    def score_body(self, request_id: str, **changes: object) -> dict[str, Any]:
        """Return a body for ``POST /score``."""
        options = {"includeDimensions": True, "includeExplanation": True}
        completion = self.completion()
        return {"requestId": request_id, "completion": completion, "options": options, **changes}

    def question(self, **changes: object) -> tuple[str, bytes]:
        """Return a new request id and a body for ``POST /score`` that has it."""
        request_id = new_id("req")
        return request_id, encode(self.score_body(request_id, **changes))

    def score(self, **changes: object) -> Exchange:
        """Ask for one score, correctly signed; ``changes`` are put into the body."""
        request_id, body = self.question(**changes)
        return self.post("/score", body, request_id)

    def score_batch(self, completions: Sequence[Mapping[str, Any]]) -> Exchange:
        """Ask for a batch, correctly signed."""
        request_id = new_id("req")
        body = {"requestId": request_id, "completions": completions, "options": {}}
        return self.post("/score/batch", encode(body), request_id)

    def post(
        self,
        path: str,
        body: bytes,
        request_id: str,
        *,
        secrets: Sequence[str] | None = None,
        shift_seconds: int = 0,
        signed_body: bytes | None = None,
    ) -> Exchange:
        """Send ``body``, signed as described.

        Args:
            path: below the grader's address.
            body: what is sent.
            request_id: signed and sent as a header.
            secrets: sign with these; the shared ones unless given.
            shift_seconds: how far from now the timestamp is.
            signed_body: sign this instead of ``body``.
        """
        headers = sign_grader_request(
            self.secrets if secrets is None else secrets,
            request_id=request_id,
            body=body if signed_body is None else signed_body,
            timestamp=int(time.time()) + shift_seconds,
        )
        return self.send("POST", path, body, request_id, headers)

    def send(
        self, method: str, path: str, body: bytes, request_id: str, headers: Mapping[str, str]
    ) -> Exchange:
        """Send exactly this."""
        content = {"content-type": "application/json"} if body else {}
        response = self._http.request(
            method, self._url + path, content=body, headers={**content, **headers}
        )
        return Exchange(request_id=request_id, request_body=body, response=response)

    def max_batch_size(self) -> int:
        """Return what the grader declares.

        Raises:
            CheckSkippedError: its health could not be read.
        """
        if self.health is None:
            raise CheckSkippedError("the grader's maxBatchSize is not known without its health")
        return self.health.capabilities.max_batch_size

    def first_score(self) -> Exchange:
        """Return the exchange of the first accepted score.

        Raises:
            CheckSkippedError: none was accepted.
        """
        if self.scored is None:
            raise CheckSkippedError("no signed score was accepted")
        return self.scored


def answered(status: int) -> str:
    """Say what came instead of an answer, and where to look if the grader broke."""
    return f"it answered {status}; {OWN_LOG}" if status >= 500 else f"it answered {status}"


def encode(content: object) -> bytes:
    """Return compact JSON in UTF-8."""
    return compact(content).encode()
