"""Which samples belong together, and which half a group is in.

A group is in one half for good: where a prompt shows one turn of a conversation and another turn is
held out, agreement would be measured on what the prompt has seen. The half follows from the group,
the organisation and the deck's share alone, so that the same texts are in the same half of each
deck with the same share; a rubric that is taken from one deck to another stays as blind as it was.
"""

import hashlib
import hmac
from collections.abc import Sequence

from autotune.protocol.deck_samples import Split
from autotune_platform.decks.conversion import Conversation
from autotune_platform.decks.prompts import filled_in, group_hash

_FRACTIONS = 2**64


def group_of(
    organization_id: str, conversation: Conversation, *, given: str | None, prompt: str
) -> str:
    """Return the digest of a sample's group.

    Args:
        given: the caller's own key.
        prompt: the system prompt that the sample is to have; what stands for its placeholders is
            part of the input.
    """
    if given is not None:
        return group_hash(organization_id, "given", given)
    values: Sequence[str] = []
    if conversation.instructions is not None:
        values = filled_in(prompt, conversation.instructions) or []
    return group_hash(organization_id, "input", conversation.beginning, *values)


def split_of(organization_id: str, group_key: str, *, holdout_share: float) -> Split:
    """Return which half a group is in: a share of all groups is held out, drawn by a keyed hash."""
    key = hashlib.sha256(f"split of decks {organization_id}".encode()).digest()
    drawn = hmac.digest(key, group_key.encode(), "sha256")
    position = int.from_bytes(drawn[:8], "big")
    return "holdout" if position < holdout_share * _FRACTIONS else "development"
