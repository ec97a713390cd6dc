"""Where the shared secret comes from, and what is remembered of requests."""

import json
from typing import Any

import pytest

from autotune.grader import MissingSecretError, grader
from autotune.grader.replay import RequestIdMemory
from autotune.grader.shared_secrets import SECRET_VARIABLE, SharedSecrets


@pytest.fixture
def unset(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    return monkeypatch


@pytest.fixture
def half() -> Any:
    return grader(name="half")(lambda completion: 0.5)


def test_the_secret_is_read_at_the_first_request(
    half: Any, unset: pytest.MonkeyPatch, secret: str, score_event: Any
) -> None:
    unset.setenv(SECRET_VARIABLE, secret)
    assert half.lambda_handler(score_event())["statusCode"] == 200


def test_without_a_secret_scores_are_unavailable_and_the_log_says_why(
    half: Any, unset: pytest.MonkeyPatch, score_event: Any, caplog: pytest.LogCaptureFixture
) -> None:
    result = half.lambda_handler(score_event())
    assert (result["statusCode"], json.loads(result["body"])["code"]) == (503, "unavailable")
    assert SECRET_VARIABLE not in result["body"]
    assert SECRET_VARIABLE in caplog.text


def test_without_a_secret_health_is_unhealthy(
    half: Any, unset: pytest.MonkeyPatch, make_event: Any
) -> None:
    plain = {**make_event("GET", "/health"), "headers": {}}
    assert json.loads(half.lambda_handler(plain)["body"])["status"] == "unhealthy"
    assert half.lambda_handler(make_event("GET", "/health"))["statusCode"] == 503
    assert half.lambda_handler(make_event("GET", "/nothing"))["statusCode"] == 404


def test_a_secret_that_is_set_later_is_found(
    half: Any, unset: pytest.MonkeyPatch, secret: str, score_event: Any
) -> None:
    assert half.lambda_handler(score_event())["statusCode"] == 503
    unset.setenv(SECRET_VARIABLE, secret)
    assert half.lambda_handler(score_event())["statusCode"] == 200


def test_secrets_may_be_given_as_text_list_or_function() -> None:
    assert SharedSecrets("a  b").current() == ("a", "b")
    assert SharedSecrets(["a", "b c"]).current() == ("a", "b", "c")
    calls: list[int] = []

    def fetch() -> str:
        calls.append(1)
        return "a"

    fetched = SharedSecrets(fetch)
    assert calls == []
    assert fetched.current() == fetched.current() == ("a",)
    assert calls == [1]


def test_a_function_that_cannot_fetch_leaves_no_secret(half: Any, score_event: Any) -> None:
    def fetch() -> str:
        raise ConnectionError("arn:private")

    with pytest.raises(MissingSecretError) as caught:
        SharedSecrets(fetch).current()
    assert isinstance(caught.value.__cause__, ConnectionError)
    result = half.with_secrets(fetch).lambda_handler(score_event())
    assert result["statusCode"] == 503
    assert "arn:private" not in result["body"]


def test_explicit_secrets_win_over_the_environment(
    half: Any, monkeypatch: pytest.MonkeyPatch, secret: str, score_event: Any
) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, "another")
    assert half.with_secrets(secret).lambda_handler(score_event())["statusCode"] == 200


def test_request_ids_are_forgotten_once_their_signature_is_stale() -> None:
    now = 1_000.0
    memory = RequestIdMemory(clock=lambda: now)
    assert memory.admit("a", expires_at=1_300)
    assert not memory.admit("a", expires_at=1_300)
    now = 1_301.0
    assert memory.admit("b", expires_at=1_600)
    assert len(memory) == 1
    assert memory.admit("a", expires_at=1_600)


def test_the_memory_is_bounded_and_drops_the_first_first() -> None:
    memory = RequestIdMemory(max_entries=3, clock=lambda: 0.0)
    for request_id in "abcd":
        assert memory.admit(request_id, expires_at=300)
    assert len(memory) == 3
    assert not memory.admit("d", expires_at=300)
    assert memory.admit("a", expires_at=300)
