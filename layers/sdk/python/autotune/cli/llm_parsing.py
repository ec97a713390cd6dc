"""``autotune llm parse`` and what else reads answers of language models again."""

from typing import Annotated

import typer
from pydantic import ValidationError

from autotune.cli.invocation import Columns, Invocation, note, stop
from autotune.cli.llm_filters import AllOfThem, RequestFilterOptions
from autotune.cli.llm_rows import RowIds, row_ids
from autotune.client import InvalidInputError, LlmParse
from autotune.protocol.verdict_formats import VerdictFormat

Format = Annotated[
    str | None,
    typer.Option(
        "--verdict",
        metavar="JSON",
        help='Read them in this format, such as {"type": "label", "labels": ["yes", "no"]}; else '
        "each in the one that its request has.",
    ),
]

_COLUMNS: Columns[LlmParse] = {
    "VERSION": lambda one: one.version,
    "PARSER": lambda one: one.parser_version,
    "TYPE": lambda one: one.verdict.type,
    "VERDICT": lambda one: one.parsed_verdict,
    "ERROR": lambda one: one.parse_error and one.parse_error.code,
    "BY": lambda one: one.parsed_by,
    "PARSED": lambda one: f"{one.parsed_at:%Y-%m-%d %H:%M:%S}",
}


def parse(invocation: Invocation, what: RowIds, *, verdict: Format = None) -> None:
    """Read answers of completed requests again; no model is asked, and it costs nothing.

    What was read before stays: `parses` lists it.
    """
    client, form = invocation.client.llm, _format(verdict)
    invocation.show_all((client.parse(one, verdict=form) for one in row_ids(what)), _COLUMNS)


def parse_matching(
    invocation: Invocation,
    *,
    filters: RequestFilterOptions,
    every: AllOfThem = False,
    verdict: Format = None,
) -> None:
    """Read answers of all completed requests that match again; print their ids, one a line."""
    arguments, form = filters.required(every=every), _format(verdict)
    count = invocation.client.llm.parse_matching(verdict=form, on_page=_print_ids, **arguments)
    note(f"{count} parsed")


def parses(invocation: Invocation, request_id: str) -> None:
    """List how a request's answer was read, the first time first."""
    invocation.show_all(invocation.client.llm.parses(request_id), _COLUMNS)


def _format(text: str | None) -> VerdictFormat | None:
    """Return the format that is given; end the command where it is none."""
    try:
        return None if text is None else VerdictFormat.model_validate_json(text)
    except ValidationError as error:
        wrong = InvalidInputError.of(error).errors[0]
        stop(f"--verdict: {wrong.field or 'the whole'}: {wrong.expected}")


def _print_ids(ids: list[str]) -> None:
    for one in ids:
        typer.echo(one)
