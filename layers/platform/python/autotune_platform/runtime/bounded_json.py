"""JSON that comes from outside: its structure is counted before anything is built of it.

A document of a few bytes for each value takes sixty times its size once it is built, and an error
for each value some hundred times as much as that. So each reader says how many values its document
can mean, and what has more is refused from its bytes. ``tests/unit/platform/test_bounded_json.py``
refuses other ways to read JSON.
"""

import json
import math
from itertools import accumulate
from threading import RLock
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel

ModelT = TypeVar("ModelT", bound=BaseModel)

MAX_DEPTH = 500
"""How deep any document may nest; what is inside may have narrower limits."""

EXPANDING = RLock()
"""Held by who reads several large documents on several threads, while one is built.

Only one thread builds at a time anyway, since Python holds its own lock for it; so at most one
document is larger in memory than on the wire.
"""

_FEW_VALUES = 100
_STRUCTURE = b'",[]{}'
_REST = bytes(set(range(256)) - set(_STRUCTURE))
_LEVELS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


class TooManyValuesError(ValueError):
    """A document has more values than its reader admits.

    Attributes:
        values: how many it has: strings, numbers, literals, arrays and objects. Those that are
            empty count twice.
        maximum: how many are admitted.
    """

    def __init__(self, values: int, maximum: int) -> None:
        super().__init__(f"{values} JSON values, and {maximum} is the limit")
        self.values = values
        self.maximum = maximum


class TooDeepError(ValueError):
    """A document nests deeper than ``MAX_DEPTH``."""


def require_bounded(document: bytes, *, most_values: int) -> None:
    """Require that a document has not too many values, and does not nest too deep.

    It costs some copies of the document, each smaller than the one before. What is not JSON may
    pass: whoever parses it stops where this has counted right.

    Raises:
        TooManyValuesError: it has more than ``most_values``.
        TooDeepError: it nests deeper than ``MAX_DEPTH``.
    """
    if len(document) < _FEW_VALUES:
        return
    if _count(document) <= min(most_values, MAX_DEPTH):
        return  # even if all of it were structure, and none of it text
    unescaped = document.replace(rb"\\", b"").replace(rb"\"", b"")
    marks = unescaped.translate(None, _REST)
    # A value takes two strings at most: its name and itself.
    strings = marks.count(b'"') // 2
    if strings > 2 * most_values:
        raise TooManyValuesError(max(strings // 2, most_values + 1), most_values)
    outside = b"".join(marks.split(b'"')[::2])
    values = _count(outside)
    if values > most_values:
        raise TooManyValuesError(values, most_values)
    _require_shallow(outside)


def parse_document(document: bytes, *, most_values: int) -> Any:
    """Parse JSON in UTF-8 as Python does, which admits NaN and lone surrogates.

    Raises:
        TooManyValuesError, TooDeepError: as ``require_bounded``.
        ValueError: it is not JSON.
    """
    require_bounded(document, most_values=most_values)
    return json.loads(document.decode("utf-8-sig"))


def parse_strictly(document: bytes, *, most_values: int) -> Any:
    """Parse JSON in UTF-8, and nothing that other readers refuse.

    Python's parser takes NaN and Infinity, makes infinities of numbers such as 1e999, and gives up
    on integers of 5,000 digits with an error that is not about JSON.

    Raises:
        TooManyValuesError: as ``require_bounded``.
        json.JSONDecodeError: it is not JSON, holds NaN, Infinity or a number beyond what is
            counted with, or nests too deep.
    """

    def refuse(constant: str) -> NoReturn:
        raise json.JSONDecodeError(f"{constant} is not JSON", constant, 0)

    def finite(number: str) -> float:
        found = float(number)
        return found if math.isfinite(found) else refuse(number)

    try:
        require_bounded(document, most_values=most_values)
        return json.loads(document.decode(), parse_constant=refuse, parse_float=finite)
    except (json.JSONDecodeError, TooManyValuesError):
        raise
    except (RecursionError, ValueError) as error:
        raise json.JSONDecodeError("beyond what can be read", "", 0) from error


def read_model(model: type[ModelT], document: bytes, *, most_values: int) -> ModelT:
    """Return a document as a model, of which only the known fields are built.

    Raises:
        TooManyValuesError, TooDeepError: as ``require_bounded``.
        pydantic.ValidationError: it is not JSON of the model. Both are a ``ValueError``.
    """
    require_bounded(document, most_values=most_values)
    return model.model_validate_json(document)


def _count(marks: bytes) -> int:
    """Return how many values there are; an empty array or object counts as two."""
    return 1 + marks.count(b",") + marks.count(b"[") + marks.count(b"{")


def _require_shallow(outside: bytes) -> None:
    steps = map(_LEVELS.__getitem__, outside.translate(None, b","))
    if max(accumulate(steps), default=0) > MAX_DEPTH:
        raise TooDeepError(f"nested deeper than {MAX_DEPTH} levels")
