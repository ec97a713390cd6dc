"""``autotune apprentice examples``: what a small model learns from, and is judged by."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from typing import IO, Annotated, Any

import typer

from autotune.cli import exit_codes
from autotune.cli.invocation import Columns, Invocation, command, note, page_size, stop
from autotune.cli.lines import InvalidLineError, numbered_lines, parse_object, rereadable
from autotune.cli.progress import CountProgress
from autotune.client.errors import InvalidInputError
from autotune.protocol.apprentice_examples import ApprenticeExample
from autotune.protocol.problems import FieldProblem

app = typer.Typer(no_args_is_help=True, help="Examples that a task's small model learns from.")

Task = Annotated[str, typer.Argument(metavar="TASK", help="Name of the task.")]
Definition = Annotated[
    str | None,
    typer.Option("--definition", metavar="HASH", help="Of this definition; else the present one."),
]
_MOST_NOTED = 20
_EXCERPT_CHARACTERS = 40

_COLUMNS: Columns[ApprenticeExample] = {
    "ID": lambda one: one.id,
    "SELECTION": lambda one: one.selection,
    "SIDE": lambda one: one.side,
    "INPUT": lambda one: _excerpt(one.input),
    "OUTPUT": lambda one: _excerpt(one.output),
    "RUN": lambda one: one.run_id,
    "AT": lambda one: f"{one.at:%Y-%m-%d %H:%M}",
}


@command(app, name="list")
def list_(
    invocation: Invocation,
    task: Task,
    *,
    definition: Definition = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 100,
) -> None:
    """List a task's examples."""
    found = invocation.client.apprentice.examples.list(
        task, definition_hash=definition, page_size=page_size(limit)
    )
    invocation.show_all(found, _COLUMNS, limit)


@command(app)
def export(
    invocation: Invocation,
    task: Task,
    *,
    definition: Definition = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
) -> None:
    """Print a task's examples, one JSON object a line; `import` of another task takes them.

    Examples whose texts were erased are left out.
    """
    found = invocation.client.apprentice.examples.list(
        task, definition_hash=definition, page_size=200
    )
    whole = (one for one in found if one.input is not None and one.output is not None)
    for one in islice(whole, limit):
        shown = one.model_dump(by_alias=True, mode="json", exclude_none=True)
        typer.echo(json.dumps(shown, ensure_ascii=False))


@command(app, name="import")
def import_(
    invocation: Invocation,
    task: Task,
    file: Annotated[
        typer.FileBinaryRead,
        typer.Argument(
            metavar="FILE.jsonl", help="A JSON object a line, with input and output. - reads stdin."
        ),
    ],
) -> None:
    """Add a file of examples to the task's present definition.

    The same line again is the same example: after an error run the same command again. Lines that
    are no examples are named, and the others added.
    """
    source = "stdin" if file.name == "<stdin>" else file.name
    with ExitStack() as kept:
        stream = rereadable(file, kept)
        numbers = [number for number, _ in _examples(stream, source)]
        if not numbers:
            stop(f"nothing to add: {source} is empty")
        progress = kept.enter_context(CountProgress("sent", len(numbers)))
        done = invocation.client.apprentice.examples.add(
            task,
            (example for _, example in _examples(stream, source)),
            on_progress=lambda so_far: progress.show(
                so_far.added + so_far.repeated + len(so_far.rejected)
            ),
        )
    for one in done.rejected[:_MOST_NOTED]:
        problem = FieldProblem(field=one.field, expected=one.expected)
        note(str(InvalidLineError(source, numbers[one.line - 1], [problem])))
    if len(done.rejected) > _MOST_NOTED:
        note(f"and {len(done.rejected) - _MOST_NOTED} more")
    if invocation.as_json:
        moved = [one.model_copy(update={"line": numbers[one.line - 1]}) for one in done.rejected]
        invocation.show_json(done.model_copy(update={"rejected": moved}))
    else:
        typer.echo(f"added {done.added}, there before {done.repeated}")
    raise typer.Exit(exit_codes.INCOMPLETE if done.rejected else exit_codes.OK)


@command(app)
def counts(invocation: Invocation, task: Task, *, definition: Definition = None) -> None:
    """Show how many examples there are, by why the paid model was asked, and by side."""
    found = invocation.client.apprentice.examples.counts(task, definition_hash=definition)
    invocation.show(found)


@command(app)
def delete(
    invocation: Invocation,
    task: Task,
    example_id: Annotated[str, typer.Argument(metavar="EXAMPLE", help="Its id.")],
) -> None:
    """Delete an example, so that nothing learns from it; its run stays."""
    invocation.client.apprentice.examples.delete(task, example_id)
    invocation.show_deleted(example_id)


def _examples(stream: IO[bytes], source: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the lines of a file with their numbers.

    Raises:
        InvalidLineError: one is no JSON object.
    """
    stream.seek(0)
    for number, raw in numbered_lines(stream, source=source):
        try:
            yield number, parse_object(raw)
        except InvalidInputError as error:
            raise InvalidLineError(source, number, error.errors) from error


def _excerpt(value: dict[str, Any] | None) -> str | None:
    if value is None:
        return None
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _EXCERPT_CHARACTERS else f"{text[: _EXCERPT_CHARACTERS - 1]}…"
