"""Examples as lines of JSON, of which each stands for itself."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from autotune.protocol.apprentice_examples import NewApprenticeExample
from autotune.protocol.limits import MAX_APPRENTICE_INPUT_BYTES, MAX_APPRENTICE_OUTPUT_BYTES
from autotune_platform.apprentice.evaluators import MAX_ANSWER_VALUES
from autotune_platform.apprentice.examples.models import ExampleTexts
from autotune_platform.apprentice.runs.outputs import fault_in
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.work import cpu_limit
from autotune_platform.decks.sample_lines import FaultyLine, faulty_line
from autotune_platform.http.problems import invalid_request
from autotune_platform.runtime.bounded_json import TooManyValuesError, parse_strictly

_OF_LISTS: Final = (
    "id",
    "definitionHash",
    "selection",
    "propensity",
    "side",
    "runId",
    "at",
)
"""What lists say of an example beside its texts. A line may have it, so that what one task exports
another imports; an imported example has its own."""

_WHOLE = '""'
# Texts, names, and what lists add; what is escaped may be six times as long.
_LINE_BYTES = 6 * (MAX_APPRENTICE_INPUT_BYTES + MAX_APPRENTICE_OUTPUT_BYTES) + 10_000


@dataclass(frozen=True)
class Given:
    """An example as it came, with its place in the request, from 0."""

    place: int
    texts: ExampleTexts


def read_lines(body: bytes, document: Mapping[str, Any]) -> Iterator[Given | FaultyLine]:
    """Yield what each line is that is not empty.

    Args:
        document: the configuration whose schemas admit inputs and outputs.
    """
    for place, line in enumerate(body.split(b"\n")):
        if line.strip():
            yield _read(place, line, document)


def _read(place: int, line: bytes, document: Mapping[str, Any]) -> Given | FaultyLine:
    if len(line) > _LINE_BYTES:
        return faulty_line(place, "line", f"at most {_LINE_BYTES} bytes, not {len(line)}")
    try:
        value = parse_strictly(line, most_values=2 * MAX_ANSWER_VALUES)
    except TooManyValuesError as error:
        return faulty_line(
            place, "line", f"at most {error.maximum} JSON values, not {error.values}"
        )
    except json.JSONDecodeError:
        return faulty_line(place, "line", "one JSON object in UTF-8")
    if isinstance(value, dict):
        value = {name: member for name, member in value.items() if name not in _OF_LISTS}
    try:
        example = NewApprenticeExample.model_validate(value)
    except ValidationError as error:
        first = invalid_request(error.errors()).fields[0]
        field = "line" if first.field == _WHOLE else first.field
        return faulty_line(place, field, first.expected)
    return _checked(place, ExampleTexts(example.input, example.output), document)


def _checked(place: int, texts: ExampleTexts, document: Mapping[str, Any]) -> Given | FaultyLine:
    for field, value in (("input", texts.input), ("output", texts.output)):
        try:
            with cpu_limit():
                fault = fault_in(value, document[f"{field}Schema"])
        except CompletionFaultError:
            return faulty_line(place, field, f"an {field} that takes less work to check")
        if fault is not None:
            return faulty_line(place, f"{field}{fault.place}", fault.expected)
    return Given(place, texts)
