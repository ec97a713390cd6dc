"""Samples as lines of JSON, of which each stands for itself."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from autotune.protocol.deck_sample_labels import NewLabelledSample, SampleLabel
from autotune.protocol.deck_samples import NewSample
from autotune.protocol.limits import MAX_SAMPLE_BYTES, MAX_SAMPLE_VALUES
from autotune_platform.http.problems import excerpt, invalid_request
from autotune_platform.runtime.bounded_json import TooManyValuesError, parse_strictly

_WHOLE = '""'
_FIELD_CHARACTERS, _EXPECTED_CHARACTERS = 200, 500
# What metadata, a key and a name may add to a request and a response.
_LINE_BYTES = MAX_SAMPLE_BYTES + 200_000


@dataclass(frozen=True)
class Given:
    """A sample as it came, with its place in the request, from 0."""

    place: int
    sample: NewSample

    @property
    def labels(self) -> Sequence[SampleLabel]:
        """What people said of it, where it came with that."""
        return self.sample.labels if isinstance(self.sample, NewLabelledSample) else ()


@dataclass(frozen=True)
class FaultyLine:
    """A line that is no sample, with its place from 0."""

    place: int
    field: str
    expected: str


def read_lines(body: bytes, model: type[NewSample] = NewSample) -> Iterator[Given | FaultyLine]:
    """Yield what each line is that is not empty.

    Args:
        model: what a line may be; without labels unless it has these.
    """
    for place, line in enumerate(body.split(b"\n")):
        if line.strip():
            yield _read(place, line, model)


def faulty_line(place: int, field: str, expected: str) -> FaultyLine:
    """Return a faulty line, of which no name is too long to show."""
    return FaultyLine(
        place, _printable(field, _FIELD_CHARACTERS), _printable(expected, _EXPECTED_CHARACTERS)
    )


def _printable(text: str, longest: int) -> str:
    """Return a text that UTF-8 can hold: a caller's may have halves of pairs."""
    return excerpt(text, longest).encode(errors="replace").decode()


def _read(place: int, line: bytes, model: type[NewSample]) -> Given | FaultyLine:
    if len(line) > _LINE_BYTES:
        return faulty_line(place, "line", f"at most {_LINE_BYTES} bytes, not {len(line)}")
    try:
        value = parse_strictly(line, most_values=MAX_SAMPLE_VALUES)
    except TooManyValuesError as error:
        return faulty_line(
            place, "line", f"at most {error.maximum} JSON values, not {error.values}"
        )
    except json.JSONDecodeError:
        return faulty_line(place, "line", "one JSON object in UTF-8")
    try:
        return Given(place, model.model_validate(value))
    except ValidationError as error:
        first = invalid_request(error.errors()).fields[0]
        field = "line" if first.field == _WHOLE else first.field
        return faulty_line(place, field, first.expected)
