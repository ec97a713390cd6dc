"""The published vectors against a plain HMAC of this file's own, and against the signing module."""

import base64
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from autotune.protocol.signing import (
    SignatureError,
    sign_api_request,
    sign_grader_callback,
    sign_grader_request,
    sign_grader_response,
    verify_api_request,
    verify_grader_callback,
    verify_grader_request,
    verify_grader_response,
)

VECTORS = json.loads(
    (Path(__file__).parents[3] / "docs/protocol/signature-vectors.json").read_text(encoding="utf-8")
)

Case = dict[str, Any]


def cases(kind: str, validity: str) -> Any:
    return pytest.mark.parametrize(
        "case", VECTORS[kind][validity], ids=lambda case: case["name"].replace(" ", "-")
    )


def body_of(case: Case, prefix: str = "") -> bytes:
    name = f"{prefix}Body" if prefix else "body"
    if name in case:
        return str(case[name]).encode()
    return base64.b64decode(case[f"{name}Base64"])


def plain_signatures(secrets: list[str], payload: bytes) -> str:
    return " ".join(
        "v1=" + hmac.new(secret.encode(), payload, hashlib.sha256).hexdigest() for secret in secrets
    )


@cases("graderRequests", "valid")
def test_grader_requests_are_signed_as_published(case: Case) -> None:
    body = body_of(case)
    payload = f"{case['timestamp']}.{case['requestId']}.".encode() + body
    assert case["headers"]["x-autotune-signature"] == plain_signatures(case["secrets"], payload)
    signed = sign_grader_request(
        case["secrets"], request_id=case["requestId"], body=body, timestamp=case["timestamp"]
    )
    assert signed == case["headers"]


@cases("graderRequests", "valid")
def test_each_secret_of_a_rotation_verifies_a_grader_request(case: Case) -> None:
    for secret in case["secrets"]:
        request_id = verify_grader_request(
            case["headers"], body_of(case), [secret], now=case["timestamp"]
        )
        assert request_id == case["requestId"]


@cases("graderRequests", "accepted")
def test_what_no_signer_sends_may_verify_all_the_same(case: Case) -> None:
    accepted = verify_grader_request(
        case["headers"], body_of(case), case["secrets"], now=case["timestamp"]
    )
    assert accepted == case["requestId"]


@cases("graderRequests", "faulty")
def test_faulty_grader_requests_are_found_out(case: Case) -> None:
    with pytest.raises(SignatureError) as caught:
        verify_grader_request(case["headers"], body_of(case), case["secrets"], now=case["now"])
    assert caught.value.fault == case["fault"]


@cases("graderResponses", "valid")
def test_grader_responses_are_signed_as_published(case: Case) -> None:
    request_body, body = body_of(case, "request"), body_of(case)
    question = hashlib.sha256(request_body).hexdigest()
    payload = f"{case['timestamp']}.{case['requestId']}.{question}.".encode() + body
    expected = plain_signatures(case["secrets"], payload)
    assert case["headers"]["x-autotune-response-signature"] == expected
    signed = sign_grader_response(
        case["secrets"],
        request_id=case["requestId"],
        request_body=request_body,
        body=body,
        timestamp=case["timestamp"],
    )
    assert signed == case["headers"]


@cases("graderResponses", "valid")
def test_each_secret_of_a_rotation_verifies_a_grader_response(case: Case) -> None:
    for secret in case["secrets"]:
        verify_grader_response(
            case["headers"],
            body_of(case),
            [secret],
            request_id=case["requestId"],
            request_body=body_of(case, "request"),
            now=case["timestamp"],
        )


@cases("graderResponses", "faulty")
def test_faulty_grader_responses_are_found_out(case: Case) -> None:
    with pytest.raises(SignatureError) as caught:
        verify_grader_response(
            case["headers"],
            body_of(case),
            case["secrets"],
            request_id=case["requestId"],
            request_body=body_of(case, "request"),
            now=case["now"],
        )
    assert caught.value.fault == case["fault"]


