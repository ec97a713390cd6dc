"""Reads JSONL, one line in memory at a time, and completions from it."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, NoReturn, cast

from pydantic import ValidationError

from autotune.client import InvalidInputError
from autotune.client.submissions import encode_completion
from autotune.protocol.completions import NewCompletion
from autotune.protocol.limits import MAX_REQUEST_BYTES
from autotune.protocol.problems import FieldProblem

LONGEST_LINE_BYTES = 6 * MAX_REQUEST_BYTES
"""Escapes (``\\u00e9``) can make a line this much longer than what is sent."""

_PIECE_BYTES = 1 << 20
_HELD_IN_MEMORY_BYTES = 64 << 20
_FAULTS_KEPT = 5
WHOLE_LINE = "line"
"""The field of a problem that all of a line has."""

# Below this a line cannot become a completion that is too large to be sent.
_SURELY_SMALL_BYTES = MAX_REQUEST_BYTES // 2


class InvalidLineError(InvalidInputError):
    """A line that is not what it should be.

    Attributes:
        line: its number, from 1.
    """

    def __init__(self, source: str, line: int, errors: Sequence[FieldProblem]) -> None:
        super().__init__(errors)
        self.source = source
        self.line = line

    def __str__(self) -> str:
        return f"{self.source}, line {self.line}: {'; '.join(map(_said, self.errors))}"


class RejectedLines:
    """Takes invalid lines, as they were; its file is made when the first one comes.

    Attributes:
        first_faults: what was wrong with the first few.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self.first_faults: list[str] = []
        self._file: IO[bytes] | None = None

    def add(self, line: bytes, fault: InvalidLineError) -> None:
        """Write one line.

        Raises:
            InvalidInputError: its file cannot be written.
        """
        try:
            if self._file is None:
                self._file = self.path.open("wb")
            self._file.write(line if line.endswith(b"\n") else line + b"\n")
        except OSError as error:
            expected = f"a directory where {self.path} can be written ({error.strerror})"
            raise InvalidInputError.at("file", expected) from error
        self.count += 1
        if len(self.first_faults) < _FAULTS_KEPT:
            self.first_faults.append(str(fault))

    def close(self) -> None:
        """Finish the file, if there is one."""
        if self._file is not None:
            self._file.close()


def read_completions(
    stream: IO[bytes],
    *,
    source: str,
    task_id: str,
    model_id: str | None,
    rejected: RejectedLines | None,
) -> Iterator[NewCompletion]:
    """Yield the completion of each line that is not blank.

    Args:
        source: names the file in errors.
        model_id: replaces each line's ``modelId``.
        rejected: takes lines that are invalid; without it the first one ends the reading.

    Raises:
        InvalidLineError: a line is not a completion for the task.
    """
    for number, raw in numbered_lines(stream, source=source):
        try:
            completion = parse_line(raw, task_id=task_id, model_id=model_id)
        except InvalidInputError as error:
            invalid = InvalidLineError(source, number, error.errors)
            if rejected is None:
                raise invalid from error
            rejected.add(raw, invalid)
        else:
            yield completion


def numbered_lines(stream: IO[bytes], *, source: str) -> Iterator[tuple[int, bytes]]:
    """Yield each line that is not blank with its number, from 1.

    Raises:
        InvalidLineError: a line is longer than any that could be sent.
    """
    number = 0
    while raw := stream.readline(LONGEST_LINE_BYTES + 1):
        number += 1
        if len(raw) > LONGEST_LINE_BYTES:
            # Not even rejected: reading on would take as much memory as the line has bytes.
            expected = f"at most {LONGEST_LINE_BYTES} bytes"
            fault = FieldProblem(field=WHOLE_LINE, expected=expected)
            raise InvalidLineError(source, number, [fault])
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if raw.strip():
            yield number, raw


def parse_line(raw: bytes, *, task_id: str, model_id: str | None) -> NewCompletion:
    """Parse one line.

    Raises:
        InvalidInputError: it is not JSON, or a field is missing, wrong or unknown.
    """
    fields = parse_object(raw)
    given = fields.pop("taskId", fields.pop("task_id", task_id))
    if given != task_id:
        _refuse("taskId", f"{task_id}, as --task says, or nothing")
    if model_id is not None:
        fields.pop("model_id", None)
        fields["modelId"] = model_id
    try:
        completion = NewCompletion.model_validate({**fields, "taskId": task_id})
    except ValidationError as error:
        raise InvalidInputError.of(error) from error
    if len(raw) > _SURELY_SMALL_BYTES:
        encode_completion(completion)
    return completion


def rereadable(stream: IO[bytes], kept: ExitStack) -> IO[bytes]:
    """Return a stream that can be read again: itself, or a copy that is there until ``kept`` ends.

    A copy is held in memory up to 64 MB, and in a temporary file beyond.
    """
    if stream.seekable():
        return stream
    copy = kept.enter_context(
        tempfile.SpooledTemporaryFile(max_size=_HELD_IN_MEMORY_BYTES)  # noqa: SIM115
    )
    while piece := stream.read(_PIECE_BYTES):
        copy.write(piece)
    return cast("IO[bytes]", copy)


def count_lines(stream: IO[bytes]) -> int:
    """Count the lines of a file, blank ones too, and return to its beginning."""
    count = 0
    last = b"\n"
    while chunk := stream.read(1 << 20):
        count += chunk.count(b"\n")
        last = chunk[-1:]
    stream.seek(0)
    return count if last == b"\n" else count + 1


def parse_object(raw: bytes) -> dict[str, Any]:
    """Parse a line that is one JSON object.

    Raises:
        InvalidInputError: it is something else.
    """
    try:
        value = json.loads(raw.decode(), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        _refuse(WHOLE_LINE, "UTF-8")
    except json.JSONDecodeError as error:
        _refuse(WHOLE_LINE, f"one JSON object ({error.msg} at column {error.colno})")
    except RecursionError:
        _refuse(WHOLE_LINE, "JSON that nests less deep")
    if not isinstance(value, dict):
        _refuse(WHOLE_LINE, f"one JSON object, not {type(value).__name__}")
    return value


def _said(error: FieldProblem) -> str:
    """Return what is wrong; a problem without a field is a sentence already."""
    if error.field == WHOLE_LINE:
        return f"expected {error.expected}"
    return f"{error.field}: {error.expected}" if error.field else error.expected


def _refuse_constant(constant: str) -> NoReturn:
    raise json.JSONDecodeError(f"{constant} is not JSON", constant, 0)


def _refuse(field: str, expected: str) -> NoReturn:
    raise InvalidInputError.at(field, expected)
