"""The way to graders: signs what is asked, checks what is answered, and distinguishes failures."""

import time
from dataclasses import dataclass

import httpcore

from autotune.protocol.completions import ReasonCode
from autotune.protocol.graders import HealthReason, ProbeOutcome
from autotune.protocol.grading import HealthResponse
from autotune.protocol.ids import new_id
from autotune.protocol.limits import (
    MAX_GRADER_RESPONSE_BYTES,
    MAX_GRADER_RESPONSE_VALUES,
    MAX_HEALTH_RESPONSE_BYTES,
)
from autotune.protocol.signing import SignatureError, sign_grader_request, verify_grader_response
from autotune_platform.gateway.calls import GraderAnswer, GraderCallError, Path
from autotune_platform.gateway.models import UsableGrader
from autotune_platform.gateway.traced_calls import traced_call
from autotune_platform.outbound.connections import (
    CONNECT_TIMEOUT_SECONDS,
    AddressRefusedError,
    CertificateMismatchError,
    pinned,
    time_limit,
)
from autotune_platform.outbound.http import retry_after_seconds, text_headers
from autotune_platform.runtime.bounded_json import TooManyValuesError, read_model

_RETRYABLE_STATUSES = frozenset({408, 425, 429})
_LONGEST_RETRY_AFTER_SECONDS = 900


@dataclass(frozen=True)
class Finding:
    """How a grader is: ``answer`` is there unless it ``failed``, ``reason_code`` if not healthy."""

    outcome: ProbeOutcome
    latency_ms: int
    reason_code: HealthReason | None = None
    answer: HealthResponse | None = None


class GraderGateway:
    """Calls graders over HTTPS: no redirects, checked addresses, bounded size and time."""

    def __init__(self, connections: httpcore.ConnectionPool) -> None:
        self._connections = connections

    def ask(
        self,
        usable: UsableGrader,
        path: Path,
        *,
        request_id: str,
        timeout_seconds: float,
        body: bytes = b"",
        secrets: tuple[str, ...] | None = None,
        deferrable: bool = False,
    ) -> GraderAnswer:
        """Send one signed request: POST, or GET for ``/health``.

        Args:
            request_id: the one that the body names; whoever asks records the call under it
                (``traced_call``).
            timeout_seconds: for the whole call, from connecting to the last byte.
            secrets: sign with these instead of the grader's own, to see that it refuses.
            deferrable: whether 202 is an answer, too.

        Raises:
            GraderCallError: no answer, a bad one, or one not signed by the grader for this request.
        """
        signed_with = usable.secrets if secrets is None else secrets
        endpoint = usable.grader.endpoint
        assert endpoint is not None, "only graders of kind http are called"
        started = time.monotonic()
        with pinned(usable.grader.certificate_sha256):
            status, headers, answer = self._exchange(
                "GET" if path == "/health" else "POST",
                endpoint.rstrip("/") + path,
                {
                    **sign_grader_request(signed_with, request_id=request_id, body=body),
                    "Accept": "application/json",
                    "Accept-Encoding": "identity",
                    "User-Agent": "autotune",
                    **({"Content-Type": "application/json"} if body else {}),
                },
                body,
                timeout_seconds,
                MAX_HEALTH_RESPONSE_BYTES if path == "/health" else MAX_GRADER_RESPONSE_BYTES,
            )
        deferred = deferrable and status == 202
        if status != 200 and not deferred:
            raise _refusal(status, headers)
        try:
            verify_grader_response(
                headers, answer, usable.secrets, request_id=request_id, request_body=body
            )
        except SignatureError as error:
            unsigned = error.fault == "missing"
            raise GraderCallError(
                "response_unsigned" if unsigned else "response_signature_invalid", status=status
            ) from error
        return GraderAnswer(
            request_id=request_id,
            body=answer,
            elapsed_ms=round((time.monotonic() - started) * 1000),
            deferred=deferred,
        )

    def ask_health(self, usable: UsableGrader, *, timeout_seconds: float) -> Finding:
        """Ask a grader for its health, signed, once.

        A grader that calls itself unhealthy has failed like one that does not answer: neither
        scores.
        """
        request_id = new_id("req")
        with traced_call(usable.grader.id, request_id=request_id) as call:
            found = self._health(usable, request_id, timeout_seconds)
            if found.reason_code is not None:
                call.failed(found.reason_code, "fault" if found.outcome == "failed" else "error")
        return found

    def _health(self, usable: UsableGrader, request_id: str, timeout_seconds: float) -> Finding:
        started = time.monotonic()

        def failed(reason_code: HealthReason) -> Finding:
            return Finding("failed", round((time.monotonic() - started) * 1000), reason_code)

        try:
            answer = self.ask(
                usable, "/health", request_id=request_id, timeout_seconds=timeout_seconds
            )
            health = read_model(HealthResponse, answer.body, most_values=MAX_GRADER_RESPONSE_VALUES)
        except GraderCallError as error:
            return failed(error.reason_code)
        except TooManyValuesError:
            return failed("response_too_large")
        except ValueError:
            return failed("response_malformed")
        if health.status == "unhealthy":
            return failed("grader_unhealthy")
        if health.status == "degraded":
            return Finding("degraded", answer.elapsed_ms, "grader_degraded", health)
        return Finding("healthy", answer.elapsed_ms, answer=health)

    def _exchange(
        self,
        method: str,
        url: str,
        headers: dict[str, str],
        body: bytes,
        timeout_seconds: float,
        most_bytes: int,
    ) -> tuple[int, dict[str, str], bytes]:
        timeouts = {"connect": CONNECT_TIMEOUT_SECONDS, "pool": timeout_seconds}
        try:
            with (
                time_limit(timeout_seconds),
                self._connections.stream(
                    method,
                    url,
                    headers=list(headers.items()),
                    content=body,
                    extensions={"timeout": timeouts},
                ) as response,
            ):
                return response.status, text_headers(response), _read(response, most_bytes)
        except AddressRefusedError as error:
            raise GraderCallError("address_refused") from error
        except CertificateMismatchError as error:
            # Its owner may be renewing it: what was not sent can be sent later.
            raise GraderCallError("certificate_mismatch", retryable=True) from error
        except httpcore.TimeoutException as error:
            raise GraderCallError("grader_timeout", retryable=True) from error
        except (httpcore.NetworkError, httpcore.ProtocolError) as error:
            raise GraderCallError("grader_unreachable", retryable=True) from error


def _read(response: httpcore.Response, most_bytes: int) -> bytes:
    answer = bytearray()
    for part in response.iter_stream():
        answer += part
        if len(answer) > most_bytes:
            raise GraderCallError("response_too_large", status=response.status)
    return bytes(answer)


def _refusal(status: int, headers: dict[str, str]) -> GraderCallError:
    if status >= 500 or status in _RETRYABLE_STATUSES:
        wait = retry_after_seconds(
            headers.get("retry-after", ""), longest=_LONGEST_RETRY_AFTER_SECONDS
        )
        reason: ReasonCode = "grader_rate_limited" if status == 429 else "grader_error"
        return GraderCallError(reason, retryable=True, retry_after_seconds=wait, status=status)
    if 300 <= status < 400:
        return GraderCallError("redirect_refused", status=status)
    if status >= 400:
        return GraderCallError("grader_rejected", status=status)
    return GraderCallError("response_malformed", status=status)
