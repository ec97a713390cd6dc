"""Who gets in: unsigned, wrongly signed, stale and replayed requests do not."""

import time
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_api_request
from autotune_platform.runtime import clients
from tests.support.platform import Platform

PATH = "/api/v1/keys/me"


def signed(platform: Platform, **changes: object) -> dict[str, str]:
    key_id, secret = platform.api_key.split(".")
    request = {
        "key_id": key_id,
        "secret": secret,
        "method": "GET",
        "path": PATH,
        "query": "",
        "body": b"",
        "request_id": new_id("req"),
    }
    return sign_api_request(**{**request, **changes})


def test_a_signed_request_is_answered_under_its_own_request_id(platform: Platform) -> None:
    headers = signed(platform)
    answer = platform.call("GET", PATH, signed=headers)
    assert answer.status == 200
    assert answer.headers["x-autotune-request-id"] == headers["x-autotune-request-id"]
    assert answer.json["key"]["role"] == "admin"


@pytest.mark.parametrize(
    "absent",
    [
        "x-autotune-key",
        "x-autotune-signature",
        "x-autotune-timestamp",
        "x-autotune-request-id",
    ],
)
def test_an_incompletely_signed_request_is_refused(platform: Platform, absent: str) -> None:
    headers = signed(platform)
    del headers[absent]
    answer = platform.call("GET", PATH, signed=headers)
    assert (answer.status, answer.json["code"]) == (401, "unauthenticated")
    assert answer.headers["content-type"] == "application/problem+json"
    assert absent in answer.json["detail"]
    assert answer.json["requestId"]


