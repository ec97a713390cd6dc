"""JSON in one form for each value (RFC 8785), so that it can be signed.

Floating-point numbers are refused: each language writes them in its own way. What is signed has
them as decimal strings; then ``jq -cSj .`` writes the same bytes.
"""

from typing import Any

from autotune.protocol.compact_json import compact

_LARGEST = 2**53 - 1


def canonical_json(value: Any) -> bytes:
    """Return a value's canonical JSON, in UTF-8.

    Args:
        value: of objects, arrays, strings, whole numbers up to 2**53 - 1, booleans and null.

    Raises:
        ValueError: it has something else, a floating-point number for example.
    """
    ordered = _in_order(value)
    return compact(ordered).encode()


def _in_order(value: Any) -> Any:
    match value:
        case None | bool() | str():
            return value
        case int() if abs(value) <= _LARGEST:
            return value
        case list() | tuple():
            return [_in_order(member) for member in value]
        case dict() if all(isinstance(name, str) for name in value):
            # By UTF-16 code units, as RFC 8785 has it.
            names = sorted(value, key=lambda name: name.encode("utf-16-be"))
            return {name: _in_order(value[name]) for name in names}
    message = f"canonical JSON has no {type(value).__name__} such as this"
    raise ValueError(message)
