"""Validating JSON against an owner's schema, with bounded work and without a network.

References stay within the schema: the validator is given a registry that fetches nothing.
``pattern`` and ``patternProperties`` run on RE2. Each keyword that is applied counts as a step, and
each search as many as its pattern and text make it, so that references which multiply themselves,
large enumerations and large patterns end at a limit.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple

import attrs
import referencing
from jsonschema import Draft7Validator, Draft201909Validator, Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from autotune.protocol.limits import (
    MAX_FIELD_NAME_CHARACTERS,
    MAX_JSON_SCHEMA_BYTES,
    MAX_JSON_SCHEMA_DEPTH,
)
from autotune.protocol.types import nests_deeper_than
from autotune_platform.checks.faults import CompletionFaultError, configuration_error
from autotune_platform.checks.patterns import matches
from autotune_platform.checks.schema_keywords import check_keywords
from autotune_platform.checks.work import step_budget, take

_DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
_DRAFTS: Mapping[str, type[Validator]] = {
    _DRAFT_2020: Draft202012Validator,
    "https://json-schema.org/draft/2019-09/schema": Draft201909Validator,
    "http://json-schema.org/draft-07/schema": Draft7Validator,
}

# These look at all that is in a value, and not at its members alone.
_WHOLE_VALUES = {"const", "enum", "uniqueItems"}
_CHARACTERS_OF_A_STEP = 1_000
_UNKNOWN_KEYWORDS_OF_A_STEP = 20
_FAULT_CHARACTERS = 200
_PANIC = "PanicException"
_STEPS_TO_CHECK = 2_000_000
"""Against a draft's own schema: the clock is what ends it."""

Keyword = Callable[[Any, Any, Any, Mapping[str, Any]], Iterator[ValidationError] | None]


class Schema:
    """An owner's schema, which was checked when it was registered."""

    def __init__(self, document: dict[str, Any]) -> None:
        draft = _bounded(_DRAFTS[_named_draft(document)])
        self._validator = draft(document, registry=referencing.Registry())

    def admits(self, instance: Any) -> bool:
        """Return whether a JSON value is valid.

        Raises:
            CompletionFaultError: that takes too much work, or the schema refers to nothing.
        """
        try:
            with step_budget(), _panics_as_recursion():
                return bool(self._validator.is_valid(instance))
        except RecursionError as error:
            raise CompletionFaultError("builtin_input_too_large") from error
        except referencing.exceptions.Unresolvable as error:
            raise CompletionFaultError("builtin_error") from error

    def fault(self, instance: Any) -> "SchemaFault | None":
        """Return the first fault of a JSON value; None where it is valid.

        Raises:
            CompletionFaultError: that takes too much work, or the schema refers to nothing.
        """
        try:
            with step_budget(), _panics_as_recursion():
                found = next(self._validator.iter_errors(instance), None)
        except RecursionError as error:
            raise CompletionFaultError("builtin_input_too_large") from error
        except referencing.exceptions.Unresolvable as error:
            raise CompletionFaultError("builtin_error") from error
        return None if found is None else _fault(found)


