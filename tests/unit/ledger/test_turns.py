"""Conversations of several turns, as each provider takes them."""

from typing import Any

import pytest
from pydantic import ValidationError

from autotune.protocol import limits
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_messages import LlmMessage
from autotune.protocol.llm_params import LlmParams
from autotune_platform.ledger.bedrock_access import BedrockAccess
from autotune_platform.ledger.calls import Question, Turn
from autotune_platform.ledger.conversations import MAX_CHARACTERS, Conversation
from autotune_platform.ledger.providers.registry import unsupported_turn
from autotune_platform.runtime.errors import InvalidRequestError
from tests.unit.ledger.asking import PROVIDERS, asked

TURNS = [
    Turn("system", "Be brief."),
    Turn("developer", ("Answer in English.", "Or do not.")),
    Turn("user", "Name a colour."),
    Turn("assistant", "Blue."),
    Turn("user", "Another."),
    Turn("user", ("Not", "green.")),
]
PARTS = [{"type": "text", "text": "Not"}, {"type": "text", "text": "green."}]
CHAT = [
    {"role": "user", "content": "Name a colour."},
    {"role": "assistant", "content": "Blue."},
    {"role": "user", "content": "Another."},
    {"role": "user", "content": PARTS},
]
ALL_PROVIDERS: tuple[LlmProvider, ...] = (*PROVIDERS, "bedrock")
ACCESS = BedrockAccess(
    region="eu-west-1",
    role_arn="arn:aws:iam::123456789012:role/autotune-bedrock-lab",
    external_id="org_1",
    batch_role_arn=None,
    bucket=None,
    prefix="autotune/",
    job_hours=24,
)


def body(provider: LlmProvider, turns: list[Turn]) -> Any:
    question = Question(model="m", turns=turns, params=LlmParams(max_tokens=50))
    more = {"bedrock": ACCESS} if provider == "bedrock" else {}
    return asked(provider, question, **more)[2]


@pytest.mark.parametrize(
    ("provider", "developer"),
    [
        ("openai", "developer"),
        ("azure", "developer"),
        ("openrouter", "system"),
        ("simulated", "system"),
    ],
)
def test_chat_completions_take_turns_as_they_are(provider: LlmProvider, developer: str) -> None:
    texts = [{"type": "text", "text": one} for one in ("Answer in English.", "Or do not.")]
    assert body(provider, TURNS)["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": developer, "content": texts},
        *CHAT,
    ]


def test_anthropic_has_instructions_apart() -> None:
    sent = body("anthropic", TURNS)
    said = ["Be brief.", "Answer in English.", "Or do not."]
    assert sent["system"] == [{"type": "text", "text": one} for one in said]
    assert sent["messages"] == CHAT
    assert body("anthropic", TURNS[:1] + TURNS[2:])["system"] == "Be brief."
    assert "system" not in body("anthropic", TURNS[2:])


def test_gemini_calls_the_assistant_model() -> None:
    sent = body("gemini", TURNS)
    said = ["Be brief.", "Answer in English.", "Or do not."]
    assert sent["systemInstruction"] == {"parts": [{"text": one} for one in said]}
    assert sent["contents"] == [
        {"role": "user", "parts": [{"text": "Name a colour."}]},
        {"role": "model", "parts": [{"text": "Blue."}]},
        {"role": "user", "parts": [{"text": "Another."}]},
        {"role": "user", "parts": [{"text": "Not"}, {"text": "green."}]},
    ]


def test_bedrocks_roles_alternate() -> None:
    sent = body("bedrock", TURNS)
    said = ["Be brief.", "Answer in English.", "Or do not."]
    assert sent["system"] == [{"text": one} for one in said]
    assert sent["messages"] == [
        {"role": "user", "content": [{"text": "Name a colour."}]},
        {"role": "assistant", "content": [{"text": "Blue."}]},
        {"role": "user", "content": [{"text": "Another."}, {"text": "Not"}, {"text": "green."}]},
    ]


@pytest.mark.parametrize("provider", ALL_PROVIDERS)
def test_only_chat_completions_take_instructions_between_turns(provider: LlmProvider) -> None:
    late = [*TURNS, Turn("system", "Now in French.")]
    takes = provider in {"openai", "azure", "openrouter", "simulated"}
    assert unsupported_turn(provider, TURNS) is None
    assert unsupported_turn(provider, late) == (None if takes else len(TURNS))


@pytest.mark.parametrize("provider", ALL_PROVIDERS)
def test_what_a_message_says_is_no_variable(provider: LlmProvider) -> None:
    assert "{{it}}" in str(body(provider, [Turn("user", "{{it}}")]))


def conversation(*messages: dict[str, Any]) -> Conversation:
    return Conversation(
        connection_id="llc_1",
        model="m",
        messages=[LlmMessage.model_validate(one) for one in messages],
        params=LlmParams(max_tokens=50),
    )


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "content": "x"},
        {"role": "user", "content": ""},
        {"role": "user", "content": []},
        {"role": "user", "content": [{"type": "text", "text": ""}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": "https://x"}]},
        {"role": "user", "content": "x", "tool_calls": []},
        {"role": "user", "content": "\ud800"},
        {"role": "user", "content": [{"text": "x"}] * (limits.MAX_LLM_MESSAGE_PARTS + 1)},
    ],
    ids=["tool", "empty", "no-parts", "empty-part", "image", "tools", "surrogate", "many-parts"],
)
def test_other_messages_are_none(message: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LlmMessage.model_validate(message)


def test_a_conversation_has_a_user_and_is_bounded() -> None:
    said = {"role": "user", "content": "x"}
    assert conversation(said).texts() == ["x"]
    for wrong in ([], [{**said, "role": "assistant"}], [said] * (limits.MAX_LLM_MESSAGES + 1)):
        with pytest.raises(ValidationError):
            conversation(*wrong)
    half = {"role": "user", "content": "x" * (MAX_CHARACTERS // 2)}
    assert len(conversation(half, half).texts()) == 2
    with pytest.raises(InvalidRequestError):
        conversation(half, half, said).texts()
