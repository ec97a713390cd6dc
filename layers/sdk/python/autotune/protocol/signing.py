"""HMAC-SHA256 signatures over raw bytes: grader requests, grader responses, API requests.

The scheme is written down in ``docs/protocol.md`` with test vectors in
``docs/protocol/signature-vectors.json``. A header value is ``v1=<hex>``; while a secret rotates it
holds several, separated by spaces, and one match is enough.

A verifier computes one MAC for each of its own secrets, whatever the header holds. It checks the
header's size and form first, so that a malformed header costs it no pass over the body.
"""

import hashlib
import hmac
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode

from autotune.protocol.limits import (
    MAX_SIGNATURE_HEADER_CHARACTERS,
    MAX_SIGNATURES,
    SIGNATURE_TOLERANCE_SECONDS,
)

SIGNATURE_HEADER = "x-autotune-signature"
TIMESTAMP_HEADER = "x-autotune-timestamp"
REQUEST_ID_HEADER = "x-autotune-request-id"
RESPONSE_SIGNATURE_HEADER = "x-autotune-response-signature"
RESPONSE_TIMESTAMP_HEADER = "x-autotune-response-timestamp"
KEY_HEADER = "x-autotune-key"

_REQUEST_ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{8,128}")
_SIGNATURE_PATTERN = re.compile(r"v1=([0-9a-f]{64})")

SignatureFault = Literal["missing", "malformed", "stale", "mismatch"]


class SignatureError(Exception):
    """A signature that does not hold.

    Attributes:
        fault: ``missing`` (a header is absent), ``malformed`` (a header cannot be read), ``stale``
            (the timestamp is over 300 s from now) or ``mismatch`` (no signature fits).
    """

    def __init__(self, fault: SignatureFault, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault


def sign_grader_request(
    secrets: Sequence[str], *, request_id: str, body: bytes, timestamp: int | None = None
) -> dict[str, str]:
    """Return the three headers with which Autotune calls a grader.

    Signs ``timestamp.requestId.body`` once with each secret; ``timestamp`` is Unix seconds, now
    unless given.
    """
    moment = str(_now() if timestamp is None else timestamp)
    return {
        SIGNATURE_HEADER: _signatures(secrets, _grader_request_payload(moment, request_id, body)),
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
    received = _lowered(headers)
    request_id = _request_id(received)
    moment = _timestamp(received, TIMESTAMP_HEADER, now)
    _check(
        received,
        SIGNATURE_HEADER,
        secrets,
        lambda: _grader_request_payload(moment, request_id, body),
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
    return sign_grader_callback(
        secrets,
        request_id=request_id,
        request_sha256=hashlib.sha256(request_body).hexdigest(),
        body=body,
        timestamp=timestamp,
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
    verify_grader_callback(
        headers,
        body,
        secrets,
        request_id=request_id,
        request_sha256=hashlib.sha256(request_body).hexdigest(),
        now=now,
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
    moment = str(_now() if timestamp is None else timestamp)
    payload = _grader_response_payload(moment, request_id, request_sha256, body)
    return {
        RESPONSE_SIGNATURE_HEADER: _signatures(secrets, payload),
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
    received = _lowered(headers)
    moment = _timestamp(received, RESPONSE_TIMESTAMP_HEADER, now)
    _check(
        received,
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
    moment = str(_now() if timestamp is None else timestamp)
    payload = _api_request_payload(key_id, method, path, query, body, moment, request_id)
    return {
        KEY_HEADER: key_id,
        SIGNATURE_HEADER: _signatures([secret], payload),
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
    received = _lowered(headers)
    key_id = _required(received, KEY_HEADER)
    request_id = _request_id(received)
    moment = _timestamp(received, TIMESTAMP_HEADER, now)
    _check(
        received,
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


def _signatures(secrets: Sequence[str], payload: bytes) -> str:
    return " ".join(f"v1={_mac(secret, payload)}" for secret in secrets)


def _mac(secret: str, payload: bytes) -> str:
    return hmac.new(secret.encode(), payload, hashlib.sha256).hexdigest()


def _check(
    headers: Mapping[str, str], name: str, secrets: Sequence[str], payload: Callable[[], bytes]
) -> None:
    given = _signatures_in(_required(headers, name), name)
    signed = payload()
    # Every pair is compared, so that timing tells nothing about which secret or signature was near.
    expected = [_mac(secret, signed).encode() for secret in secrets]
    matches = [hmac.compare_digest(mac, signature) for mac in expected for signature in given]
    if not any(matches):
        raise SignatureError("mismatch", f"{name} fits no valid secret")


def _signatures_in(value: str, name: str) -> list[bytes]:
    """Return the hexadecimal digits of a header's signatures, those of this version alone."""
    if len(value) > MAX_SIGNATURE_HEADER_CHARACTERS:
        raise SignatureError(
            "malformed", f"{name} has more than {MAX_SIGNATURE_HEADER_CHARACTERS} characters"
        )
    parts = value.split()
    if len(parts) > MAX_SIGNATURES:
        raise SignatureError("malformed", f"{name} holds more than {MAX_SIGNATURES} signatures")
    found = [match[1].encode() for match in map(_SIGNATURE_PATTERN.fullmatch, parts) if match]
    if not found:
        raise SignatureError(
            "malformed",
            f"{name} must be v1= and 64 lower-case hexadecimal digits, several separated by spaces",
        )
    return found


def _timestamp(headers: Mapping[str, str], name: str, now: float | None) -> str:
    value = _required(headers, name)
    if not (value.isascii() and value.isdigit() and len(value) <= 12):
        raise SignatureError("malformed", f"{name} must be Unix seconds")
    if abs(_now(now) - int(value)) > SIGNATURE_TOLERANCE_SECONDS:
        raise SignatureError(
            "stale", f"{name} is more than {SIGNATURE_TOLERANCE_SECONDS} s from the current time"
        )
    return value


def _request_id(headers: Mapping[str, str]) -> str:
    value = _required(headers, REQUEST_ID_HEADER)
    if not _REQUEST_ID_PATTERN.fullmatch(value):
        raise SignatureError(
            "malformed", f"{REQUEST_ID_HEADER} must be 8 to 128 of A-Z a-z 0-9 _ -"
        )
    return value


def _required(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise SignatureError("missing", f"{name} is missing")
    return value


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _now(now: float | None = None) -> int:
    return int(time.time() if now is None else now)
