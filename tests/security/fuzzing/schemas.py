"""Documents that a JSON Schema of ``docs/openapi.json`` admits, more or less."""

import re
from collections.abc import Callable
from random import Random
from typing import Any

from autotune.protocol.ids import new_id
from tests.security.fuzzing.mutating import MARKER

_ID = re.compile(r"\^?\(?(\w+?)(?:\|[\w|]+)?\)?_\[0-9a-v\]\{26\}\$?")
_DEEPEST = 6


class Drawing:
    """Draws values of schemas.

    Args:
        ids: returns the id for a field that has one, by kind, such as ``grd``; None for any.
    """

    def __init__(self, schemas: dict[str, Any], ids: Callable[[str], str | None]) -> None:
        self._schemas = schemas
        self._ids = ids

    def value(
        self, schema: dict[str, Any], random: Random, *, name: str = "", depth: int = 0
    ) -> Any:
        """Return a value that a schema admits, as far as it can be told."""
        if "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if choices:
            return self.value(random.choice(choices), random, name=name, depth=depth)
        if "const" in schema or "enum" in schema:
            return random.choice(schema.get("enum") or [schema["const"]])
        of_types: dict[str | None, Callable[[], Any]] = {
            "object": lambda: self._object(schema, random, depth),
            "array": lambda: self._array(schema, random, name, depth),
            "string": lambda: self._text(schema, random, name),
            "integer": lambda: _number(schema, random, whole=True),
            "number": lambda: _number(schema, random, whole=False),
            "boolean": lambda: random.random() < 0.5,
            "null": lambda: None,
        }
        return of_types.get(schema.get("type"), lambda: {"a": [MARKER, 1]})()

    def _object(self, schema: dict[str, Any], random: Random, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, child in schema.get("properties", {}).items():
            is_needed = name in schema.get("required", ())
            if is_needed or (depth < _DEEPEST and random.random() < 0.35):
                found[name] = self.value(child, random, name=name, depth=depth + 1)
        more = schema.get("additionalProperties")
        if more and not schema.get("properties") and depth < _DEEPEST:
            child = more if isinstance(more, dict) else {}
            found["note"] = self.value(child, random, name="note", depth=depth + 1)
        return found

    def _array(self, schema: dict[str, Any], random: Random, name: str, depth: int) -> list[Any]:
        fewest = schema.get("minItems", 0)
        most = min(schema.get("maxItems", 3), 3) if depth < _DEEPEST else fewest
        items = schema.get("items", {})
        return [
            self.value(items, random, name=name, depth=depth + 1)
            for _ in range(random.randint(fewest, max(fewest, most)))
        ]

    def _text(self, schema: dict[str, Any], random: Random, name: str) -> str:
        if id_pattern := _ID.fullmatch(schema.get("pattern", "")):
            kind = id_pattern[1]
            return self._ids(kind) or new_id(kind)  # type: ignore[arg-type]
        if schema.get("format") == "date-time":
            return random.choice(["2030-01-01T00:00:00Z", "2020-01-01T00:00:00+01:00"])
        if name in {"url", "endpoint"}:
            return f"http://127.0.0.1:1/{MARKER}"
        if "sha256" in name.lower():
            return "0" * 64
        longest = schema.get("maxLength", 10_000)
        if random.random() < 0.1:
            return ("x" * (longest - len(MARKER)) + MARKER)[-longest:]
        return MARKER[:longest]


def _number(schema: dict[str, Any], random: Random, *, whole: bool) -> float:
    least, most = schema.get("minimum", 0), schema.get("maximum", 1)
    drawn = random.choice([least, most, (least + most) / 2])
    return int(drawn) if whole else drawn
