"""Cursors (``nextToken``): opaque to callers, and checked like any other input."""

import base64
import binascii
import json

from autotune.protocol.problems import FieldProblem
from autotune_platform.runtime.bounded_json import parse_document
from autotune_platform.runtime.errors import InvalidRequestError

_LONGEST_PART = 512
# A sort key has 1,024 bytes at most, and some are compared with a part and a character behind it.
_LONGEST_PART_BYTES = 1_000
_LONGEST_TOKEN = 16_384
_MOST_VALUES = 100


def encode_cursor(*position: str) -> str:
    """Return the token that stands for a position in a list."""
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def decode_cursor(token: str, *, parts: int) -> tuple[str, ...]:
    """Return the position that a token stands for.

    Raises:
        InvalidRequestError: the token was not made by ``encode_cursor`` with as many parts.
    """
    try:
        if len(token) > _LONGEST_TOKEN:
            raise invalid_cursor()
        padded = token + "=" * (-len(token) % 4)
        document = base64.b64decode(padded, altchars=b"-_", validate=True)
        position = parse_document(document, most_values=_MOST_VALUES)
    except (binascii.Error, ValueError, RecursionError) as error:
        raise invalid_cursor() from error
    if not (
        isinstance(position, list)
        and len(position) == parts
        and all(isinstance(part, str) and _is_short(part) for part in position)
    ):
        raise invalid_cursor()
    return tuple(position)


def _is_short(part: str) -> bool:
    try:
        encoded = part.encode()
    except UnicodeEncodeError:  # half a pair: no text that a key could have
        return False
    return len(part) <= _LONGEST_PART and len(encoded) <= _LONGEST_PART_BYTES


def invalid_cursor() -> InvalidRequestError:
    """Return the error that names ``nextToken``."""
    return InvalidRequestError(
        "nextToken is not one that this list returned",
        fields=[FieldProblem(field="nextToken", expected="the nextToken of the page before")],
    )
