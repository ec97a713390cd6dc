"""Graders are registered by their owners, verified, and shown to others only in part."""

from collections.abc import Iterator

import pytest

from tests.support.graders import (
    Disease,
    Exchange,
    LoopbackGrader,
    answering,
    deferring,
    loopback_grader,
    scoring,
)
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform

CAPABILITIES = {
    "maxBatchSize": 16,
    "supportsDimensions": True,
    "supportsExplanations": True,
    "supportsAsync": False,
    "avgLatencyMs": 40,
    "domains": ["maths"],
}


@pytest.fixture
def aws_platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    """A platform that admits public addresses only, as on AWS."""
    with make_platform(monkeypatch, admit_private=False) as made:
        yield made


def test_a_grader_keeps_every_field_and_shows_its_secret_once(
    platform: Platform, grader: LoopbackGrader
) -> None:
    body = {
        "name": "maths",
        "description": "final answers",
        "endpoint": grader.url,
        "capabilities": CAPABILITIES,
        "limits": {"maxConcurrency": 4, "requestsPerSecond": 0.5, "hedgeAfterMs": 800},
        "visibility": "public",
        "shareReasoning": True,
    }
    registered = platform.call("POST", "/api/v1/graders", body)
    assert registered.status == 201
    secret = registered.json["credentials"]["sharedSecret"]
    assert len(secret) == 64
    shown = registered.json["grader"]
    assert shown.items() >= body.items()
    assert (shown["status"], shown["verifiedAt"]) == ("inactive", None)
    read = platform.call("GET", f"/api/v1/graders/{shown['id']}")
    assert read.json["grader"] == shown
    assert secret not in read.text + platform.call("GET", "/api/v1/graders").text


def test_verification_makes_a_grader_active(platform: Platform, grader: LoopbackGrader) -> None:
    grader.version = "2.7"
    grader_id = platform.new_grader(grader)
    shown = platform.call("GET", f"/api/v1/graders/{grader_id}").json["grader"]
    assert (shown["status"], shown["version"]) == ("active", "2.7")
    assert shown["verifiedAt"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"secret": "not ours"}, "grader_rejected"),
        ({"refuses_strangers": False}, "unauthenticated_request_accepted"),
        ({"health": {"status": "unhealthy"}}, "grader_unhealthy"),
        ({"health": {"status": "fine"}}, "response_malformed"),
        ({"health": {"version": ""}}, "response_malformed"),
        ({"health": {"capabilities": {"maxBatchSize": 20}}}, "batch_size_too_large"),
    ],
)
def test_a_grader_that_fails_a_check_stays_inactive(
    platform: Platform, options: dict, reason: str
) -> None:
    with loopback_grader(**options) as grader:
        body = {"name": "g", "endpoint": grader.url, "capabilities": {"maxBatchSize": 21}}
        registered = platform.call("POST", "/api/v1/graders", body).json
        grader.secret = grader.secret or registered["credentials"]["sharedSecret"]
        grader_id = registered["grader"]["id"]
        answer = platform.call("POST", f"/api/v1/graders/{grader_id}/verify")
    assert answer.status == 200
    assert answer.json["verified"] is False
    assert answer.json["grader"]["status"] == "inactive"
    assert reason in [check.get("reasonCode") for check in answer.json["checks"]]


def refusing(exchange: Exchange) -> None:
    del exchange.answer["score"]
    exchange.answer["error"] = "grader_failed"


@pytest.mark.parametrize(
    ("disease", "reason"),
    [
        (answering(status=500), "grader_error"),
        (answering(sign=False), "response_unsigned"),
        (answering(body=b"{}"), "response_malformed"),
        (answering(body=b"[" * 2_000), "response_too_large"),
        (scoring(7), "response_malformed"),
        (refusing, "item_failed"),
        (deferring, "response_malformed"),
    ],
)
def test_a_grader_that_scores_nothing_stays_inactive(
    platform: Platform, grader: LoopbackGrader, disease: Disease, reason: str
) -> None:
    grader_id = platform.new_grader(grader)
    grader.question_disease = disease
    answer = platform.call("POST", f"/api/v1/graders/{grader_id}/verify").json
    assert (answer["verified"], answer["grader"]["status"]) == (False, "inactive")
    assert answer["checks"][-1]["reasonCode"] == reason


def test_the_question_of_a_verification_says_what_it_is(
    platform: Platform, grader: LoopbackGrader
) -> None:
    platform.new_grader(grader)
    (asked,) = grader.verifications
    assert asked["completion"]["metadata"] == {"autotuneVerification": True}
    assert "callbackUrl" not in asked
    assert not grader.requests
    assert platform.call("GET", "/api/v1/scores").json["scores"] == []


def abstaining(exchange: Exchange) -> None:
    del exchange.answer["score"]
    exchange.answer["abstained"] = True


def test_a_grader_may_abstain_from_the_question(platform: Platform, grader: LoopbackGrader) -> None:
    grader.question_disease = abstaining
    platform.new_grader(grader)


