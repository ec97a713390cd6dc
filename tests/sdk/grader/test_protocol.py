"""The protocol's core through Lambda events: signatures, replays, bodies, batches, health."""

import base64
import hashlib
import json
import time
from typing import Any

import pytest

from autotune.grader import GradedCompletion, GraderScore, UnsupportedEventError, grader
from autotune.protocol.limits import MAX_GRADER_REQUEST_BYTES, MAX_GRADER_RESPONSE_BYTES
from autotune.protocol.problems import Problem
from autotune.protocol.signing import REQUEST_ID_HEADER, verify_grader_response

SIGNATURE = "x-autotune-response-signature"


@pytest.fixture
def graded(secret: str) -> Any:
    @grader(name="test", version="2.1.0", max_batch_size=4, domains=["math"], secrets=secret)
    def lengths(completion: GradedCompletion) -> float:
        if completion.response == "fail":
            raise RuntimeError("private")
        return min(1.0, len(completion.response) / 10)

    return lengths


def problem_of(result: dict[str, Any]) -> Problem:
    assert result["headers"]["content-type"] == "application/problem+json"
    problem = Problem.model_validate_json(result["body"])
    assert problem.status == result["statusCode"]
    return problem


def assert_signed(event: dict[str, Any], result: dict[str, Any], secret: str) -> None:
    verify_grader_response(
        result["headers"],
        result["body"].encode(),
        [secret],
        request_id=event["headers"][REQUEST_ID_HEADER],
        request_body=event["body"].encode(),
    )


def test_a_score_is_answered_and_signed(graded: Any, score_event: Any, secret: str) -> None:
    event = score_event(response="12345")
    result = graded.lambda_handler(event, None)
    answer = json.loads(result["body"])
    assert answer["requestId"] == json.loads(event["body"])["requestId"]
    assert answer["graderVersion"] == "2.1.0"
    assert answer["score"] == {"value": 0.5, "confidence": 1.0}
    assert answer["processingTimeMs"] >= 0
    assert_signed(event, result, secret)


@pytest.mark.parametrize(
    "path", ["/score", "/score/", "/prod/score", "/_aws/lambda-url/abc/score", "//score"]
)
def test_any_prefix_before_the_operation_is_tolerated(
    graded: Any, score_event: Any, path: str
) -> None:
    assert graded.lambda_handler({**score_event(), "rawPath": path})["statusCode"] == 200


def test_base64_bodies_are_the_bytes_that_were_signed(
    graded: Any, score_event: Any, secret: str
) -> None:
    event = score_event(response="日本語", prompt="🙂")
    encoded = base64.b64encode(event["body"].encode()).decode()
    result = graded.lambda_handler({**event, "body": encoded, "isBase64Encoded": True})
    assert result["statusCode"] == 200
    assert_signed(event, result, secret)


@pytest.mark.parametrize(
    "drop", ["x-autotune-signature", "x-autotune-timestamp", "x-autotune-request-id", "all"]
)
def test_an_incompletely_signed_request_is_refused(
    graded: Any, score_event: Any, drop: str
) -> None:
    event = score_event()
    for name in [name for name in event["headers"] if drop in ("all", name)]:
        del event["headers"][name]
    result = graded.lambda_handler(event)
    assert problem_of(result).code == "unauthenticated"
    assert result["statusCode"] == 401
    assert SIGNATURE not in result["headers"]


def test_a_request_signed_with_another_secret_is_refused(graded: Any, make_event: Any) -> None:
    result = graded.lambda_handler(make_event("POST", "/score", b"{}", secret="wrong"))
    assert (result["statusCode"], problem_of(result).code) == (401, "unauthenticated")


# A second may end between here and there.
@pytest.mark.parametrize("shift", [-301, 302])
def test_a_request_from_another_time_is_refused(graded: Any, make_event: Any, shift: int) -> None:
    event = make_event("POST", "/score", b"{}", timestamp=int(time.time()) + shift)
    result = graded.lambda_handler(event)
    assert (result["statusCode"], problem_of(result).code) == (401, "stale_request")


