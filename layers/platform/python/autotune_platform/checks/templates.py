"""Template strings: text with ``{{ item.x }}`` and ``{{ sample.output_text }}`` in it.

The syntax is that of OpenAI's graders: a name space, and a path into it. What is put in is text,
never a template again.
"""

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from autotune.protocol.compact_json import compact
from autotune.protocol.limits import MAX_BUILTIN_TEXT_CHARACTERS, MAX_JSON_CHARACTERS
from autotune_platform.checks.faults import CompletionFaultError, configuration_error

_PLACE = re.compile(r"\{\{([^{}]*)\}\}")
_STEP = re.compile(r"\.([^\s.\[\]{}]+)|\[(\d{1,6})\]|\[\"([^\"]+)\"\]|\['([^']+)'\]")
_SAMPLE_FIELDS = ("output_text", "output_json")

Step = str | int


class Sample:
    """One completion as templates see it."""

    def __init__(self, *, prompt: str, response: str, metadata: Mapping[str, Any]) -> None:
        self._item = {"prompt": prompt, **metadata}
        self._response = response

    def find(self, path: tuple[Step, ...]) -> Any:
        """Return what a path leads to.

        Raises:
            CompletionFaultError: it leads to nothing, or to null.
        """
        found: Any = self._response if path[:2] == ("sample", "output_text") else None
        if found is None:
            found = self._item if path[0] == "item" else {"output_json": self._output_json}
            for step in path[1:]:
                found = _member(found, step)
        if found is None:
            raise CompletionFaultError("builtin_input_missing")
        return found

    @cached_property
    def _output_json(self) -> Any:
        try:
            return read_json(self._response)
        except ValueError:
            return None


class Template:
    """A template string, read once."""

    def __init__(self, text: str, *, field: str) -> None:
        """Read a template.

        Args:
            field: where it stands, for errors.

        Raises:
            InvalidRequestError: a place in it leads nowhere that a completion has.
        """
        self._parts: list[str | tuple[Step, ...]] = []
        end = 0
        for place in _PLACE.finditer(text):
            self._parts += [text[end : place.start()], _path(place[1].strip(), field)]
            end = place.end()
        self._parts.append(text[end:])
        if any("{{" in part or "}}" in part for part in self._parts if isinstance(part, str)):
            raise configuration_error(field, "each {{ to have its }}, with a path between them")

    @property
    def places(self) -> list[tuple[Step, ...]]:
        """The paths that it has places for, each once, in the order in which they come."""
        return list(dict.fromkeys(part for part in self._parts if not isinstance(part, str)))

    def named(self, names: Mapping[tuple[Step, ...], str]) -> str:
        """Return the text with each place replaced by the name of its path."""
        return "".join(part if isinstance(part, str) else names[part] for part in self._parts)

    def text(self, sample: Sample) -> str:
        """Return the text for a completion; numbers, lists and objects become JSON.

        Raises:
            CompletionFaultError: a field is missing, or the text is too long.
        """
        rendered: list[str] = []
        length = 0
        for part in self._parts:
            rendered.append(part if isinstance(part, str) else as_text(sample.find(part)))
            length += len(rendered[-1])
            if length > MAX_BUILTIN_TEXT_CHARACTERS:
                raise CompletionFaultError("builtin_input_too_large")
        return "".join(rendered)


def read_json(text: str) -> Any:
    """Return what JSON stands for; unlike Python, without NaN, infinities and lone surrogates.

    Raises:
        ValueError: it is none.
        CompletionFaultError: it is too long, or nests too deeply.
    """
    if len(text) > MAX_JSON_CHARACTERS:
        raise CompletionFaultError("builtin_input_too_large")
    try:
        found = json.loads(text, parse_constant=_refuse)
        # Python reads 1e999 as infinite, and "\ud800" as text that no encoding has: graders would
        # break on either, and the completion would fail where it has earned a 0.
        json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
    except RecursionError as error:
        raise CompletionFaultError("builtin_input_too_large") from error
    return found


def _path(written: str, field: str) -> tuple[Step, ...]:
    namespace = re.match(r"\w+", written)
    steps: list[Step] = [namespace[0]] if namespace else []
    end = namespace.end() if namespace else 0
    while step := _STEP.match(written, end):
        name, index, *quoted = step.groups()
        steps.append(int(index) if index else name or quoted[0] or quoted[1])
        end = step.end()
    whole = end == len(written)
    if whole and steps[:1] == ["sample"] and len(steps) > 1 and steps[1] not in _SAMPLE_FIELDS:
        raise configuration_error(
            field, "sample.output_text or sample.output_json: completions here are text alone"
        )
    is_text = steps[:2] == ["sample", "output_text"] and len(steps) > 2
    if not whole or steps[:1] not in (["item"], ["sample"]) or len(steps) < 2 or is_text:
        raise configuration_error(
            field,
            "places such as {{ item.answer }}, {{ sample.output_text }} and "
            "{{ sample.output_json.answer }}",
        )
    return tuple(steps)


def _member(of: Any, step: Step) -> Any:
    if isinstance(of, dict):
        return of.get(str(step))
    if isinstance(of, list) and isinstance(step, int) and step < len(of):
        return of[step]
    return None


def as_text(value: Any) -> str:
    """Return what stands in a text for a value: itself, or JSON."""
    if isinstance(value, str):
        return value
    return compact(value)


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
