"""Chat completions as OpenAI, Azure, OpenRouter, vLLM and Ollama document them."""

import json
from typing import Any

import pytest

from autotune.protocol.llm_connections import LlmProvider
from autotune_platform.ledger.providers.registry import openai_wire_of
from autotune_platform.ledger.usage import Usage
from tests.unit.ledger.asking import KEY, answer, asked, connection, question, refusal

DOCUMENTED = {
    "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
    "object": "chat.completion",
    "created": 1741569952,
    "model": "gpt-4.1-2025-04-14",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Hello! How can I assist you today?",
                "refusal": None,
                "annotations": [],
            },
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 2006,
        "completion_tokens": 300,
        "total_tokens": 2306,
        "prompt_tokens_details": {"cached_tokens": 1920, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 192,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    },
    "service_tier": "default",
}


def completion(usage: Any = None, reason: Any = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return {"id": "c-1", "model": "m", "choices": [choice], "usage": usage}


def test_what_is_asked() -> None:
    params = {
        "temperature": 0.0,
        "top_p": 0.5,
        "stop": ["END"],
        "seed": 7,
        "response_format": {"type": "json_object"},
        "extra": {"reasoning_effort": "low", "logit_bias": None},
    }
    url, headers, body = asked("openai", question("gpt-5", **params))
    assert url == "https://api.openai.com/v1/chat/completions"
    assert headers == {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    assert body == {
        "model": "gpt-5",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Name a colour."},
        ],
        "max_completion_tokens": 50,
        "temperature": 0.0,
        "top_p": 0.5,
        "stop": ["END"],
        "seed": 7,
        "response_format": {"type": "json_object"},
        "reasoning_effort": "low",
        "logit_bias": None,
        "service_tier": "default",
    }


@pytest.mark.parametrize("provider", ["azure", "openrouter", "simulated"])
def test_the_standard_tier_is_asked_for_where_a_project_may_have_another(
    provider: LlmProvider,
) -> None:
    said: dict[str, Any] = {"messages": [{"role": "user", "content": "Name a colour."}]}
    spoken = openai_wire_of("openai")
    assert spoken is not None
    sent = spoken.passed(connection("openai"), KEY, "gpt-5", said, 9)
    assert json.loads(sent.body)["service_tier"] == "default"
    of_region = connection("openai").model_copy(update={"base_url": "https://eu.api.openai.com/v1"})
    assert json.loads(spoken.passed(of_region, KEY, "gpt-5", said, 9).body)["service_tier"]
    # Others have no such setting, and some refuse what they do not know.
    assert "service_tier" not in asked(provider, question())[2]
    for url in ("https://api.groq.com/openai/v1", "https://api.openai.com.example/v1"):
        elsewhere = connection("openai").model_copy(update={"base_url": url})
        assert "service_tier" not in json.loads(
            spoken.passed(elsewhere, KEY, "gpt-5", said, 9).body
        )


@pytest.mark.parametrize("tier", ["default", "flex", "standard", None, ["priority"]])
def test_usage_at_a_dearer_tier_costs_twice_its_price_at_most(tier: Any) -> None:
    told = {**completion(USAGE, content="a"), "service_tier": tier}
    assert answer("openai", told).usage == Usage(input_tokens=10, output_tokens=5)
    dearer = answer("openai", {**told, "service_tier": "priority"})
    assert (dearer.usage, dearer.price_times) == (answer("openai", told).usage, 2)
    assert answer("openai", {**told, "service_tier": tier}).price_times == 1


@pytest.mark.parametrize("provider", ["openrouter", "simulated"])
def test_others_bound_tokens_by_the_name_of_old_and_nothing_else_is_said(
    provider: LlmProvider,
) -> None:
    url, _, body = asked(provider, question("org/model:free", system=None))
    assert url.endswith("/v1/chat/completions")
    assert body == {
        "model": "org/model:free",
        "messages": [{"role": "user", "content": "Name a colour."}],
        "max_tokens": 50,
    }


def test_without_a_key_there_is_no_authorisation() -> None:
    _, headers, _ = asked("simulated", question(), key=None)
    assert headers == {"Content-Type": "application/json"}


def test_a_slash_at_the_end_of_the_url_does_not_double() -> None:
    url, _, _ = asked("simulated", question(), base_url="https://a.example/v1/")
    assert url == "https://a.example/v1/chat/completions"


def test_azure_is_asked_for_a_deployment_in_the_url() -> None:
    url, headers, body = asked("azure", question("a/b?c;d#e f"), api_version="2025-01-01-preview")
    assert url == (
        "https://example.openai.azure.com/openai/deployments/a%2Fb%3Fc%3Bd%23e%20f"
        "/chat/completions?api-version=2025-01-01-preview"
    )
    assert headers == {"Content-Type": "application/json", "api-key": KEY}
    assert "model" not in body
    assert body["max_completion_tokens"] == 50
    assert asked("azure", question())[0].endswith("?api-version=2024-10-21")


@pytest.mark.parametrize("provider", ["openai", "azure", "openrouter", "simulated"])
def test_the_documented_answer(provider: LlmProvider) -> None:
    found = answer(provider, DOCUMENTED)
    assert found.text == "Hello! How can I assist you today?"
    assert found.finish_reason == "stop"
    assert found.served_model == "gpt-4.1-2025-04-14"
    assert found.provider_request_id == "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT"
    assert found.reasoning is None
    assert found.usage == Usage(
        input_tokens=2006, cached_input_tokens=1920, output_tokens=300, reasoning_tokens=192
    )


def test_the_id_in_the_headers_comes_first() -> None:
    assert answer("openai", DOCUMENTED, {"x-request-id": "req_1"}).provider_request_id == "req_1"
    assert (
        answer("openai", DOCUMENTED, {"x-request-id": "\t"}).provider_request_id
        == (DOCUMENTED["id"])
    )


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "refusal"),
        ("tool_calls", "other"),
        ("abort", "other"),
        (None, "other"),
        ([], "other"),
    ],
)
def test_finish_reasons(reason: Any, expected: str) -> None:
    assert answer("openai", completion(reason=reason, content="a")).finish_reason == expected


