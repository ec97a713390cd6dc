"""Edits of system prompts as callers see them."""

from autotune.protocol import deck_prompt_edits as wire
from autotune_platform.decks.prompting.models import PromptEdit

_KEPT = {"organization_id", "sources", "unusable", "made", "started_at", "revision"}


def prompt_edit_on_wire(edit: PromptEdit) -> wire.PromptEdit:
    """Return an edit as callers see it."""
    return wire.PromptEdit.model_validate(
        {**edit.model_dump(exclude=_KEPT), "inputs": len(edit.sources)}
    )