def test_a_changed_body_is_refused(graded: Any, score_event: Any) -> None:
    event = score_event()
    event["body"] += " "
    assert graded.lambda_handler(event)["statusCode"] == 401


def test_a_replayed_request_is_refused(graded: Any, score_event: Any) -> None:
    event = score_event()
    assert graded.lambda_handler(event)["statusCode"] == 200
    result = graded.lambda_handler(event)
    assert (result["statusCode"], problem_of(result).code) == (401, "replayed_request")


def test_both_secrets_are_valid_during_a_rotation(
    graded: Any, score_event: Any, secret: str
) -> None:
    rotating = graded.with_secrets(f"new-{secret} {secret}")
    event = score_event()
    result = rotating.lambda_handler(event)
    assert result["statusCode"] == 200
    assert len(result["headers"][SIGNATURE].split()) == 2
    assert_signed(event, result, secret)
    assert_signed(event, result, f"new-{secret}")


@pytest.mark.parametrize("body", [b"", b"{", b"\xef\xbb\xbf{}", b"[" * 100_000, b"nope"])
def test_what_is_not_json_is_answered_400_and_signed(
    graded: Any, make_event: Any, secret: str, body: bytes
) -> None:
    for path in ("/score", "/score/batch"):
        event = make_event("POST", path, body)
        result = graded.lambda_handler(event)
        assert (result["statusCode"], problem_of(result).code) == (400, "invalid_request")
        assert_signed(event, result, secret)


def test_missing_and_wrong_fields_are_named(graded: Any, make_event: Any) -> None:
    body = {"completion": {"id": "c", "taskId": "t", "prompt": 5}, "options": []}
    result = graded.lambda_handler(make_event("POST", "/score", json.dumps(body).encode()))
    fields = {fault.field for fault in problem_of(result).errors}
    assert result["statusCode"] == 422
    assert fields == {"requestId", "completion.prompt", "completion.response", "options"}


def test_a_number_or_a_list_is_no_request(graded: Any, make_event: Any) -> None:
    for body in (b"5", b"[]", b"null"):
        assert graded.lambda_handler(make_event("POST", "/score", body))["statusCode"] == 422


def test_unknown_fields_are_skipped(graded: Any, make_event: Any, completion: Any) -> None:
    body = {"requestId": "r", "completion": completion(later=1), "options": {"l": 1}, "later": {}}
    result = graded.lambda_handler(make_event("POST", "/score", json.dumps(body).encode()))
    assert result["statusCode"] == 200


def test_a_body_over_the_limit_is_refused_with_the_limit(graded: Any, make_event: Any) -> None:
    body = b"a" * (MAX_GRADER_REQUEST_BYTES + 1)
    result = graded.lambda_handler(make_event("POST", "/score", body))
    problem = problem_of(result)
    assert (problem.status, problem.code) == (413, "request_too_large")
    assert problem.limit is not None
    assert problem.limit.maximum == 6_000_000


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("GET", "/score", "POST"), ("PUT", "/score/batch", "POST"), ("POST", "/health", "GET")],
)
def test_another_method_is_answered_405(
    graded: Any, make_event: Any, secret: str, method: str, path: str, allowed: str
) -> None:
    event = make_event(method, path)
    result = graded.lambda_handler(event)
    assert (result["statusCode"], result["headers"]["allow"]) == (405, allowed)
    assert_signed(event, result, secret)


@pytest.mark.parametrize("path", ["/", "/scores", "/score/batch/1", "/healthz", ""])
def test_an_unknown_path_is_answered_404(graded: Any, make_event: Any, path: str) -> None:
    result = graded.lambda_handler(make_event("POST", path))
    assert (result["statusCode"], problem_of(result).code) == (404, "not_found")


def test_an_event_of_another_kind_is_an_error(graded: Any) -> None:
    for event in ({}, {"httpMethod": "GET", "path": "/health"}, {"Records": []}):
        with pytest.raises(UnsupportedEventError, match="payload format"):
            graded.lambda_handler(event)


