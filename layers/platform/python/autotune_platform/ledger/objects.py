"""Names of the ledger's objects in S3."""

from typing import Literal, get_args

TextKind = Literal["input", "output"]
TEXT_KINDS: tuple[TextKind, ...] = get_args(TextKind)
"""What a row asks, and what it was answered."""


def text_key(row_id: str, kind: TextKind) -> str:
    """Return the name of a text that outgrows its item; it follows from the row's id."""
    return f"ledger/{row_id}/{kind}"
