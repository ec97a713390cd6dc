"""What a model that proposes edits says: JSON, read whole and checked, or nothing."""

from collections.abc import Collection, Sequence
from typing import Final

from pydantic import ValidationError

from autotune.protocol.deck_edits import EditChange, EditPattern
from autotune.protocol.limits import MAX_EDIT_CHANGES, MAX_EDIT_PATTERNS, MAX_EDIT_SAMPLES
from autotune_platform.decks.fixing.proposals import Cited
from autotune_platform.decks.json_answers import one_object

_MOST_VALUES: Final = 5_000
MOST_CODE_CHARACTERS: Final = 200


def read_code(raw: str) -> str | None:
    """Return what a disagreement is named; None for no such answer."""
    code = (one_object(raw, most_values=_MOST_VALUES) or {}).get("code")
    if not isinstance(code, str):
        return None
    return _encodable(" ".join(code.split()))[:MOST_CODE_CHARACTERS] or None


def read_patterns(raw: str, coded: Collection[str]) -> list[Cited]:
    """Return at most seven patterns that cite samples which were coded; others are left out."""
    listed = (one_object(raw, most_values=_MOST_VALUES) or {}).get("patterns")
    found: list[Cited] = []
    for one in listed if isinstance(listed, list) else []:
        if not isinstance(one, dict) or not isinstance(one.get("sampleIds"), list):
            continue
        cited = [id_ for id_ in one["sampleIds"] if isinstance(id_, str) and id_ in coded]
        try:
            pattern = EditPattern.model_validate(
                {"name": one.get("name"), "description": one.get("description") or ""}
            )
        except ValidationError:
            continue
        if cited:
            ids = list(dict.fromkeys(cited))[:MAX_EDIT_SAMPLES]
            found.append(Cited(pattern=pattern, sample_ids=ids))
    return found[:MAX_EDIT_PATTERNS]


def read_patch(raw: str) -> tuple[Sequence[EditChange], str] | None:
    """Return a patch and why it helps; None for no such answer. It changes texts alone."""
    document = one_object(raw, most_values=_MOST_VALUES) or {}
    listed, why = document.get("patch"), document.get("explanation")
    if not isinstance(listed, list) or not 0 < len(listed) <= MAX_EDIT_CHANGES:
        return None
    try:
        patch = [EditChange.model_validate(one) for one in listed]
    except ValidationError:
        return None
    if any(one.field == "examples" for one in patch):
        return None
    return patch, _encodable(why)[:500] if isinstance(why, str) else ""


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
