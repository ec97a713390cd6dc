"""What is stored of a sample, from what was given: its group, its half, its lengths."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from autotune.protocol.deck_samples import NewSample, SampleCollection
from autotune_platform.decks.conversion import Conversation
from autotune_platform.decks.models import Deck, Sample, SampleTexts, WholeSample
from autotune_platform.decks.splitting import group_of, split_of
from autotune_platform.judging.rubric.conversations import sample_texts
from autotune_platform.judging.rubric.level_prompts import judged_bytes
from autotune_platform.judging.rubric.system_prompts import named_values

EXCERPT_CHARACTERS = 200


@dataclass(frozen=True)
class SampleOrigin:
    """Where a sample comes from.

    Attributes:
        sample_id: follows from the request, so that a repeat makes the same.
        deck_version: the version of its deck whose prompt it has, and ``prompt`` that prompt.
        expires_at: when it is erased; None for never.
        kept_prompt: that prompt as the sample has it, where redacting has changed literal text.
    """

    sample_id: str
    deck_version: int
    prompt: str
    collection: SampleCollection
    created_at: datetime
    expires_at: datetime | None = None
    kept_prompt: str | None = None


def made_sample(
    deck: Deck, given: NewSample, conversation: Conversation, origin: SampleOrigin
) -> WholeSample:
    """Return what is stored of a sample of a deck."""
    group_key = group_of(
        deck.organization_id,
        conversation,
        given=given.group_key,
        prompt=origin.kept_prompt or origin.prompt,
    )
    sample = Sample(
        id=origin.sample_id,
        organization_id=deck.organization_id,
        deck_id=deck.id,
        deck_version=origin.deck_version,
        external_id=given.external_id,
        split=split_of(deck.organization_id, group_key, holdout_share=deck.holdout_share),
        group_key=group_key,
        content_hash=_content_hash(deck.organization_id, conversation),
        came_by=origin.collection,
        provider=given.provider,
        model=given.model or conversation.model,
        input_excerpt=conversation.input[:EXCERPT_CHARACTERS],
        output_excerpt=conversation.output[:EXCERPT_CHARACTERS],
        input_characters=sum(len(message.text) for message in conversation.messages),
        output_characters=len(conversation.output),
        judged_bytes=judged_bytes(sample_texts(conversation.request, conversation.response)),
        created_at=origin.created_at,
        requested_at=given.requested_at,
        expires_at=origin.expires_at,
    )
    texts = SampleTexts(
        request=dict(conversation.request),
        response=dict(conversation.response),
        metadata=given.metadata,
        values=_values(origin, conversation),
    )
    return WholeSample(sample=sample, texts=texts)


def _values(origin: SampleOrigin, conversation: Conversation) -> dict[str, str] | None:
    if origin.kept_prompt is None or conversation.instructions is None:
        return None
    return named_values(origin.kept_prompt, conversation.instructions)


def _content_hash(organization_id: str, conversation: Conversation) -> str:
    return hashlib.sha256(f"{organization_id}\n{conversation.identity}".encode()).hexdigest()