@contextmanager
def _panics_as_recursion() -> Iterator[None]:
    """Let the stack's end be a RecursionError also where the library's tables, in Rust, meet it.

    Up to Python 3.11 they panic there: an exception that is none of Python's, so that nothing which
    handles errors would stop it.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        raise RecursionError from error


class SchemaFault(NamedTuple):
    """Where a value is not valid, and what is expected there.

    Attributes:
        place: within the value, such as ``.lines[2].text``; nothing is the value itself.
        expected: for people, in words of the schema.
    """

    place: str
    expected: str


def check_schema(document: dict[str, Any], *, field: str) -> set[str]:
    """Require that a document is a schema that may run; return the patterns in it.

    Args:
        field: where it stands, for errors.

    Raises:
        InvalidRequestError: it is no schema, or wants what is not supported.
        CompletionFaultError: to see that takes too much work.
    """
    draft = _DRAFTS.get(_named_draft(document))
    if draft is None:
        raise configuration_error(f"{field}['$schema']", f"one of {', '.join(_DRAFTS)}")
    if nests_deeper_than(document, MAX_JSON_SCHEMA_DEPTH):
        raise configuration_error(
            field, f"a schema that nests at most {MAX_JSON_SCHEMA_DEPTH} levels deep"
        )
    try:
        size = len(json.dumps(document, separators=(",", ":"), allow_nan=False).encode())
    except ValueError as error:
        raise configuration_error(field, "JSON, which has no infinite numbers") from error
    if size > MAX_JSON_SCHEMA_BYTES:
        raise configuration_error(
            field, f"a schema of at most {MAX_JSON_SCHEMA_BYTES} bytes, not {size}"
        )
    try:
        # Not the library's own check: it counts nothing, and compares lists with each other in
        # quadratic time. Formats are left out: they try patterns on Python's syntax.
        with step_budget(_STEPS_TO_CHECK), _panics_as_recursion():
            fault = best_match(_bounded(draft)(draft.META_SCHEMA).iter_errors(document))
    except RecursionError as error:
        raise configuration_error(field, "a schema that nests less deep") from error
    if fault is not None:
        place = "".join(f"[{_short(part)!r}]" for part in fault.absolute_path)
        raise configuration_error(
            f"{field}{place}", f"a valid JSON schema: {fault.validator} does not hold"
        )
    return check_keywords(document, field=field)


def _fault(found: ValidationError) -> SchemaFault:
    place = "".join(
        f"[{part}]" if isinstance(part, int) else f".{_short(part)}" for part in found.absolute_path
    )
    keyword = str(found.validator)
    value: Any = found.validator_value
    instance: Any = found.instance
    if keyword == "required":
        missing = [name for name in value if name not in instance]
        return SchemaFault(f"{place}.{missing[0]}", "a value")
    if keyword == "additionalProperties":
        return SchemaFault(place, "no property but those of the schema")
    limit = json.dumps(value, ensure_ascii=False)[:_FAULT_CHARACTERS]
    return SchemaFault(place, f"a value for which {keyword} holds: {limit}")


def _short(part: str | int) -> str | int:
    return part if isinstance(part, int) else part[:MAX_FIELD_NAME_CHARACTERS]


def _named_draft(document: Mapping[str, Any]) -> str:
    named = document.get("$schema", _DRAFT_2020)
    return named.rstrip("#") if isinstance(named, str) else ""


def _bounded(draft: type[Validator]) -> type[Validator]:
    keywords: dict[str, Keyword] = {
        **draft.VALIDATORS,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "uniqueItems": _unique_items,
        "multipleOf": _multiple_of,
    }
    counted = {
        name: _counted(keyword, size=_whole_size if name in _WHOLE_VALUES else _members)
        for name, keyword in keywords.items()
    }
    bounded: type[Validator] = extend(draft, counted)  # type: ignore[no-untyped-call]
    # Theirs looks ``$schema`` up again, and goes on without these limits if it finds one.
    bounded.evolve = attrs.evolve  # type: ignore[method-assign,assignment]
    for name in ("descend", "iter_errors"):
        setattr(bounded, name, _counting_keywords(getattr(bounded, name)))
    return bounded


def _counting_keywords(walk: Callable[..., Iterator[ValidationError]]) -> Any:
    """Charge the keywords of each schema that is applied: the library looks at unknown ones too."""

    def walk_counted(
        validator: Any, instance: Any, schema: Any = None, *places: Any, **named: Any
    ) -> Iterator[ValidationError]:
        applied = validator.schema if schema is None else schema
        take(_members(applied) // _UNKNOWN_KEYWORDS_OF_A_STEP)
        given = () if schema is None else (schema,)
        yield from walk(validator, instance, *given, *places, **named)

    return walk_counted


def _counted(keyword: Keyword, *, size: Callable[[Any], int]) -> Keyword:
    def apply(
        validator: Any, value: Any, instance: Any, schema: Mapping[str, Any]
    ) -> Iterator[ValidationError]:
        take(1 + size(value) + size(instance))
        yield from keyword(validator, value, instance, schema) or ()

    return apply


def _members(part: Any) -> int:
    return len(part) if isinstance(part, dict | list) else 0


def _whole_size(part: Any) -> int:
    if isinstance(part, str):
        return len(part) // _CHARACTERS_OF_A_STEP
    if isinstance(part, dict):
        return len(part) + sum(map(_whole_size, part)) + sum(map(_whole_size, part.values()))
    return len(part) + sum(map(_whole_size, part)) if isinstance(part, list) else 0


def _pattern(
    validator: Any, pattern: str, instance: Any, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string") and not matches(pattern, instance):
        yield ValidationError("pattern")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, subschema in patterns.items():
        for name, member in instance.items():
            if matches(pattern, name):
                yield from validator.descend(member, subschema, path=name)


def _additional_properties(
    validator: Any, subschema: Any, instance: Any, schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, member in instance.items():
        if name not in known and not any(matches(pattern, name) for pattern in patterns):
            if subschema is False:
                yield ValidationError("additionalProperties")
            elif subschema is not True:
                yield from validator.descend(member, subschema, path=name)


def _unique_items(
    validator: Any, unique: Any, instance: Any, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if not unique or not validator.is_type(instance, "array"):
        return
    if len({_canonical(member) for member in instance}) < len(instance):
        yield ValidationError("uniqueItems")


def _multiple_of(
    validator: Any, divisor: float, instance: Any, _schema: Mapping[str, Any]
) -> Iterator[ValidationError]:
    if validator.is_type(instance, "number"):
        number, unit = _exact(instance), _exact(divisor)
        if number.numerator * unit.denominator % (number.denominator * unit.numerator):
            yield ValidationError("multipleOf")


def _exact(number: float) -> Fraction:
    """Return the number that was written: no binary fraction is 0.01, and none is 1e400."""
    return Fraction(number if isinstance(number, int) else repr(number))


def _canonical(value: Any) -> str:
    """Return one text for what JSON Schema holds to be equal: 1 and 1.0 are, 1 and true are not."""
    return json.dumps(_with_plain_numbers(value), sort_keys=True)


def _with_plain_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _with_plain_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_with_plain_numbers(member) for member in value]
    return value
