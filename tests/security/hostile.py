"""Bodies made to take as much memory as they can, for any route: of its model's own fields."""

from collections.abc import Iterator
from random import Random
from typing import Any

_FILLS = (
    "{}",
    "[]",
    "1",
    '""',
    "[[]]",
    '{"a":{}}',
    '{"a":[1]}',
    "0.1",
    '"\\u00e9"',
    "null",
)
_WIDE = '"\U0001f600'.encode()


def filled(fill: str, *, most_bytes: int, most_values: int | None = None) -> bytes:
    """Return what stands in an array or object: ``fill`` as often as fits."""
    times = most_bytes // (len(fill.encode()) + 1)
    if most_values is not None:
        # As they are counted: a comma each, and one for each opening.
        times = min(times, most_values // (1 + fill.count("[") + fill.count("{")))
    return ((fill.encode() + b",") * max(times, 1))[:-1]


def members(*, most_bytes: int, most_values: int | None = None) -> bytes:
    """Return many members of an object, each of another name."""
    times = most_bytes // 13
    if most_values is not None:
        times = min(times, most_values)
    found = bytearray()  # whoever measures wants to find little else in memory
    for number in range(times):
        found += b'"u%07d":1,' % number
    return bytes(found[:-1])


def bodies(fields: list[str], *, most_bytes: int, most_values: int, seed: int) -> Iterator[bytes]:
    """Yield hostile bodies: with more values than admitted, and with as many as are admitted.

    Args:
        fields: paths of fields, such as ``completions[].metadata``.
        seed: draws what each field is filled with.
    """
    random = Random(seed)
    room = most_bytes - 500
    for fill in random.sample(_FILLS, 4):
        yield b"[" + filled(fill, most_bytes=room) + b"]"
    for values in (None, most_values - 100):
        many = b"{" + members(most_bytes=room, most_values=values) + b"}"
        yield many
        for path in fields:
            inside = filled(random.choice(_FILLS), most_bytes=room, most_values=values)
            yield _at(path, b"[" + inside + b"]")
            yield _at(path, many)
    for path in fields:
        below = members(most_bytes=room // 2, most_values=most_values - 100)
        yield _at(path, b'{"' + b"k" * (room // 2) + b'":{' + below + b"}}")
        yield _at(path, _WIDE + b"x" * room + b'"')
    yield b"[" * most_bytes
    yield (b'{"a":' * (most_bytes // 6)) + b"1" + b"}" * (most_bytes // 6)


def _at(path: str, value: bytes) -> bytes:
    """Return a document that has a value at a path."""
    for name in reversed(path.split(".")):
        if name.endswith("[]"):
            value = b"[" + value + b"]"
        value = b'{"' + name.removesuffix("[]").encode() + b'":' + value + b"}"
    return value


def field_paths(schema: dict[str, Any], *, depth: int = 3) -> list[str]:
    """Return the paths of all fields that a JSON Schema names."""
    definitions = schema.get("$defs", {})
    found: list[str] = []

    def walk(node: dict[str, Any], path: str, left: int) -> None:
        if "$ref" in node:
            node = definitions[node["$ref"].rpartition("/")[2]]
        for branch in [*node.get("anyOf", []), *node.get("oneOf", []), *node.get("allOf", [])]:
            walk(branch, path, left)
        if "items" in node and left:
            walk(node["items"], f"{path}[]", left)
        for name, child in node.get("properties", {}).items():
            below = f"{path}.{name}".removeprefix(".")
            if below not in found and left:
                found.append(below)
                walk(child, below, left - 1)

    walk(schema, "", depth)
    return found
