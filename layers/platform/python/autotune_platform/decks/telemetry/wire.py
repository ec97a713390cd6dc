"""Prompts that no deck has, as the API shows them."""

from collections.abc import Sequence

from autotune.protocol import deck_telemetry as wire
from autotune_platform.decks.conversion import conversation_of
from autotune_platform.decks.telemetry.models import Exchange, UnmatchedPrompt


def unmatched_on_wire(
    prompt: UnmatchedPrompt,
    text: str | None = None,
    examples: Sequence[Exchange] | None = None,
) -> wire.UnmatchedPrompt:
    """Return a prompt that no deck has, with its text and calls where these are given."""
    return wire.UnmatchedPrompt(
        id=prompt.id,
        excerpt=prompt.excerpt,
        characters=prompt.characters,
        calls=prompt.count,
        tied_deck_ids=list(prompt.tied),
        first_seen_at=prompt.first_seen_at,
        last_seen_at=prompt.last_seen_at,
        system_prompt=text,
        examples=None if examples is None else [_example(one) for one in examples],
    )


def _example(exchange: Exchange) -> wire.UnmatchedExample:
    conversation = conversation_of(exchange.given)
    return wire.UnmatchedExample(
        request=dict(conversation.request),
        response=dict(conversation.response),
        captured_at=exchange.captured_at,
    )