@cases("apiRequests", "valid")
def test_api_requests_are_signed_as_published(case: Case) -> None:
    body = body_of(case)
    assert hashlib.sha256(body).hexdigest() in case["signedText"].split("\n")
    expected = plain_signatures([case["secret"]], case["signedText"].encode())
    assert case["headers"]["x-autotune-signature"] == expected
    signed = sign_api_request(
        key_id=case["keyId"],
        secret=case["secret"],
        method=case["method"],
        path=case["path"],
        query=case["query"],
        body=body,
        request_id=case["requestId"],
        timestamp=case["timestamp"],
    )
    assert signed == case["headers"]


@cases("apiRequests", "valid")
def test_published_api_requests_verify(case: Case) -> None:
    assert verify_case(case, now=case["timestamp"]) == case["requestId"]


@cases("apiRequests", "faulty")
def test_faulty_api_requests_are_found_out(case: Case) -> None:
    with pytest.raises(SignatureError) as caught:
        verify_case(case, now=case["now"])
    assert caught.value.fault == case["fault"]


def verify_case(case: Case, *, now: int) -> str:
    return verify_api_request(
        case["headers"],
        secrets=[case["secret"]],
        method=case["method"],
        path=case["path"],
        query=case["query"],
        body=body_of(case),
        now=now,
    )


@pytest.fixture
def macs_over(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of what MACs are computed over."""
    sizes: list[int] = []
    compute = hmac.new

    def counted(key: bytes, message: bytes, digest: Any) -> hmac.HMAC:
        sizes.append(len(message))
        return compute(key, message, digest)

    monkeypatch.setattr(hmac, "new", counted)
    return sizes


@pytest.mark.parametrize(
    ("given", "computed"),
    [
        ("v1= " * 10_000, 0),  # 40 KB: over 1,024 characters
        ("v1= " * 200, 0),  # more than 8
        ("v1= " * 8, 0),  # not one of 64 digits
        (" ".join([f"v1={'0' * 64}"] * 9), 0),
        (" ".join([f"v1={'0' * 64}"] * 8), 2),  # one for each secret, not for each signature
    ],
)
@pytest.mark.parametrize("verifier", ["request", "response", "callback"])
def test_a_header_does_not_decide_how_often_the_body_is_hashed(
    given: str, computed: int, verifier: str, macs_over: list[int]
) -> None:
    moment, body, secrets = 1_763_715_600, b"a" * 100_000, ["old" * 10, "new" * 10]
    request_id = "req_12345678"
    request = {
        "x-autotune-signature": given,
        "x-autotune-timestamp": str(moment),
        "x-autotune-request-id": request_id,
    }
    response = {
        "x-autotune-response-signature": given,
        "x-autotune-response-timestamp": str(moment),
    }
    verify = {
        "request": lambda: verify_grader_request(request, body, secrets, now=moment),
        "response": lambda: verify_grader_response(
            response, body, secrets, request_id=request_id, request_body=b"", now=moment
        ),
        "callback": lambda: verify_grader_callback(
            response, body, secrets, request_id=request_id, request_sha256="0" * 64, now=moment
        ),
    }
    with pytest.raises(SignatureError):
        verify[verifier]()
    assert len(macs_over) == computed
    assert all(size > len(body) for size in macs_over)


def test_a_request_at_the_edge_of_the_tolerance_is_accepted() -> None:
    case = VECTORS["graderRequests"]["valid"][0]
    tolerance = VECTORS["toleranceSeconds"]
    for now in (case["timestamp"] - tolerance, case["timestamp"] + tolerance):
        verify_grader_request(case["headers"], body_of(case), case["secrets"], now=now)


def test_header_names_may_come_in_any_case() -> None:
    case = VECTORS["graderRequests"]["valid"][0]
    shouted = {name.upper(): value for name, value in case["headers"].items()}
    verify_grader_request(shouted, body_of(case), case["secrets"], now=case["timestamp"])


@cases("graderResponses", "valid")
def test_callbacks_are_signed_as_responses_are(case: Case) -> None:
    said = {
        "request_id": case["requestId"],
        "request_sha256": hashlib.sha256(body_of(case, "request")).hexdigest(),
    }
    signed = sign_grader_callback(
        case["secrets"], body=body_of(case), timestamp=case["timestamp"], **said
    )
    assert signed == case["headers"]
    verify_grader_callback(
        case["headers"], body_of(case), case["secrets"], now=case["timestamp"], **said
    )
