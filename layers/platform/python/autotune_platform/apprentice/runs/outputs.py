"""Reading answers: an answer is a JSON object of the task's output schema, or it is none."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from autotune.protocol.limits import MAX_APPRENTICE_OUTPUT_BYTES
from autotune_platform.apprentice.evaluators import MAX_ANSWER_BYTES, MAX_ANSWER_VALUES
from autotune_platform.apprentice.fences import unfenced
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.schemas import Schema, SchemaFault
from autotune_platform.checks.work import cpu_limit
from autotune_platform.runtime.bounded_json import parse_strictly
from autotune_platform.runtime.errors import InvalidRequestError

KNOWN_SCHEMAS = 64
"""How many a process remembers: the largest take most of a megabyte."""


# What may be half a pair of UTF-16.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_output(text: str, output_schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return an answer of a model; None where it is no JSON object that the schema admits.

    It may stand within a code fence, if that is all of the answer. Nothing else is corrected.
    One with half a character is none: JSON can spell it, and UTF-8 cannot hold it.
    """
    if len(text) > MAX_ANSWER_BYTES:
        return None
    try:
        if len(text.encode()) > MAX_ANSWER_BYTES:
            return None
        value = parse_strictly(unfenced(text).encode(), most_values=MAX_ANSWER_VALUES)
        if _HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        with cpu_limit():
            is_admitted = isinstance(value, dict) and _schema(_key(output_schema)).admits(value)
    except (ValueError, CompletionFaultError):  # no JSON, too many values, half a pair of UTF-16
        return None
    return value if is_admitted else None


def fits_an_item(text: str) -> bool:
    """Return whether a version's answer is short enough to be stored with its run."""
    return len(text.encode(errors="surrogatepass")) <= MAX_APPRENTICE_OUTPUT_BYTES


def require_input(value: dict[str, Any], input_schema: Mapping[str, Any]) -> None:
    """Require that the input schema admits an input.

    Raises:
        InvalidRequestError: it does not; the field at fault is named.
    """
    try:
        with cpu_limit():
            fault = fault_in(value, input_schema)
    except CompletionFaultError as error:
        raise InvalidRequestError.of_field(
            "input", "an input that takes less work to check"
        ) from error
    if fault is not None:
        raise InvalidRequestError.of_field(f"input{fault.place}", fault.expected)


def fault_in(value: Mapping[str, Any], schema: Mapping[str, Any]) -> SchemaFault | None:
    """Return what is wrong with an input or output; None where a task's schema admits it.

    Raises:
        CompletionFaultError: that takes too much work.
    """
    return _schema(_key(schema)).fault(value)


def _key(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, separators=(",", ":"))


@lru_cache(KNOWN_SCHEMAS)
def _schema(document: str) -> Schema:
    # It was bounded and checked when the task was put.
    return Schema(parse_strictly(document.encode(), most_values=len(document)))