def test_health_without_a_signature_is_plain(graded: Any, make_event: Any) -> None:
    event = {**make_event("GET", "/health"), "headers": {}}
    del event["body"]
    result = graded.lambda_handler(event)
    health = json.loads(result["body"])
    assert (health["status"], health["version"]) == ("healthy", "2.1.0")
    assert health["capabilities"]["maxBatchSize"] == 4
    assert health["capabilities"]["domains"] == ["math"]
    assert SIGNATURE not in result["headers"]


def test_signed_health_is_signed_back_and_a_wrong_signature_refused(
    graded: Any, make_event: Any, secret: str
) -> None:
    event = make_event("GET", "/health")
    assert_signed(event, graded.lambda_handler(event), secret)
    assert graded.lambda_handler(make_event("GET", "/health", secret="x"))["statusCode"] == 401


def test_a_batch_answers_every_id_once_and_failures_stay_alone(
    graded: Any, batch_event: Any, completion: Any, secret: str
) -> None:
    sound, failing = completion(response="1234567890"), completion(response="fail")
    broken, other = completion(prompt=None), completion(response="")
    event = batch_event([failing, broken, sound, other])
    result = graded.lambda_handler(event)
    answer = json.loads(result["body"])
    items = {item["completionId"]: item for item in answer["scores"]}
    assert len(answer["scores"]) == len(items) == 4
    assert items[sound["id"]]["score"]["value"] == 1.0
    assert items[other["id"]]["score"]["value"] == 0.0
    assert items[failing["id"]]["error"] == "grader_failed"
    assert items[broken["id"]]["error"] == "invalid_completion"
    assert "private" not in result["body"]
    assert_signed(event, result, secret)


def test_a_batch_above_the_limit_is_refused_with_the_limit(
    graded: Any, batch_event: Any, completion: Any
) -> None:
    result = graded.lambda_handler(batch_event([completion() for _ in range(5)]))
    problem = problem_of(result)
    assert (problem.status, problem.code) == (413, "request_too_large")
    assert problem.limit is not None
    assert (problem.limit.name, problem.limit.maximum, problem.limit.actual) == (
        "maxBatchSize",
        4,
        5,
    )


@pytest.mark.parametrize(
    ("items", "field"),
    [
        ([], "completions"),
        ({}, "completions"),
        ([{"id": "a"}, {"id": "a"}], "completions[1].id"),
        ([{"id": "a"}, {}], "completions[1].id"),
        ([5], "completions[0].id"),
    ],
    ids=str,
)
def test_a_batch_whose_items_cannot_be_told_apart_is_refused(
    graded: Any, batch_event: Any, items: Any, field: str
) -> None:
    result = graded.lambda_handler(batch_event(items))
    assert result["statusCode"] == 422
    assert [fault.field for fault in problem_of(result).errors] == [field]


def test_a_batch_needs_an_id_and_sound_options(
    graded: Any, batch_event: Any, completion: Any
) -> None:
    for changes in ({"requestId": 5}, {"options": {"includeDimensions": "perhaps"}}):
        assert graded.lambda_handler(batch_event([completion()], **changes))["statusCode"] == 422


def test_details_are_dropped_where_the_answer_would_be_too_large(
    secret: str, batch_event: Any, completion: Any
) -> None:
    @grader(name="wordy", max_batch_size=500, secrets=secret)
    def wordy(completion: GradedCompletion) -> GraderScore:
        return GraderScore(value=0.5, reasoning="because " * 2_400)

    event = batch_event([completion() for _ in range(300)], options={"includeExplanation": True})
    result = wordy.lambda_handler(event)
    items = json.loads(result["body"])["scores"]
    assert len(result["body"]) < MAX_GRADER_RESPONSE_BYTES
    assert len(items) == 300
    assert all(item["score"] == {"value": 0.5, "confidence": 1.0} for item in items)
    assert_signed(event, result, secret)


def test_an_answer_fits_no_other_request(graded: Any, score_event: Any, secret: str) -> None:
    first, second = score_event(), score_event()
    result = graded.lambda_handler(first)
    digests = {hashlib.sha256(event["body"].encode()).hexdigest() for event in (first, second)}
    assert len(digests) == 2
    with pytest.raises(Exception, match="fits no valid secret"):
        assert_signed({**second, "headers": first["headers"]}, result, secret)
