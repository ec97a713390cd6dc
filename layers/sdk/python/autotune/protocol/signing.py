"""HMAC-SHA256 signatures over raw bytes: grader requests, grader responses, API requests.

The scheme is written down in ``docs/protocol.md`` with test vectors in
``docs/protocol/signature-vectors.json``. A header value is ``v1=<hex>``; while a secret rotates it
holds several, separated by spaces, and one match is enough.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, quote, unquote, urlencode

from autotune.protocol.signature_headers import ReceivedHeaders, signatures
from autotune.protocol.signature_headers import SignatureError as SignatureError  # noqa: PLC0414

SIGNATURE_HEADER = "x-autotune-signature"
TIMESTAMP_HEADER = "x-autotune-timestamp"
REQUEST_ID_HEADER = "x-autotune-request-id"
RESPONSE_SIGNATURE_HEADER = "x-autotune-response-signature"
RESPONSE_TIMESTAMP_HEADER = "x-autotune-response-timestamp"
KEY_HEADER = "x-autotune-key"


def sign_grader_request(
    secrets: Sequence[str], *, request_id: str, body: bytes, timestamp: int | None = None
) -> dict[str, str]:
    """Return the three headers with which Autotune calls a grader.

    Signs ``timestamp.requestId.body`` once with each secret; ``timestamp`` is Unix seconds, now
    unless given.
    """
    moment = _moment(timestamp)
    return {
        SIGNATURE_HEADER: signatures(secrets, _grader_request_payload(moment, request_id, body)),
        TIMESTAMP_HEADER: moment,
        REQUEST_ID_HEADER: request_id,
    }


def verify_grader_request(
    headers: Mapping[str, str], body: bytes, secrets: Sequence[str], *, now: float | None = None
) -> str:
    """Check what a grader received; return the request id.

    Args:
        headers: the request's headers, in any case.
        secrets: the shared secrets that are valid now.

    Raises:
        SignatureError: the request is not from Autotune, or not from the last 300 s.
    """
    received = ReceivedHeaders(headers)
    request_id = received.request_id(REQUEST_ID_HEADER)
    moment = received.timestamp(TIMESTAMP_HEADER, now)
    received.check(
        SIGNATURE_HEADER, secrets, lambda: _grader_request_payload(moment, request_id, body)
    )
    return request_id


def sign_grader_response(
    secrets: Sequence[str],
    *,
    request_id: str,
    request_body: bytes,
    body: bytes,
    timestamp: int | None = None,
) -> dict[str, str]:
    """Return the two headers with which a grader answers.

    Signs ``timestamp.requestId.sha256hex(request body).body``: the answer fits no other question.
    """
    question = hashlib.sha256(request_body).hexdigest()
    return sign_grader_callback(
        secrets, request_id=request_id, request_sha256=question, body=body, timestamp=timestamp
    )


def verify_grader_response(
    headers: Mapping[str, str],
    body: bytes,
    secrets: Sequence[str],
    *,
    request_id: str,
    request_body: bytes,
    now: float | None = None,
) -> None:
    """Check a grader's answer against the request it must belong to.

    Raises:
        SignatureError: unsigned, signed by another, too old, or the answer to another request.
    """
    question = hashlib.sha256(request_body).hexdigest()
    verify_grader_callback(
        headers, body, secrets, request_id=request_id, request_sha256=question, now=now
    )


def sign_grader_callback(
    secrets: Sequence[str],
    *,
    request_id: str,
    request_sha256: str,
    body: bytes,
    timestamp: int | None = None,
) -> dict[str, str]:
    """Return the two headers with which a grader answers later.

    What is signed is what ``sign_grader_response`` signs; whoever answers keeps no more of the
    question than the SHA-256 of its body, in lower-case hexadecimal.
    """
    moment = _moment(timestamp)
    payload = _grader_response_payload(moment, request_id, request_sha256, body)
    return {
        RESPONSE_SIGNATURE_HEADER: signatures(secrets, payload),
        RESPONSE_TIMESTAMP_HEADER: moment,
    }


def verify_grader_callback(
    headers: Mapping[str, str],
    body: bytes,
    secrets: Sequence[str],
    *,
    request_id: str,
    request_sha256: str,
    now: float | None = None,
) -> None:
    """Check what a grader sent later against the request that it must belong to.

    Raises:
        SignatureError: unsigned, signed by another, too old, or the answer to another request.
    """
    received = ReceivedHeaders(headers)
    moment = received.timestamp(RESPONSE_TIMESTAMP_HEADER, now)
    received.check(
        RESPONSE_SIGNATURE_HEADER,
        secrets,
        lambda: _grader_response_payload(moment, request_id, request_sha256, body),
    )


def sign_api_request(
    *,
    key_id: str,
    secret: str,
    method: str,
    path: str,
    query: str,
    body: bytes,
    request_id: str,
    timestamp: int | None = None,
) -> dict[str, str]:
    """Return the four headers of a signed API request.

    Args:
        path: the path below the API's base URL, such as ``/api/v1/tasks``.
        query: the raw query string without ``?``; parameter order does not matter.
        request_id: unique for each attempt; a second use within 300 s is refused as a replay.
    """
    moment = _moment(timestamp)
    payload = _api_request_payload(key_id, method, path, query, body, moment, request_id)
    return {
        KEY_HEADER: key_id,
        SIGNATURE_HEADER: signatures([secret], payload),
        TIMESTAMP_HEADER: moment,
        REQUEST_ID_HEADER: request_id,
    }


def verify_api_request(
    headers: Mapping[str, str],
    *,
    secrets: Sequence[str],
    method: str,
    path: str,
    query: str,
    body: bytes,
    now: float | None = None,
) -> str:
    """Check a signed API request; return its request id.

    Raises:
        SignatureError: a header is missing or malformed, the request stale, the signature wrong.
    """
    received = ReceivedHeaders(headers)
    key_id = received.required(KEY_HEADER)
    request_id = received.request_id(REQUEST_ID_HEADER)
    moment = received.timestamp(TIMESTAMP_HEADER, now)
    received.check(
        SIGNATURE_HEADER,
        secrets,
        lambda: _api_request_payload(key_id, method, path, query, body, moment, request_id),
    )
    return request_id


def _grader_request_payload(moment: str, request_id: str, body: bytes) -> bytes:
    return f"{moment}.{request_id}.".encode() + body


def _grader_response_payload(moment: str, request_id: str, question: str, body: bytes) -> bytes:
    return f"{moment}.{request_id}.{question}.".encode() + body


def _api_request_payload(
    key_id: str, method: str, path: str, query: str, body: bytes, moment: str, request_id: str
) -> bytes:
    # Gateways re-encode paths and query strings on their way, so both sides sign a canonical form.
    canonical_path = quote(unquote(path), safe="/~")
    parameters = sorted(parse_qsl(query, keep_blank_values=True))
    lines = [
        "autotune-api-v1",
        key_id,
        method.upper(),
        canonical_path,
        urlencode(parameters, quote_via=quote, safe="~"),
        hashlib.sha256(body).hexdigest(),
        moment,
        request_id,
    ]
    return "\n".join(lines).encode()


def _moment(timestamp: int | None) -> str:
    return str(int(time.time()) if timestamp is None else timestamp)
