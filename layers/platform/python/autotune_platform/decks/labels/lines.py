"""Lines of an upload of ratings, each read by itself."""

import json
from collections.abc import Iterator

from pydantic import ValidationError

from autotune.protocol.deck_feedback import FeedbackLine
from autotune.protocol.deck_samples import RejectedLine
from autotune.protocol.limits import MAX_BULK_FEEDBACK
from autotune_platform.decks.labels.importing import NumberedLine
from autotune_platform.decks.sample_lines import faulty_line
from autotune_platform.http.problems import invalid_request
from autotune_platform.runtime.bounded_json import TooManyValuesError, parse_strictly
from autotune_platform.runtime.errors import InvalidRequestError

_MOST_VALUES = 100


def feedback_lines(body: bytes) -> Iterator[NumberedLine | RejectedLine]:
    """Yield every line of a body that is not empty, as what it says or as what is wrong with it.

    Raises:
        InvalidRequestError: there is none, or there are too many.
    """
    numbered = [(place, line) for place, line in enumerate(body.split(b"\n"), 1) if line.strip()]
    if not 0 < len(numbered) <= MAX_BULK_FEEDBACK:
        raise InvalidRequestError.of_field(
            "body",
            f"1 to {MAX_BULK_FEEDBACK} lines of JSON, not {len(numbered)}; send more in parts",
        )
    return (_read(place, line) for place, line in numbered)


def _read(place: int, line: bytes) -> NumberedLine | RejectedLine:
    try:
        document = parse_strictly(line, most_values=_MOST_VALUES)
        return place, FeedbackLine.model_validate(document)
    except (json.JSONDecodeError, TooManyValuesError):
        return RejectedLine(line=place, field="line", expected="one JSON object in UTF-8")
    except ValidationError as error:
        (first, *_) = invalid_request(error.errors()).fields
        # What is wrong with the whole of it names no field.
        name = "line" if first.field == '""' else first.field
        fault = faulty_line(place, name, first.expected)
        return RejectedLine(line=place, field=fault.field, expected=fault.expected)
