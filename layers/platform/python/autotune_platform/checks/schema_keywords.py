"""What an owner's schema may hold: every place that validation can reach is looked at once."""

from typing import Any
from urllib.parse import unquote

from autotune.protocol.limits import MAX_JSON_SCHEMA_PATTERNS
from autotune_platform.checks.faults import configuration_error
from autotune_platform.checks.patterns import check_pattern

# Their search for what other keywords saw passes no place where work is counted.
_UNSUPPORTED = {"unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"}
# Below the root, these would change what keywords mean, or where references lead.
_AT_THE_ROOT = {"$schema", "$id"}
_DATA = {"enum", "const", "default", "examples", "dependentRequired", "$vocabulary"}
# The names in these are the owner's own, and none of them is a keyword.
_NAMED_SCHEMAS = {
    *("properties", "patternProperties", "dependentSchemas", "dependencies"),
    *("$defs", "definitions"),
}

_Path = tuple[str | int, ...]


def check_keywords(document: dict[str, Any], *, field: str) -> set[str]:
    """Refuse what a validation must not meet; return the patterns in it.

    Args:
        field: where the schema stands, for errors.

    Raises:
        InvalidRequestError: a keyword is not supported, RE2 cannot run a pattern, there are more
            than ``MAX_JSON_SCHEMA_PATTERNS``, or a reference leads out of the schema or to what is
            no schema in it.
    """
    walk = _Walk(field)
    walk.schema(document, ())
    walk.check_references()
    return walk.patterns


class _Walk:
    def __init__(self, field: str) -> None:
        self._field = field
        self._schemas: set[tuple[str, ...]] = set()
        self.patterns: set[str] = set()
        self._references: list[tuple[str, _Path]] = []

    def schema(self, node: Any, path: _Path) -> None:
        if isinstance(node, list):
            for index, member in enumerate(node):
                self.schema(member, (*path, index))
        if isinstance(node, dict | bool):
            self._schemas.add(tuple(map(str, path)))
        if isinstance(node, dict):
            for name, value in node.items():
                self._keyword(name, value, (*path, name))

    def check_references(self) -> None:
        for reference, path in self._references:
            target = unquote(reference[1:])
            # A plain name is an anchor's, which only a schema has.
            leads = not target.startswith("/") or _pointed(target) in self._schemas
            if not reference.startswith("#") or not leads:
                raise configuration_error(
                    self._place(path), "a reference to a schema within this one, such as #/$defs/x"
                )

    def _keyword(self, name: str, value: Any, path: _Path) -> None:
        if name in _UNSUPPORTED or (name in _AT_THE_ROOT and len(path) > 1):
            raise configuration_error(
                self._place(path), "a schema without this keyword here: it is not supported"
            )
        if name == "$ref" and isinstance(value, str):
            self._references.append((value, path))
        if name == "pattern" and isinstance(value, str):
            self._pattern(value, path)
        if name == "patternProperties" and isinstance(value, dict):
            for pattern in value:
                self._pattern(pattern, path)
        if name in _NAMED_SCHEMAS and isinstance(value, dict):
            for member, schema in value.items():
                self.schema(schema, (*path, member))
        elif name not in _DATA:
            self.schema(value, path)

    def _pattern(self, pattern: str, path: _Path) -> None:
        self.patterns.add(pattern)
        if len(self.patterns) > MAX_JSON_SCHEMA_PATTERNS:
            raise configuration_error(
                self._field, f"a schema of at most {MAX_JSON_SCHEMA_PATTERNS} patterns"
            )
        check_pattern(pattern, field=self._place(path), with_groups=False)

    def _place(self, path: _Path) -> str:
        return self._field + "".join(f"[{step!r}]" for step in path)


def _pointed(pointer: str) -> tuple[str, ...]:
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/"))
