"""Has MiniStack read the condition of a query once, rather than once for each item.

MiniStack parses a key condition anew for each item of the partition: 0.9 s of CPU for one of 25,000
items, of which a query asks ten. What is put in its place decides the forms that condition texts of
keys have, and leaves every other form to MiniStack.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from ministack.services import dynamodb

_SLOT = "KeyConditionExpression"
_COMPARISONS: Mapping[str, Callable[[str, str], bool]] = {
    "EQ": operator.eq,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}

Item = Mapping[str, Mapping[str, Any]]
Decides = Callable[[Item], bool]
Evaluate = Callable[..., bool]


def install() -> None:
    """Change the MiniStack of this process."""
    dynamodb._evaluate_condition = read_once(dynamodb._evaluate_condition)  # noqa: SLF001 - it has no setting


def read_once(evaluate: Evaluate) -> Evaluate:
    """Have key conditions of known forms read once for all items of a query."""
    # A query evaluates its condition for one item after the other, with the same values.
    last: tuple[Any, Any, Any, Decides | None] = (None, None, None, None)

    @wraps(evaluate)
    def evaluate_read_once(
        text: str, item: Item, values: Any, names: Any, slot: str = "ConditionExpression"
    ) -> bool:
        nonlocal last
        if slot != _SLOT:
            return evaluate(text, item, values, names, slot)
        known, of_values, of_names, decides = last
        if known != text or of_values is not values or of_names is not names:
            decides = read(text, values, names)
            last = (text, values, names, decides)
        return evaluate(text, item, values, names, slot) if decides is None else decides(item)

    return evaluate_read_once


def read(text: str, values: Any, names: Any) -> Decides | None:
    """Return what decides a key condition for an item; None for a form that is not known here."""
    clauses = dynamodb._key_condition_clauses(dynamodb._tokenize(text))  # noqa: SLF001
    found = [_clause(clause, values or {}, names or {}) for clause in clauses]
    decides = [one for one in found if one is not None]
    if not decides or len(decides) < len(found):
        return None
    return lambda item: all(one(item) for one in decides)


def _clause(
    tokens: Sequence[tuple[str, str]], values: Mapping[str, Any], names: Mapping[str, str]
) -> Decides | None:
    kinds = [kind for kind, _ in tokens]
    texts = [text for _, text in tokens]
    operands = [values.get(text) for kind, text in tokens if kind == "VALUE_REF"]
    # Text is in the order of its UTF-8 bytes, as DynamoDB compares it, by code points as well.
    strings = [one["S"] for one in operands if isinstance(one, dict) and set(one) == {"S"}]
    name = next((names.get(text) for kind, text in tokens if kind == "NAME_REF"), None)
    if name is None or not strings or len(strings) < len(operands):
        return None
    if kinds[0] == "NAME_REF" and len(kinds) == 3 and kinds[1] in _COMPARISONS:
        compare, bound = _COMPARISONS[kinds[1]], strings[0]
        return _of(name, lambda value: compare(value, bound))
    if kinds == ["NAME_REF", "IDENT", "VALUE_REF", "IDENT", "VALUE_REF"]:
        low, high = strings
        return _of(name, lambda value: low <= value <= high) if low <= high else None
    call = ["IDENT", "LPAREN", "NAME_REF", "COMMA", "VALUE_REF", "RPAREN"]
    if kinds == call and texts[0] == "begins_with":
        beginning = strings[0]
        return _of(name, lambda value: value.startswith(beginning))
    return None


def _of(name: str, holds: Callable[[str], bool]) -> Decides:
    def decides(item: Item) -> bool:
        value = item.get(name, {}).get("S")
        return value is not None and holds(value)

    return decides
