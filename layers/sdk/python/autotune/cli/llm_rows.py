"""Requests to language models, and ids of them, as files and arguments have them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Any

import typer
from pydantic import ValidationError

from autotune.cli.invocation import note, require_id, stop
from autotune.cli.lines import InvalidLineError, numbered_lines, parse_object, rereadable
from autotune.cli.llm_lines import OF_INPUT, foreign_format, problems_of_line
from autotune.client import APIError, InvalidInputError
from autotune.client.llm_packing import encode_row
from autotune.protocol.completions import Priority
from autotune.protocol.ids import is_id
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune.protocol.problems import FieldProblem

_PLACED = re.compile(r"requests\[(\d+)\]\.?")
_FAULTS_SHOWN = 5

RowsFile = Annotated[
    typer.FileBinaryRead,
    typer.Argument(
        metavar="FILE.jsonl",
        help="One JSON object a line: a whole request, or user and, if any, system and variables. "
        "- reads stdin.",
    ),
]
RowIds = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE|ID...",
        help="Ids of requests, or files with one a line, as `autotune llm enqueue` prints them; "
        "- reads stdin.",
    ),
]
AwaitedIds = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE|ID...",
        help="Ids of requests, or files with one a line, as `autotune llm enqueue` prints them; "
        "- reads stdin. Else --import or --batch.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class RowDefaults:
    """What a line that leaves it out has."""

    connection: Annotated[
        str | None, typer.Option(help="Connection of lines without connectionId.")
    ] = None
    model: Annotated[str | None, typer.Option(help="Model of lines without model.")] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Most tokens of an answer, for lines without params.maxTokens."),
    ] = None
    purpose: Annotated[
        str | None, typer.Option(help="What lines without purpose are for, such as scoring.")
    ] = None
    priority: Annotated[
        Priority | None, typer.Option(help="Priority of lines without priority; else normal.")
    ] = None

    def fill(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return a request's fields with what was left out."""
        fields = dict(fields)
        short = {name: fields.pop(name) for name in OF_INPUT if name in fields}
        if short:
            if "input" in fields:
                raise InvalidInputError.at("input", f"either input or {', '.join(short)}")
            fields["input"] = short
        given = {
            "connectionId": self.connection,
            "model": self.model,
            "purpose": self.purpose,
            "priority": self.priority,
        }
        defaults = {name: value for name, value in given.items() if value is not None}
        filled = {**defaults, **fields}
        params = filled.get("params", {})
        if self.max_tokens is not None and isinstance(params, Mapping):
            filled["params"] = {"maxTokens": self.max_tokens, **params}
        return filled


class RowFile:
    """A file of requests that is read twice: once to check every line, and once to send them.

    Attributes:
        source: names it in errors.
        line_numbers: of the requests, once it is checked.
        overdue: places of requests, from 0, whose ``completeBy`` had passed when it was checked.
    """

    def __init__(self, stream: IO[bytes], defaults: RowDefaults, *, kept: ExitStack) -> None:
        """Take a stream; one that cannot be read again is copied until ``kept`` is closed."""
        self.source = "stdin" if stream.name == "<stdin>" else stream.name
        self.line_numbers: list[int] = []
        self.overdue: list[int] = []
        self._stream = rereadable(stream, kept)
        self._defaults = defaults

    def check(self) -> None:
        """Read it to its end; end the command where a line is no request, and name each of these.

        Raises:
            InvalidLineError: a line is longer than any that could be sent.
        """
        if self._defaults.connection is not None:
            require_id(
                self._defaults.connection, "llc", name="connection", listed_by="llm connections"
            )
        faults, now = 0, datetime.now(UTC)
        for number, raw in self._lines():
            try:
                row = self._row(number, raw)
            except InvalidLineError as error:
                faults += 1
                if faults <= _FAULTS_SHOWN:
                    note(str(error))
                continue
            if row.complete_by is not None and row.complete_by <= now:
                self.overdue.append(len(self.line_numbers))
            self.line_numbers.append(number)
        if faults:
            if faults > _FAULTS_SHOWN:
                note(f"and {faults - _FAULTS_SHOWN} more")
            wrong = "1 line is wrong" if faults == 1 else f"{faults} lines are wrong"
            stop(f"{wrong}, so nothing was sent")
        if not self.line_numbers:
            stop(f"nothing to send: {self.source} is empty")

    def rows(self) -> Iterator[EnqueueLlmRequest]:
        """Yield its requests.

        Raises:
            InvalidLineError: a line that was a request is none any more.
        """
        return (self._row(number, raw) for number, raw in self._lines())

    def naming_lines(self, error: APIError) -> InvalidLineError | None:
        """Return the server's refusal of a request by its line; None where it is of another kind.

        Its requests are named by their place, as ``requests[1234].model``.
        """
        by_line: dict[int, list[FieldProblem]] = {}
        for one in error.errors:
            found = _PLACED.match(one.field)
            if found is None or int(found[1]) >= len(self.line_numbers):
                return None
            # The detail says more than what was expected, where it is about this field.
            expected = error.detail.partition(f"{one.field}: ")[2] or one.expected
            problem = FieldProblem(field=one.field[found.end() :], expected=expected)
            by_line.setdefault(self.line_numbers[int(found[1])], []).append(problem)
        if not by_line:
            return None
        number, problems = next(iter(by_line.items()))
        line = next(parse_object(raw) for at, raw in self._lines() if at == number)
        named = InvalidLineError(self.source, number, problems_of_line(problems, line))
        if error.request_id:
            named.add_note(f"request {error.request_id}")
        return named

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        self._stream.seek(0)
        return numbered_lines(self._stream, source=self.source)

    def _row(self, number: int, raw: bytes) -> EnqueueLlmRequest:
        line: dict[str, Any] | None = None
        try:
            line = parse_object(raw)
            foreign = foreign_format(line)
            if foreign is not None:
                raise InvalidInputError.at("", f"the line {foreign}")
            return _validated(self._defaults.fill(line))
        except InvalidInputError as error:
            problems = error.errors if line is None else problems_of_line(error.errors, line)
            raise InvalidLineError(self.source, number, problems) from error


def row_ids(given: Iterable[str]) -> list[str]:
    """Return the ids that arguments are or that the files have that they name, each once."""
    ids: dict[str, None] = {}
    for one in given:
        ids.update(dict.fromkeys([one] if is_id("llm", one) else _ids_in(one)))
    if not ids:
        stop("there are no ids of requests in what was given")
    return list(ids)


def _validated(fields: dict[str, Any]) -> EnqueueLlmRequest:
    try:
        row = EnqueueLlmRequest.model_validate(fields)
    except ValidationError as error:
        raise InvalidInputError.of(error) from error
    encode_row(row)
    return row


def _ids_in(name: str) -> Iterator[str]:
    with ExitStack() as opened:
        try:
            stream = (
                typer.get_binary_stream("stdin")
                if name == "-"
                else opened.enter_context(Path(name).open("rb"))
            )
        except OSError as error:
            stop(f"{name} is no id of a request, and no file that can be read ({error.strerror})")
        for number, raw in numbered_lines(stream, source=name):
            found = raw.decode("utf-8", "replace").strip()
            if found.startswith("{"):
                fields = parse_object(raw)
                found = str(fields.get("requestId", fields.get("id")))
            if not is_id("llm", found):
                stop(f"{name}, line {number}: expected the id of a request")
            yield found
