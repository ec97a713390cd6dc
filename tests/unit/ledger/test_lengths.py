"""No parameter makes an answer longer, or more of them, than the bound of a row allows for."""

import itertools
import random
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_params import LlmParams
from autotune_platform.ledger.providers.lengths import COUNTS, LENGTHS, PARTS
from autotune_platform.ledger.providers.registry import unsupported

PROVIDERS: tuple[LlmProvider, ...] = get_args(LlmProvider)
# Where each reads parameters, beside the top.
READ_IN: dict[str, tuple[str, ...]] = {
    "bedrock": ("additionalModelRequestFields",),
    "gemini": ("generationConfig",),
    "simulated": ("options", "parameters", "sampling_params"),
}


def spelled(name: str) -> Iterator[str]:
    """A name in the spellings that servers read."""
    first, *rest = name.split("_")
    yield name
    yield first + "".join(word.capitalize() for word in rest)
    yield name.replace("_", "-")
    yield name.upper()
    yield "".join((first, *rest))


def refused(provider: LlmProvider, extra: dict[str, Any]) -> str | None:
    """What is refused of parameters, by the wire or by the provider's format."""
    for name in {"n", "N"}.intersection(extra):
        with pytest.raises(ValidationError, match=f"without {name}"):
            LlmParams(max_tokens=5, extra=extra)
        return f"extra.{name}"
    return unsupported(provider, LlmParams(max_tokens=5, extra=extra))


@pytest.mark.parametrize("name", [*LENGTHS, *COUNTS])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_length_and_number_are_refused_by_field_in_every_spelling(
    provider: LlmProvider, name: str
) -> None:
    for one in spelled(name):
        assert refused(provider, {one: 9}) == f"extra.{one}"
        for part in READ_IN.get(provider, ()):
            assert refused(provider, {part: {"top_k": 1, one: 9}}) == f"extra.{part}.{one}"


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("provider", ["anthropic", "azure", "openai", "openrouter", "simulated"])
def test_parts_of_a_request_are_looked_into(provider: LlmProvider, part: str) -> None:
    for one in spelled(part):
        extra = {one: {"options": {"num_predict": 10**6}}}
        assert refused(provider, extra) == f"extra.{one}.options.num_predict"
        assert refused(provider, {one: {"top_k": 1}}) is None
        assert refused(provider, {one: "num_predict"}) is None


def test_whatever_stands_around_it_hides_nothing() -> None:
    draw = random.Random("lengths")
    harmless = ["top_k", "min_p", "seed", "logit_bias", "stop_token_ids", "num_ctx", "min_tokens"]
    names = [*LENGTHS, *COUNTS]
    for _ in range(500):
        bad = draw.choice(list(spelled(draw.choice(names))))
        extra: dict[str, Any] = dict.fromkeys(draw.sample(harmless, draw.randrange(5)), 1)
        path = draw.sample(PARTS, draw.randrange(3))
        inner = extra
        for part in path:
            inner[part] = inner = {"top_p": 1}
        inner[bad] = draw.choice([9, "9", None, [9], {"a": 9}])
        assert refused("simulated", extra) == ".".join(("extra", *path, bad))


@pytest.mark.parametrize(
    ("provider", "extra", "field"),
    [
        ("simulated", {"chat_template": "{% for _ in range(9) %}x{% endfor %}"}, "chat_template"),
        ("simulated", {"extra_body": {"n": 2}}, "extra_body"),
        ("simulated", {"fallbacks": ["dear"]}, "fallbacks"),
        ("openai", {"serviceTier": "priority"}, "serviceTier"),
        ("anthropic", {"context_management": {"edits": []}}, "context_management"),
        ("openrouter", {"provider": {"ignore": ["cheap"]}}, "provider.ignore"),
        (
            "openrouter",
            {"provider": {"preferred_min_throughput": 900}},
            "provider.preferred_min_throughput",
        ),
        (
            "bedrock",
            {"additionalModelRequestFields": {"textGenerationConfig": {"maxTokenCount": 9}}},
            "additionalModelRequestFields.textGenerationConfig",
        ),
    ],
)
def test_what_else_the_bound_does_not_hold(
    provider: LlmProvider, extra: dict[str, Any], field: str
) -> None:
    assert refused(provider, extra) == f"extra.{field}"


@pytest.mark.parametrize(
    "extra",
    [
        {"chat_template_kwargs": {"enable_thinking": False}},
        {"guided_json": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        {"logprobs": False, "top_logprobs": None, "reasoning_effort": "low"},
        {"options": {"num_ctx": 8_192, "repeat_penalty": 1.1}},
        {"min_tokens": 3, "ignore_eos": False, "length_penalty": 1.0},
    ],
)
def test_what_costs_no_more_is_taken(extra: dict[str, Any]) -> None:
    for provider in ("openai", "openrouter", "simulated"):
        assert refused(provider, extra) is None


def test_no_name_is_listed_twice() -> None:
    for one, other in itertools.combinations([*LENGTHS, *COUNTS, *PARTS], 2):
        assert not set(spelled(one)) & set(spelled(other))
