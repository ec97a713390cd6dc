"""Checks requests against the fields that a provider documents: what is not documented is refused.

A specification is a function of a value and its path that raises `RefusedError`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

Spec = Callable[[Any, str], None]


class RefusedError(Exception):
    """A request that the provider's documentation does not admit.

    Attributes:
        param: Path of the value, such as ``messages[0].role``.
        kind: ``unknown``, ``missing``, ``type`` or ``value``.
    """

    def __init__(self, param: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.param = param
        self.kind = kind


def anything(value: Any, path: str) -> None:
    """Admits any value."""


def of_type(name: str, *types: type) -> Spec:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise RefusedError(path, "type", f"Invalid type for '{path}': expected {name}.")

    return check


string = of_type("a string", str)
integer = of_type("an integer", int)
number = of_type("a number", int, float)
boolean = of_type("a boolean", bool)
mapping = of_type("an object", dict)


def refusing_true(value: Any, path: str) -> None:
    """Admits false: the fake streams nothing."""
    boolean(value, path)
    if value:
        raise RefusedError(path, "value", f"Invalid value for '{path}': not supported here.")


def between(spec: Spec, least: float, most: float) -> Spec:
    def check(value: Any, path: str) -> None:
        spec(value, path)
        if not least <= value <= most:
            raise RefusedError(
                path, "value", f"Invalid value for '{path}': {value} is not in [{least}, {most}]."
            )

    return check


def text(*, most: int = 10_000_000, least: int = 0, pattern: str | None = None) -> Spec:
    compiled = re.compile(pattern) if pattern else None

    def check(value: Any, path: str) -> None:
        string(value, path)
        if not least <= len(value) <= most:
            raise RefusedError(
                path,
                "value",
                f"Invalid '{path}': expected a string of {least} to {most} characters, "
                f"but got {len(value)}.",
            )
        if compiled and not compiled.fullmatch(value):
            raise RefusedError(path, "value", f"Invalid '{path}': must match {pattern}.")

    return check


def choice(*values: Any) -> Spec:
    def check(value: Any, path: str) -> None:
        if value not in values:
            wanted = ", ".join(map(repr, values))
            raise RefusedError(
                path, "value", f"Invalid value for '{path}': expected one of {wanted}."
            )

    return check


def nullable(spec: Spec) -> Spec:
    def check(value: Any, path: str) -> None:
        if value is not None:
            spec(value, path)

    return check


def either(*specs: Spec) -> Spec:
    def check(value: Any, path: str) -> None:
        failures = []
        for spec in specs:
            try:
                return spec(value, path)
            except RefusedError as error:
                failures.append(error)
        raise failures[-1]

    return check


def items(spec: Spec, *, least: int = 0, most: int = 10_000_000) -> Spec:
    def check(value: Any, path: str) -> None:
        if not isinstance(value, list):
            raise RefusedError(path, "type", f"Invalid type for '{path}': expected an array.")
        if not least <= len(value) <= most:
            raise RefusedError(
                path,
                "value",
                f"Invalid '{path}': expected {least} to {most} items, but got {len(value)}.",
            )
        for index, item in enumerate(value):
            spec(item, f"{path}[{index}]")

    return check


def strings(*, most: int = 16, characters: int = 512) -> Spec:
    """A map from strings to strings, as metadata are."""

    def check(value: Any, path: str) -> None:
        mapping(value, path)
        if len(value) > most:
            raise RefusedError(path, "value", f"Invalid '{path}': at most {most} entries.")
        for name, inner in value.items():
            text(most=64)(name, f"{path}.{name}")
            text(most=characters)(inner, f"{path}.{name}")

    return check


def shape(*, required: Mapping[str, Spec] = {}, optional: Mapping[str, Spec] = {}) -> Spec:
    """An object with these fields and no others."""
    known = {**required, **optional}

    def check(value: Any, path: str) -> None:
        mapping(value, path or "body")
        prefix = f"{path}." if path else ""
        for name in value:
            if name not in known:
                raise RefusedError(
                    f"{prefix}{name}", "unknown", f"Unrecognized request argument: {prefix}{name}"
                )
        for name in required:
            if name not in value:
                raise RefusedError(
                    f"{prefix}{name}", "missing", f"Missing required parameter: '{prefix}{name}'."
                )
        for name, inner in value.items():
            known[name](inner, f"{prefix}{name}")

    return check