def test_a_refusal_is_told_as_one_with_its_words() -> None:
    found = answer("openai", completion(content=None, refusal="I'm sorry, I can't assist."))
    assert (found.text, found.finish_reason) == ("I'm sorry, I can't assist.", "refusal")


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_is_kept_apart(field: str) -> None:
    found = answer("simulated", completion(content="4", **{field: "2 and 2"}))
    assert (found.text, found.reasoning) == ("4", "2 and 2")


def test_an_answer_that_ended_within_its_reasoning_is_empty() -> None:
    thought = completion(reason="length", content=None, reasoning_content="hm")
    found = answer("simulated", thought)
    assert (found.text, found.reasoning, found.finish_reason) == ("", "hm", "length")


def test_content_may_be_a_list_of_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "so "}, {"text": "then"}]},
        {"type": "text", "text": "one "},
        {"type": "image_url", "image_url": {"url": "data:"}},
        "two",
        {"type": "text", "text": 3},
    ]
    found = answer("simulated", completion(content=parts))
    assert (found.text, found.reasoning, found.finish_reason) == ("one two", "so then", "stop")
    refused = answer("openai", completion(content=[{"type": "refusal", "refusal": "no"}]))
    assert (refused.text, refused.finish_reason) == ("no", "refusal")


def test_half_a_pair_of_surrogates_is_replaced() -> None:
    assert answer("openai", completion(content="a\ud83d!")).text == "a\ufffd!"
    assert answer("openai", completion(content="a\U0001f600!")).text == "a\U0001f600!"


USAGE = {"prompt_tokens": 10, "completion_tokens": 5}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Usage(input_tokens=10, output_tokens=5)),
        ({"total_tokens": 15}, Usage(input_tokens=10, output_tokens=5)),
        # xAI and Gemini have reasoning in the total only.
        (
            {"total_tokens": 45, "completion_tokens_details": {"reasoning_tokens": 30}},
            Usage(input_tokens=10, output_tokens=35, reasoning_tokens=30),
        ),
        (
            {"prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 6}},
            Usage(input_tokens=10, output_tokens=5, cached_input_tokens=4, cache_write_tokens=6),
        ),
        ({"prompt_tokens_details": None}, Usage(input_tokens=10, output_tokens=5)),
        ({"prompt_tokens_details": {"cached_tokens": 11}}, None),
        ({"prompt_tokens_details": {"cached_tokens": -1}}, None),
        ({"completion_tokens_details": {"reasoning_tokens": 6}}, None),
        ({"prompt_tokens": -1}, None),
        ({"prompt_tokens": True}, None),
        ({"prompt_tokens": 1.5}, None),
        ({"prompt_tokens": "10"}, None),
        ({"completion_tokens": None}, None),
        ({"completion_tokens": 10**10}, None),
    ],
)
def test_usage_is_counted_whole_or_not_at_all(
    changes: dict[str, Any], expected: Usage | None
) -> None:
    found = answer("simulated", completion(content="a", usage={**USAGE, **changes}))
    assert found.usage == expected


def test_no_usage_is_none() -> None:
    assert answer("simulated", completion(content="a")).usage is None
    assert answer("simulated", completion(content="a", usage=[1])).usage is None


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [{"message": None}]},
        {"choices": [{"text": "of the completions of old"}]},
        {"choices": [{"message": {"content": 3}}]},
        [],
        "text",
        b"",
        b"<html>",
        b"\xff",
        b'{"choices":[{"message":{"content":"cut',
        b"[" * 5_000,
        b'{"a":[' + b"0," * 300_000 + b"0]}",
    ],
)
def test_what_cannot_be_read_is_paid(document: Any) -> None:
    found = refusal("openai", document)
    assert (found.code, found.may_be_paid) == ("result_malformed", True)
