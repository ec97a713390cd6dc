"""Requests to language models, and ids of them, as files and arguments have them."""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any, cast

import typer
from pydantic import ValidationError

from autotune.cli.invocation import stop
from autotune.cli.lines import InvalidLineError, numbered_lines, parse_object
from autotune.client import InvalidInputError
from autotune.client.llm_enqueuing import encode_row
from autotune.protocol.completions import Priority
from autotune.protocol.ids import is_id
from autotune.protocol.llm_requests import EnqueueLlmRequest

_PIECE_BYTES = 1 << 20
_HELD_IN_MEMORY_BYTES = 64 << 20
_DIGEST_CHARACTERS = 32
_OF_INPUT = ("system", "user", "variables")

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
        short = {name: fields.pop(name) for name in _OF_INPUT if name in fields}
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
        digest: of its bytes, once it is checked.
    """

    def __init__(self, stream: IO[bytes], defaults: RowDefaults, *, kept: ExitStack) -> None:
        """Take a stream; one that cannot be read again is copied until ``kept`` is closed."""
        self.source = "stdin" if stream.name == "<stdin>" else stream.name
        self.line_numbers: list[int] = []
        self.digest = ""
        self._stream = stream if stream.seekable() else _copy_of(stream, kept)
        self._defaults = defaults

    def check(self) -> None:
        """Read it to its end.

        Raises:
            InvalidLineError: a line is no request.
        """
        self.line_numbers = [number for number, _ in self._rows()]
        self._stream.seek(0)
        digest = hashlib.sha256()
        while piece := self._stream.read(_PIECE_BYTES):
            digest.update(piece)
        self.digest = digest.hexdigest()[:_DIGEST_CHARACTERS]
        if not self.line_numbers:
            stop(f"nothing to send: {self.source} has no requests")

    def rows(self) -> Iterator[EnqueueLlmRequest]:
        """Yield its requests."""
        return (row for _, row in self._rows())

    def _rows(self) -> Iterator[tuple[int, EnqueueLlmRequest]]:
        self._stream.seek(0)
        for number, raw in numbered_lines(self._stream, source=self.source):
            try:
                row = _validated(self._defaults.fill(parse_object(raw)))
            except InvalidInputError as error:
                raise InvalidLineError(self.source, number, error.errors) from error
            yield number, row


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


def _copy_of(stream: IO[bytes], kept: ExitStack) -> IO[bytes]:
    copy = kept.enter_context(
        tempfile.SpooledTemporaryFile(max_size=_HELD_IN_MEMORY_BYTES)  # noqa: SIM115
    )
    while piece := stream.read(_PIECE_BYTES):
        copy.write(piece)
    return cast("IO[bytes]", copy)