def test_a_grader_that_answers_later_may_do_so_and_nobody_takes_the_answer(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader.question_disease = deferring
    platform.new_grader(grader, capabilities={"supportsAsync": True})
    (asked,) = grader.verifications
    path = "/api/v1/callbacks/" + asked["callbackUrl"].rpartition("/")[2]
    assert platform.call_back(path, b"{}", {}).status == 404


def test_a_new_endpoint_has_to_be_verified_again(
    platform: Platform, grader: LoopbackGrader
) -> None:
    path = f"/api/v1/graders/{platform.new_grader(grader)}"
    renamed = platform.call("PATCH", path, {"name": "other"}).json["grader"]
    assert renamed["status"] == "active"
    moved = platform.call("PATCH", path, {"endpoint": "http://127.0.0.1:1"}).json["grader"]
    assert (moved["status"], moved["verifiedAt"], moved["version"]) == ("inactive", None, None)


def test_others_see_a_public_grader_without_its_endpoint(
    platform: Platform, grader: LoopbackGrader
) -> None:
    path = f"/api/v1/graders/{platform.new_grader(grader)}"
    other = platform.new_organization("second")
    assert platform.call("GET", path, api_key=other).status == 404
    platform.call("PATCH", path, {"visibility": "public"})
    assert platform.call("GET", path, api_key=other).json["grader"]["endpoint"] is None
    for method, suffix, body in [
        ("PATCH", "", {"name": "x"}),
        ("DELETE", "", None),
        ("POST", "/verify", None),
    ]:
        assert platform.call(method, path + suffix, body, api_key=other).status == 404


def test_an_owner_manages_only_what_its_principal_registered(platform: Platform) -> None:
    mine, twin, stranger = (
        platform.new_key("grader_owner", principal_id=who) for who in ("ann", "ann", "bob")
    )
    body = {"name": "g", "endpoint": "http://127.0.0.1:1"}
    grader_id = platform.call("POST", "/api/v1/graders", body, api_key=mine).json["grader"]["id"]
    path = f"/api/v1/graders/{grader_id}"
    assert platform.call("PATCH", path, {"name": "x"}, api_key=twin).status == 200
    assert platform.call("GET", path, api_key=stranger).status == 404
    assert platform.call("DELETE", path, api_key=stranger).status == 404
    assert platform.call("GET", "/api/v1/graders", api_key=stranger).json["graders"] == []
    assert platform.call("DELETE", path, api_key=mine).status == 204
    task = {"name": "t", "graderId": grader_id}
    assert platform.call("POST", "/api/v1/tasks", task, api_key=mine).status == 403


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://127.0.0.1",
        "https://localhost/grader",
        "https://10.1.2.3",
        "https://192.168.0.1",
        "https://169.254.169.254/latest",
        "https://[::1]",
        "https://[fe80::1]",
        "https://[::ffff:10.0.0.1]",
        "https://[64:ff9b::a00:1]",
        "https://100.64.0.1",
        "https://0.0.0.0",
        "https://2130706433",
        "http://example.com",
        "ftp://example.com",
        "https://user:secret@example.com",
        "https://example.com/?q=1",
        "https://example.com/#x",
        "https://example.com:99999",
        "https://93.184.215.14:22",
        "https://93.184.215.14:80",
        "https://93.184.215.14:1023",
        "https://93.184.215.14:0",
        "https://",
        "grader",
        "https://exämple.com",
        "https://a..com\u0000",
        "https://[fec0::1]",
        "https://[::7f00:1]",
    ],
)
def test_an_endpoint_that_leads_inside_or_nowhere_is_refused(
    aws_platform: Platform, endpoint: str
) -> None:
    answer = aws_platform.call("POST", "/api/v1/graders", {"name": "g", "endpoint": endpoint})
    assert (answer.status, answer.json["code"]) == (422, "invalid_request")
    assert "endpoint" in answer.fields


def test_a_name_that_turns_private_later_is_refused_when_called(
    aws_platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.outbound import addresses, connections

    monkeypatch.setattr(addresses, "resolve", lambda *_: ["93.184.215.14"])
    body = {"name": "g", "endpoint": "https://rebinding.example"}
    grader_id = aws_platform.call("POST", "/api/v1/graders", body).json["grader"]["id"]
    monkeypatch.setattr(connections, "resolve", lambda *_: ["93.184.215.14", "127.0.0.1"])
    answer = aws_platform.call("POST", f"/api/v1/graders/{grader_id}/verify").json
    assert answer["verified"] is False
    assert answer["checks"][0]["reasonCode"] == "address_refused"


def test_a_misspelt_capability_is_named(platform: Platform) -> None:
    body = {"name": "g", "endpoint": "http://127.0.0.1:1", "capabilities": {"maxBatchsize": 5}}
    answer = platform.call("POST", "/api/v1/graders", body)
    assert answer.status == 422
    assert "maxBatchsize" in answer.fields["capabilities"]


def test_missing_and_wrong_fields_are_named(platform: Platform) -> None:
    body = {
        "endpoint": "",
        "capabilities": {"maxBatchSize": 0, "avgLatencyMs": "slow"},
        "secret": 1,
    }
    answer = platform.call("POST", "/api/v1/graders", body)
    assert answer.status == 422
    assert set(answer.fields) == {
        "name",
        "endpoint",
        "capabilities.maxBatchSize",
        "capabilities.avgLatencyMs",
        "secret",
    }
