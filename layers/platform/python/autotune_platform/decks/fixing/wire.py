"""Edits as callers see them."""

from autotune.protocol import deck_edits as wire
from autotune_platform.decks.fixing.models import Edit

_KEPT = {"organization_id", "labels_by", "look_at", "labels_since", "revision"}


def edit_on_wire(edit: Edit) -> wire.DeckEdit:
    """Return an edit."""
    return wire.DeckEdit.model_validate(edit.model_dump(exclude=_KEPT))
