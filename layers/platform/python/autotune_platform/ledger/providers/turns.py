"""Turns of a question as providers take them."""

from collections.abc import Iterable, Sequence
from typing import Any

from autotune_platform.ledger.calls import Turn

_INSTRUCTING = frozenset({"system", "developer"})


def apart(turns: Sequence[Turn]) -> tuple[list[Turn], list[Turn]]:
    """Return the instructions that a question begins with, and all turns after them."""
    spoken = next(
        (place for place, turn in enumerate(turns) if turn.role not in _INSTRUCTING), len(turns)
    )
    return list(turns[:spoken]), list(turns[spoken:])


def late_instruction(turns: Sequence[Turn]) -> int | None:
    """Return the place of the first instruction behind what was said; None if there is none.

    Providers that take instructions apart from what was said would put it before that.
    """
    instructions, _ = apart(turns)
    places = range(len(instructions), len(turns))
    return next((place for place in places if turns[place].role in _INSTRUCTING), None)


def text_blocks(turns: Iterable[Turn]) -> list[dict[str, Any]]:
    """Return all texts, each as ``{"text": …}``."""
    return [{"text": text} for turn in turns for text in turn.texts]


def typed_content(turn: Turn) -> str | list[dict[str, Any]]:
    """Return a turn's text, or its texts as ``{"type": "text", "text": …}``."""
    if isinstance(turn.content, str):
        return turn.content
    return [{"type": "text", "text": text} for text in turn.content]
