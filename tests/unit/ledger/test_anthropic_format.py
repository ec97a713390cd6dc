"""Messages as Anthropic documents them."""

from typing import Any

import pytest

from autotune_platform.ledger.usage import Usage
from tests.unit.ledger.asking import KEY, answer, asked, question, refusal

DOCUMENTED = {
    "id": "msg_013Zva2CMHLNnXjNJJKqJ2EF",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5-20250929",
    "content": [{"citations": None, "text": "Hi! My name is Claude.", "type": "text"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 100},
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 2000,
        "input_tokens": 2095,
        "output_tokens": 503,
        "output_tokens_details": {"thinking_tokens": 400},
        "server_tool_use": None,
        "service_tier": "standard",
    },
}


def test_what_is_asked() -> None:
    params = {
        "temperature": 0.2,
        "top_p": 0.5,
        "stop": ["END"],
        "response_format": {"type": "json_schema", "schema": {"type": "object"}},
        "extra": {"output_config": {"effort": "low"}, "top_k": 5},
    }
    url, headers, body = asked("anthropic", question("claude-x", **params))
    assert url == "https://api.anthropic.com/v1/messages"
    assert headers == {
        "Content-Type": "application/json",
        "anthropic-version": "2023-06-01",
        "x-api-key": KEY,
    }
    assert body == {
        "model": "claude-x",
        "max_tokens": 50,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "Name a colour."}],
        "temperature": 0.2,
        "top_p": 0.5,
        "stop_sequences": ["END"],
        "output_config": {
            "effort": "low",
            "format": {"type": "json_schema", "schema": {"type": "object"}},
        },
        "top_k": 5,
    }
    _, _, least = asked("anthropic", question("claude-x", system=None))
    assert set(least) == {"model", "max_tokens", "messages"}


def test_the_documented_answer_whose_input_includes_caches() -> None:
    found = answer("anthropic", DOCUMENTED, {"request-id": "req_018EeWyXxfu5pfWkrYcMdjWG"})
    assert (found.text, found.finish_reason) == ("Hi! My name is Claude.", "stop")
    assert found.served_model == "claude-sonnet-4-5-20250929"
    assert found.provider_request_id == "req_018EeWyXxfu5pfWkrYcMdjWG"
    assert found.usage == Usage(
        input_tokens=4195,
        cached_input_tokens=2000,
        cache_write_tokens=100,
        output_tokens=503,
        reasoning_tokens=400,
    )
    assert answer("anthropic", DOCUMENTED).provider_request_id == DOCUMENTED["id"]


def test_thinking_is_kept_apart() -> None:
    content = [
        {"type": "thinking", "thinking": "let me see", "signature": "WaUjzkypQ2mUEVM36O2T"},
        {"type": "redacted_thinking", "data": "EmwKAhgB"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "toolu_1", "name": "t", "input": {}},
        {"type": "text", "text": "b"},
    ]
    found = answer("anthropic", {**DOCUMENTED, "content": content})
    assert (found.text, found.reasoning) == ("ab", "let me see")


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("tool_use", "other"),
        ("pause_turn", "other"),
        (None, "other"),
        ({}, "other"),
    ],
)
def test_finish_reasons(reason: Any, expected: str) -> None:
    found = answer("anthropic", {**DOCUMENTED, "stop_reason": reason})
    assert found.finish_reason == expected


def test_a_refusal_may_say_nothing() -> None:
    found = answer("anthropic", {**DOCUMENTED, "content": [], "stop_reason": "refusal"})
    assert (found.text, found.finish_reason) == ("", "refusal")


@pytest.mark.parametrize(
    "changes",
    [
        {"input_tokens": -1},
        {"output_tokens": None},
        {"cache_read_input_tokens": "2000"},
        {"cache_creation_input_tokens": False},
        {"output_tokens_details": {"thinking_tokens": 504}},
    ],
)
def test_usage_that_does_not_add_up_is_none(changes: dict[str, Any]) -> None:
    usage = {**DOCUMENTED["usage"], **changes}  # type: ignore[dict-item]
    assert answer("anthropic", {**DOCUMENTED, "usage": usage}).usage is None


def test_caches_may_be_left_out_of_the_usage() -> None:
    told = {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": None}
    found = answer("anthropic", {**DOCUMENTED, "usage": told})
    assert found.usage == Usage(input_tokens=3, output_tokens=4)


@pytest.mark.parametrize("content", [None, "text", {}])
def test_an_answer_without_blocks_is_malformed(content: Any) -> None:
    found = refusal("anthropic", {**DOCUMENTED, "content": content})
    assert (found.code, found.may_be_paid) == ("result_malformed", True)


def error(kind: str, message: str = "no", **fields: Any) -> dict[str, Any]:
    told = {"type": kind, "message": message, **fields}
    return {"type": "error", "error": told, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}


LOW_CREDIT = (
    "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to"
    " upgrade or purchase credits."
)


@pytest.mark.parametrize(
    ("status", "document", "code"),
    [
        (400, error("invalid_request_error"), "rejected"),
        (400, error("invalid_request_error", LOW_CREDIT), "account"),
        (
            400,
            error(
                "invalid_request_error",
                "You have reached your specified workspace API usage limits. You will regain …",
            ),
            "account",
        ),
        (400, error("invalid_request_error", "This organization has been disabled."), "account"),
        # Words of the question in a message are no reason.
        (400, error("invalid_request_error", f"stop_sequences: {LOW_CREDIT}"), "rejected"),
        (401, error("authentication_error", "invalid x-api-key"), "account"),
        (402, error("billing_error"), "account"),
        (403, error("permission_error"), "account"),
        (404, error("not_found_error", "model: claude-9"), "rejected"),
        (413, error("request_too_large"), "rejected"),
        (429, error("rate_limit_error"), "rate_limited"),
        (
            429,
            error("rate_limit_error", details={"error_code": "enforced_spend_limit_reached"}),
            "account",
        ),
        (500, error("api_error"), "provider_error"),
        (529, error("overloaded_error", "Overloaded"), "provider_error"),
        (200, error("overloaded_error", "Overloaded"), "provider_error"),
        (200, error("rate_limit_error"), "rate_limited"),
        (200, error("invalid_request_error", LOW_CREDIT), "account"),
    ],
)
def test_errors_have_one_meaning(status: int, document: Any, code: str) -> None:
    found = refusal("anthropic", document, status)
    assert found.code == code
    assert found.message == document["error"]["message"]
    assert found.may_be_paid == (status == 200 and code == "provider_error")


def test_a_blocked_output_was_written() -> None:
    told = error("invalid_request_error", "Output blocked by content filtering policy")
    found = refusal("anthropic", told, 400)
    assert (found.code, found.may_be_paid) == ("content_filtered", True)


def test_a_time_out_there_may_be_paid() -> None:
    found = refusal("anthropic", error("timeout_error"), 504)
    assert (found.code, found.may_be_paid) == ("provider_error", True)