@pytest.mark.parametrize(
    "change",
    [
        {"secret": "0" * 64},
        {"method": "DELETE"},
        {"path": "/api/v1/keys"},
        {"query": "limit=1"},
        {"body": b"{}"},
        {"key_id": new_id("key")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_signature_over_anything_else_is_refused(platform: Platform, change: dict) -> None:
    answer = platform.call("GET", PATH, signed=signed(platform, **change))
    assert (answer.status, answer.json["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize("header", ["x-autotune-timestamp", "x-autotune-request-id"])
def test_a_changed_header_breaks_the_signature(platform: Platform, header: str) -> None:
    headers = signed(platform)
    headers[header] = {
        "x-autotune-timestamp": str(int(headers["x-autotune-timestamp"]) - 1),
        "x-autotune-request-id": new_id("req"),
    }[header]
    assert platform.call("GET", PATH, signed=headers).status == 401


@pytest.mark.parametrize("skew", [-301, 302])
def test_a_stale_request_is_refused(platform: Platform, skew: int) -> None:
    headers = signed(platform, timestamp=int(time.time()) + skew)
    answer = platform.call("GET", PATH, signed=headers)
    assert (answer.status, answer.json["code"]) == (401, "stale_request")
    assert "300 s" in answer.json["detail"]


def test_a_replayed_request_is_refused(platform: Platform) -> None:
    headers = signed(platform)
    assert platform.call("GET", PATH, signed=headers).status == 200
    answer = platform.call("GET", PATH, signed=headers)
    assert (answer.status, answer.json["code"]) == (401, "replayed_request")


def test_a_request_whose_id_is_stored_twice_by_the_same_call_is_no_replay(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []
    for client in (clients.dynamodb(), clients.brief_dynamodb()):
        put = client.put_item

        def as_if_the_first_answer_was_lost(put=put, **arguments: Any) -> Any:
            if str(arguments["Item"]["pk"]["S"]).startswith("nonce#"):
                tried.append(put(**arguments))
            return put(**arguments)

        monkeypatch.setattr(client, "put_item", as_if_the_first_answer_was_lost)
    headers = signed(platform)
    assert platform.call("GET", PATH, signed=headers).status == 200
    assert len(tried) == 1
    monkeypatch.undo()
    assert platform.call("GET", PATH, signed=headers).json["code"] == "replayed_request"


def test_an_unknown_key_looks_like_a_wrong_signature(platform: Platform) -> None:
    unknown = platform.call("GET", PATH, signed=signed(platform, key_id=new_id("key"))).json
    wrong = platform.call("GET", PATH, signed=signed(platform, secret="0" * 64)).json
    assert {**unknown, "requestId": ""} == {**wrong, "requestId": ""}


@pytest.mark.parametrize("kind", ["org", "task", "grd"])
def test_an_id_that_is_no_key_looks_like_a_wrong_signature(platform: Platform, kind: str) -> None:
    me = platform.call("GET", PATH).json["key"]
    other = me["organizationId"] if kind == "org" else new_id(kind)
    answer = platform.call("GET", PATH, signed=signed(platform, key_id=other))
    assert (answer.status, answer.json["code"]) == (401, "unauthenticated")


def test_a_field_with_a_name_that_is_no_text_is_refused(platform: Platform) -> None:
    body = {"name": "x", "role": "admin", "\ud800": 1}
    answer = platform.call("POST", "/api/v1/keys", body)
    assert (answer.status, answer.json["code"]) == (422, "invalid_request")


def test_a_busy_table_is_told_as_such(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    from botocore.exceptions import ClientError

    from autotune_platform.access.service import AccessService

    def refuse(*_: object, **__: object) -> None:
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "Query")

    monkeypatch.setattr(AccessService, "list_keys", refuse)
    answer = platform.call("GET", "/api/v1/keys")
    assert (answer.status, answer.json["code"]) == (503, "unavailable")
    assert answer.headers["retry-after"] == "1"


def test_an_unknown_path_tells_strangers_nothing(platform: Platform) -> None:
    assert platform.call("GET", "/api/v1/nothing", signed={}).status == 401
    answer = platform.call("GET", "/api/v1/nothing")
    assert (answer.status, answer.json["code"]) == (404, "not_found")


def test_a_wrong_method_names_the_right_ones(platform: Platform) -> None:
    answer = platform.call("PUT", "/api/v1/keys")
    assert (answer.status, answer.json["code"]) == (405, "method_not_allowed")
    assert "GET, POST" in answer.json["detail"]
    assert answer.headers["allow"] == "GET, POST"


def test_a_six_megabyte_body_is_refused_with_the_limit(platform: Platform) -> None:
    answer = platform.call("POST", "/api/v1/completions", raw=b" " * 6_000_000)
    assert (answer.status, answer.json["code"]) == (413, "request_too_large")
    assert answer.json["limit"] == {
        "name": "request body",
        "maximum": 5_000_000,
        "unit": "bytes",
        "actual": 6_000_000,
    }


@pytest.mark.parametrize(
    "raw",
    [b"{", b"", b'{"name": NaN}', b"[" * 9_000, b"\xff\xfe", b'{"name": ' + b"9" * 5_000 + b"}"],
    ids=["open", "empty", "NaN", "deep", "not UTF-8", "long integer"],
)
def test_what_is_not_json_is_refused_as_such(platform: Platform, raw: bytes) -> None:
    answer = platform.call("POST", "/api/v1/keys", raw=raw)
    assert answer.json["code"] == "invalid_request", answer.text
    assert answer.status == (422 if raw == b"" else 400)
    assert "body" in answer.fields


def test_another_content_type_is_refused(platform: Platform) -> None:
    answer = platform.call(
        "POST", "/api/v1/keys", raw=b"name=x", headers={"content-type": "text/plain"}
    )
    assert answer.status == 415


def test_an_unforeseen_error_tells_nothing_of_itself(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.access.service import AccessService

    def explode(*_: object, **__: object) -> None:
        raise RuntimeError("table secrets-of-ours is gone")

    monkeypatch.setattr(AccessService, "list_keys", explode)
    answer = platform.call("GET", "/api/v1/keys")
    assert (answer.status, answer.json["code"]) == (500, "internal_error")
    assert "secrets-of-ours" not in answer.text
