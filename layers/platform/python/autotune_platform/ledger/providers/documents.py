"""Reading what providers answer: any JSON may come, of any shape, and nothing here raises."""

from typing import Any

from autotune_platform.runtime.bounded_json import parse_document

MAX_ANSWER_VALUES = 200_000
"""Most JSON values of an answer.

One has some thirty; those for each token that ``extra`` can ask for (log probabilities) come to
twenty or so a token.
"""

_MOST_TOKENS = 10**9
_LONGEST_NAME = 200


def document_of(body: bytes) -> Any:
    """Return a body as JSON, None if it is not or if it holds too much."""
    try:
        return parse_document(body, most_values=MAX_ANSWER_VALUES)
    except (ValueError, RecursionError):
        return None


def inside(value: Any, *path: str | int) -> Any:
    """Return what stands in a document at a path of names and places, None if nothing does."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and step < len(value) else None
    return value


def items(value: Any) -> list[Any]:
    """Return a list as it is, and nothing for anything else."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """Return a text that UTF-8 can hold, None if there is none or it is empty."""
    return encodable(value) if isinstance(value, str) and value else None


def name(value: Any) -> str | None:
    """Return a model's name or an id: printable and at most 200 characters, else None."""
    if isinstance(value, str) and 0 < len(value) <= _LONGEST_NAME and value.isprintable():
        return value
    return None


def tokens(value: Any) -> int | None:
    """Return a count of tokens, None if it is none or beyond any that there are."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS:
        return value
    return None


def detail(value: Any) -> int | None:
    """Return a count that may be left out, which is 0 then; None if it is no count."""
    return 0 if value is None else tokens(value)


def all_of(*counts: int | None) -> list[int] | None:
    """Return counts if each of them is one, else None."""
    found = [count for count in counts if count is not None]
    return found if len(found) == len(counts) else None


def encodable(value: str) -> str:
    """Return a text with a replacement character for each half of a pair that stands alone."""
    if value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
