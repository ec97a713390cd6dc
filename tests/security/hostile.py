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
_WIDE = '"\U0001f600'


def filled(fill: str, *, most_bytes: int, most_values: int | None = None) -> str:
    """Return what stands in an array or object: ``fill`` as often as fits."""
    times = most_bytes // (len(fill.encode()) + 1)
    if most_values is not None:
        # As they are counted: a comma each, and one for each opening.
        times = min(times, most_values // (1 + fill.count("[") + fill.count("{")))
    return ",".join([fill] * max(times, 1))


def members(*, most_bytes: int, most_values: int | None = None) -> str:
    """Return many members of an object, each of another name."""
    times = most_bytes // 12
    if most_values is not None:
        times = min(times, most_values)
    return ",".join(f'"u{number:07}":1' for number in range(times))


def bodies(
    fields: list[str], *, most_bytes: int, most_values: int, seed: int, fills: int = 1
) -> Iterator[bytes]:
    """Yield hostile bodies: with more values than admitted, and with as many as are admitted.

    Args:
        fields: paths of fields, such as ``completions[].metadata``.
        fills: how many kinds of content each field is tried with, drawn by ``seed``.
    """
    random = Random(seed)
    for fill in _FILLS:
        yield f"[{filled(fill, most_bytes=most_bytes - 2)}]".encode()
    room = most_bytes - 500
    for values in (None, most_values - 100):
        yield f"{{{members(most_bytes=room, most_values=values)}}}".encode()
        for path in fields:
            for fill in random.sample(_FILLS, fills):
                inside = filled(fill, most_bytes=room, most_values=values)
                yield _at(path, f"[{inside}]").encode()
            yield _at(path, f"{{{members(most_bytes=room, most_values=values)}}}").encode()
    for path in fields:
        yield _at(path, f'{{"{"k" * (room // 2)}":{{{members(most_bytes=room // 2)}}}}}').encode()
        yield _at(path, f'"{"x" * room}"').encode()
        yield _at(path, f'{_WIDE}{"x" * room}"').encode()
    yield b"[" * most_bytes
    yield (b'{"a":' * (most_bytes // 6)) + b"1" + b"}" * (most_bytes // 6)


def _at(path: str, value: str) -> str:
    """Return a document that has a value at a path."""
    for name in reversed(path.split(".")):
        if name.endswith("[]"):
            value = f"[{value}]"
        value = f'{{"{name.removesuffix("[]")}":{value}}}'
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
