"""What holds for the formats of all providers, whatever they are answered."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import LlmErrorCode
from autotune_platform.ledger.calls import Answer, Refusal
from autotune_platform.ledger.providers.registry import format_of, unsupported
from tests.unit.ledger.asking import KEY, PROVIDERS, answer, asked, outcome, question, refusal

NAMES = [
    *("error", "choices", "message", "content", "refusal", "finish_reason", "usage", "code"),
    *("type", "text", "thinking", "model", "id", "stop_reason", "candidates", "parts", "status"),
    *("promptFeedback", "blockReason", "finishReason", "usageMetadata", "promptTokenCount"),
    *("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "details", "reason"),
    *("metadata", "raw", "flagged_input", "retryDelay", "object", "detail", "thought", "msg"),
    *("prompt_tokens_details", "cached_tokens", "innererror", "reasoning", "total_tokens"),
]
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(
        [*NAMES, "STOP", "stop", "text", "thinking", "error", KEY, f"a {KEY} b", "9s"]
    )
    | st.text(st.characters(), max_size=5)
    | st.just("\ud800")
)
documents = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=6)
    ),
    max_leaves=40,
)


def spoilt(document: Any, rest: Any, draw: Any) -> Any:
    """Return a document, in whose places something else stands here and there."""
    if draw(st.integers(0, 9)) == 0:
        return draw(rest)
    if isinstance(document, dict):
        return {name: spoilt(value, rest, draw) for name, value in document.items()}
    if isinstance(document, list):
        return [spoilt(value, rest, draw) for value in document]
    return document


TELLING: list[Any] = [
    {
        "id": "i",
        "model": "m",
        "choices": [
            {
                "message": {"content": [{"type": "text", "text": "t"}], "reasoning": KEY},
                "finish_reason": "stop",
                "error": {"code": 500, "message": "m"},
            }
        ],
        "usage": {
            "prompt_tokens": 1,
            "completion_tokens": 1,
            "total_tokens": 2,
            "prompt_tokens_details": {"cached_tokens": 1},
            "completion_tokens_details": {"reasoning_tokens": 1},
        },
    },
    {
        "id": KEY,
        "model": KEY,
        "content": [{"type": "thinking", "thinking": KEY}, {"type": "text", "text": KEY}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 1},
    },
    {
        "candidates": [{"content": {"parts": [{"text": KEY}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1},
        "modelVersion": KEY,
        "responseId": KEY,
        "promptFeedback": {"blockReason": "SAFETY"},
    },
    {
        "error": {
            "code": 429,
            "type": "t",
            "status": "s",
            "message": KEY * 100,
            "innererror": {"code": "c"},
            "metadata": {"raw": KEY, "flagged_input": "f"},
            "details": [{"reason": "r"}, {"retryDelay": "9s", "error_code": "e"}],
        }
    },
]


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    document = spoilt(draw(st.sampled_from(TELLING)), documents, draw)
    return json.dumps(document).encode()


def require_sound(found: Answer | Refusal) -> None:
    """Require what those who store an outcome rely on."""
    if isinstance(found, Refusal):
        assert found.code in get_args(LlmErrorCode)
        assert 0 < len(found.message) <= 500
        assert found.retry_after_seconds is None or 0 < found.retry_after_seconds <= 86_400
        texts = [found.message]
    else:
        texts = [
            found.text,
            *filter(None, (found.served_model, found.provider_request_id, found.reasoning)),
        ]
        if found.usage is not None:
            assert min(found.usage.model_dump().values()) >= 0
            caches = found.usage.cached_input_tokens + found.usage.cache_write_tokens
            assert caches <= found.usage.input_tokens
            assert found.usage.reasoning_tokens <= found.usage.output_tokens
    for text in texts:
        assert KEY not in text
        text.encode()


@pytest.mark.parametrize("provider", PROVIDERS)
@given(
    body=answers() | documents.map(lambda found: json.dumps(found).encode()) | st.binary(),
    status=st.sampled_from([0, 200, 200, 200, 204, 302, 400, 402, 403, 418, 429, 500, 504, 999]),
    headers=st.dictionaries(
        st.sampled_from(["retry-after", "retry-after-ms", "x-request-id", "request-id"]),
        st.text(st.characters(), max_size=12) | st.just(KEY) | st.just("7"),
    ),
)
def test_no_answer_is_too_strange(
    provider: LlmProvider, body: bytes, status: int, headers: dict[str, str]
) -> None:
    require_sound(format_of(provider).outcome(status, headers, body, KEY))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_key_is_taken_out_before_a_message_is_cut(provider: LlmProvider) -> None:
    told = {"error": {"message": f"{'x' * 492} {KEY} is wrong\n\n  and  more"}}
    message = refusal(provider, told, 401).message
    assert message.endswith("x [key] …")
    assert len(message) == 500
    assert KEY[:4] not in message
    blank = {"error": {"message": " \n "}}
    assert refusal(provider, blank, 401).message == "the provider answered 401 without a reason"
    short = {"error": {"message": f"wrong\nkey: {KEY}"}}
    assert refusal(provider, short, 401).message == "wrong key: [key]"


def test_an_answer_that_echoes_the_key_is_stored_without_it() -> None:
    echo = {"model": KEY, "choices": [{"message": {"content": f"<{KEY}>", "reasoning": KEY}}]}
    found = answer("simulated", echo)
    assert (found.text, found.reasoning, found.served_model) == ("<[key]>", "[key]", "[key]")


def test_a_word_that_serves_as_key_stays_in_answers() -> None:
    said = {"choices": [{"message": {"content": "EMPTY set"}}]}
    found = outcome("simulated", said, key="EMPTY")
    assert isinstance(found, Answer)
    assert found.text == "EMPTY set"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0"}, None),
        ({"retry-after": "999999"}, 86_400),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 2),
        ({"retry-after-ms": "x", "retry-after": "7"}, 7),
        ({"retry-after-ms": "9" * 30}, 86_400),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_how_long_to_wait(headers: dict[str, str], seconds: int | None, status: int) -> None:
    for provider in PROVIDERS:
        assert refusal(provider, b"", status, headers).retry_after_seconds == seconds


def test_when_to_come_back_may_be_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    found = refusal("openai", b"", 429, {"retry-after": later}).retry_after_seconds
    assert found is not None
    assert 50 <= found <= 60


def test_nobody_waits_for_what_does_not_pass() -> None:
    assert refusal("openai", b"", 400, {"retry-after": "7"}).retry_after_seconds is None


@pytest.mark.parametrize(
    ("provider", "params", "field"),
    [
        ("openai", {"seed": 1, "temperature": 2, "extra": {"logprobs": False}}, None),
        (
            "gemini",
            {"extra": {"generationConfig": {"responseLogprobs": True}}},
            "extra.generationConfig.responseLogprobs",
        ),
        ("openai", {"extra": {"max_tokens": 9}}, "extra.max_tokens"),
        ("openai", {"extra": {"max_completion_tokens": 9}}, "extra.max_completion_tokens"),
        ("openai", {"extra": {"prediction": {"type": "content"}}}, "extra.prediction"),
        ("azure", {"extra": {"service_tier": "priority"}}, "extra.service_tier"),
        ("azure", {"extra": {"data_sources": []}}, "extra.data_sources"),
        ("openrouter", {"extra": {"models": ["dear"], "route": "x"}}, "extra.models"),
        ("openrouter", {"extra": {"preset": "dear"}}, "extra.preset"),
        ("openrouter", {"extra": {"provider": {"order": ["dear"]}}}, "extra.provider.order"),
        ("openrouter", {"extra": {"provider": {"sort": "throughput"}}}, "extra.provider.sort"),
        ("openrouter", {"extra": {"provider": {"only": ["dear"]}}}, "extra.provider.only"),
        ("simulated", {"extra": {"top_k": 1}, "seed": 2**40}, None),
        ("anthropic", {"temperature": 1, "extra": {"top_k": 1}}, None),
        ("anthropic", {"temperature": 1.1}, "temperature"),
        ("anthropic", {"seed": 0}, "seed"),
        ("anthropic", {"extra": {"max_tokens": 9}}, "extra.max_tokens"),
        ("anthropic", {"extra": {"output_config": [1]}}, "extra.output_config"),
        ("anthropic", {"extra": {"cache_control": {"type": "ephemeral", "ttl": "5m"}}}, None),
        (
            "anthropic",
            {"extra": {"cache_control": {"type": "ephemeral", "ttl": "1h"}}},
            "extra.cache_control.ttl",
        ),
        ("gemini", {"seed": 2**31 - 1, "temperature": 2}, None),
        ("gemini", {"seed": 2**31}, "seed"),
        ("gemini", {"response_format": {"type": "json_object"}}, "responseFormat"),
        ("gemini", {"response_format": {"responseMimeType": "application/json"}}, None),
        ("gemini", {"extra": {"generationConfig": {"topK": 1}}}, None),
        ("gemini", {"extra": {"generationConfig": [1]}}, "extra.generationConfig"),
        (
            "gemini",
            {"extra": {"generationConfig": {"max_output_tokens": 9}}},
            "extra.generationConfig.max_output_tokens",
        ),
        (
            "gemini",
            {"extra": {"generationConfig": {"candidateCount": 9}}},
            "extra.generationConfig.candidateCount",
        ),
        ("gemini", {"extra": {"generation_config": {}}}, "extra.generation_config"),
        ("gemini", {"extra": {"systemInstruction": {}}}, "extra.systemInstruction"),
        ("gemini", {"extra": {"cachedContent": "cachedContents/1"}}, "extra.cachedContent"),
        ("gemini", {"extra": {"cached_content": "cachedContents/1"}}, "extra.cached_content"),
    ],
)
def test_what_a_provider_does_not_take(
    provider: LlmProvider, params: dict[str, Any], field: str | None
) -> None:
    assert unsupported(provider, LlmParams(max_tokens=5, **params)) == field


@pytest.mark.parametrize("provider", PROVIDERS)
def test_further_parameters_replace_none_of_ours(provider: LlmProvider) -> None:
    """Not even where nobody asked ``unsupported``."""
    extra = {
        "max_tokens": 10_000,
        "max_completion_tokens": 10_000,
        "generationConfig": {"maxOutputTokens": 10_000},
        "temperature": 0.5,
    }
    _, _, body = asked(provider, question(extra=extra, temperature=0.1))
    bounds = [body.get("max_tokens"), body.get("max_completion_tokens")]
    bounds.append(body.get("generationConfig", {}).get("maxOutputTokens"))
    assert 50 in bounds
    if provider != "gemini":
        assert body["temperature"] == 0.1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_any_text_can_be_sent(provider: LlmProvider) -> None:
    odd = {"user": "\u0000 é 😀"}
    _, _, body = asked(provider, question(extra={"metadata": odd}))
    assert body["metadata"] == odd
