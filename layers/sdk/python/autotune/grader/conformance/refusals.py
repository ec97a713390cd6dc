"""Checks of what a grader must refuse: impostors, old and repeated requests, broken bodies."""

import secrets as random_secrets
from collections.abc import Sequence

import httpx

from autotune.grader.conformance.session import CheckFailedError, Exchange, GraderSession, encode
from autotune.protocol.limits import MAX_GRADER_REQUEST_BYTES, SIGNATURE_TOLERANCE_SECONDS

_BEYOND_TOLERANCE_SECONDS = SIGNATURE_TOLERANCE_SECONDS + 60


def unsigned_refused(session: GraderSession) -> str:
    """A POST /score without a signature is answered 401."""
    request_id, body = session.question()
    return _require_refused(session.send("POST", "/score", body, request_id, {}))


def wrongly_signed_refused(session: GraderSession) -> str:
    """A POST /score that is signed with another secret is answered 401."""
    request_id, body = session.question()
    impostor = [random_secrets.token_hex(32)]
    return _require_refused(session.post("/score", body, request_id, secrets=impostor))


def stale_refused(session: GraderSession) -> str:
    """A POST /score whose timestamp is 360 s old is answered 401."""
    return _shifted(session, -_BEYOND_TOLERANCE_SECONDS)


def future_refused(session: GraderSession) -> str:
    """A POST /score whose timestamp is 360 s ahead is answered 401."""
    return _shifted(session, _BEYOND_TOLERANCE_SECONDS)


def replay_refused(session: GraderSession) -> str:
    """The same request sent twice is answered once; the second time 401 (or 409)."""
    session.first_score()
    request_id, body = session.question()
    first = session.post("/score", body, request_id)
    if first.status != 200:
        raise CheckFailedError(f"the first time it answered {first.status}")
    return _require_refused(session.post("/score", body, request_id), statuses=(401, 409))


def tampered_refused(session: GraderSession) -> str:
    """A POST /score whose body was changed after signing is answered 401."""
    session.first_score()
    request_id, signed = session.question()
    changed = encode(session.score_body(request_id))
    return _require_refused(session.post("/score", changed, request_id, signed_body=signed))


def malformed_refused(session: GraderSession) -> str:
    """A signed body that is no JSON is answered with a 4xx."""
    session.first_score()
    request_id, _ = session.question()
    return _require_client_error(session.post("/score", b'{"requestId": "', request_id))


def oversized_refused(session: GraderSession) -> str:
    """A body over 6,000,000 bytes is answered with a 4xx such as 413, or the connection closes."""
    session.first_score()
    completion = session.completion(response="a" * MAX_GRADER_REQUEST_BYTES)
    request_id, body = session.question(completion=completion)
    try:
        exchange = session.post("/score", body, request_id)
    except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        return "the connection was closed"
    return _require_client_error(exchange)


def _shifted(session: GraderSession, seconds: int) -> str:
    session.first_score()
    request_id, body = session.question()
    return _require_refused(session.post("/score", body, request_id, shift_seconds=seconds))


def _require_refused(exchange: Exchange, statuses: Sequence[int] = (401,)) -> str:
    if exchange.status not in statuses:
        raise CheckFailedError(f"it answered {exchange.status}")
    return f"it answered {exchange.status}"


def _require_client_error(exchange: Exchange) -> str:
    if exchange.status == 401 or not 400 <= exchange.status < 500:
        raise CheckFailedError(f"it answered {exchange.status}")
    return f"it answered {exchange.status}"
