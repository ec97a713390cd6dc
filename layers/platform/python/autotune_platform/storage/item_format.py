"""How items look on DynamoDB's wire, and how they look to repositories."""

import base64
import math
from collections.abc import Callable, Mapping, Set
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

Item = dict[str, Any]

_SMALLEST_NUMBER = 1e-128


def key_to_wire(pk: str, sk: str) -> dict[str, Any]:
    """Return the key of an item."""
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def moment(at: datetime) -> str:
    """Return a time as indexes sort it: as text, in one format for all."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")


def item_to_wire(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain attributes as DynamoDB takes them."""
    return {name: value_to_wire(value) for name, value in item.items()}


def item_from_wire(item: Mapping[str, Any]) -> Item:
    """Return attributes from DynamoDB, or from its stream, as plain values."""
    return {name: _from_wire(value) for name, value in item.items()}


def value_to_wire(value: Any) -> dict[str, Any]:  # noqa: C901, PLR0911 - one for each of its types
    """Return a plain value as DynamoDB takes it.

    Raises:
        TypeError: it is of no type that DynamoDB has, or an empty set, or not a finite number.
    """
    match value:
        case str():  # as most are
            return {"S": value}
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case float():
            return {"N": _digits(value)}
        case bytes():
            return {"B": value}
        case dict() | Mapping():  # to ask whether it is a mapping takes longer
            return {"M": item_to_wire(value)}
        case list() | tuple():
            return {"L": [value_to_wire(member) for member in value]}
        case Set() if value and all(isinstance(member, str) for member in value):
            return {"SS": sorted(value)}
        case Set() if value and all(type(member) is int for member in value):
            return {"NS": [str(member) for member in sorted(value)]}
    message = f"DynamoDB stores no {type(value).__name__} such as this"
    raise TypeError(message)


def _digits(value: float) -> str:
    if not math.isfinite(value):
        message = f"DynamoDB stores no number that is {value}"
        raise TypeError(message)
    # It knows no number nearer to zero than 1e-130.
    return repr(value) if abs(value) > _SMALLEST_NUMBER else "0"


def _from_wire(wire: Mapping[str, Any]) -> Any:
    ((kind, value),) = wire.items()
    return _READERS[kind](value)


def _number(digits: str) -> int | float:
    try:
        return int(digits)  # as most are
    except ValueError:
        exact = Decimal(digits)
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def _bytes(value: bytes | str) -> bytes:
    # Lambda passes bytes of a stream's record on as Base64.
    return base64.b64decode(value) if isinstance(value, str) else bytes(value)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "S": str,
    "N": _number,
    "BOOL": bool,
    "NULL": lambda _: None,
    "B": _bytes,
    "M": item_from_wire,
    "L": lambda members: [_from_wire(member) for member in members],
    "SS": set,
    "NS": lambda members: {_number(member) for member in members},
}
