"""One run of the command line: how it reaches the API and how it prints."""

import inspect
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, NoReturn, Self, TypeVar

import typer
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from autotune.cli import exit_codes
from autotune.cli.examples import command_with_examples
from autotune.client import AsyncAutotuneClient, AutotuneClient
from autotune.client.arguments import NotGiven, not_given
from autotune.protocol.ids import IdKind, is_id
from autotune.protocol.limits import MAX_PAGE_ITEMS

TIME_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]
"""What options take for a time; one without a zone is local."""

_UNLIMITED_WIDTH = 10_000

T = TypeVar("T", bound=BaseModel)
OptionT = TypeVar("OptionT")
CommandT = TypeVar("CommandT", bound=Callable[..., None])
Columns = Mapping[str, Callable[[T], object]]

AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON, one document a line, and nothing else on stdout."),
]


@dataclass
class Invocation:
    """The options that stand before the command, and whether JSON is wanted."""

    base_url: str | None = None
    api_key: str | None = None
    as_json: bool = False

    @classmethod
    def of(cls, ctx: typer.Context, as_json: bool = False) -> Self:
        """Return the invocation that a command belongs to."""
        invocation = ctx.ensure_object(cls)
        invocation.as_json = invocation.as_json or as_json
        return invocation

    @cached_property
    def client(self) -> AutotuneClient:
        """A client for what was given or is configured, until the command ends."""
        return AutotuneClient(base_url=self.base_url, api_key=self.api_key)

    def close(self) -> None:
        """Close the client, if the command used it."""
        if "client" in vars(self):
            self.client.close()

    def async_client(self) -> AsyncAutotuneClient:
        """Return a client for an event loop."""
        return AsyncAutotuneClient(base_url=self.base_url, api_key=self.api_key)

    def show(self, thing: BaseModel) -> None:
        """Print one thing: its fields one a line, or as JSON."""
        if self.as_json:
            self.show_json(thing)
            return
        self.show_fields(thing.model_dump(by_alias=True, mode="json"))

    def show_fields(self, fields: Mapping[str, Any]) -> None:
        """Print fields, one a line."""
        for name, value in fields.items():
            typer.echo(f"{name:<16} {_readable(value)}")

    def show_once(
        self, answer: BaseModel, thing: BaseModel, secrets: Mapping[str, str], warning: str
    ) -> None:
        """Print what is shown this once: a thing with its secrets, or the whole answer as JSON.

        Args:
            warning: follows the thing where there are secrets.
        """
        if self.as_json:
            self.show_json(answer)
            return
        self.show(thing)
        if secrets:
            note(warning)
        for name, value in secrets.items():
            typer.echo(f"{name:<16} {value}")

    def show_all(self, things: Iterable[T], columns: Columns[T], limit: int | None = None) -> None:
        """Print a table of things, at most ``limit``, or each as JSON as it comes."""
        things = islice(things, limit)
        if self.as_json:
            for thing in things:
                self.show_json(thing)
            return
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in columns:
            table.add_column(name, no_wrap=True)
        for thing in things:
            table.add_row(*(_readable(column(thing)) for column in columns.values()))
        stdout_console().print(table)

    def show_deleted(self, thing_id: str) -> None:
        """Print that a thing is gone."""
        self.show_done({"id": thing_id, "deleted": True}, f"deleted {thing_id}")

    def show_done(self, result: Mapping[str, Any], sentence: str) -> None:
        """Print what was done, as JSON on stdout or as a sentence on stderr."""
        if self.as_json:
            self.show_json(result)
        else:
            note(sentence)

    def show_json(self, thing: BaseModel | Mapping[str, Any]) -> None:
        """Print one JSON document on a line of its own."""
        if isinstance(thing, BaseModel):
            typer.echo(thing.model_dump_json(by_alias=True))
        else:
            typer.echo(json.dumps(thing, ensure_ascii=False))


def command(
    app: typer.Typer,
    name: str | None = None,
    *,
    within: Callable[[typer.Context], AbstractContextManager[None]] | None = None,
) -> Callable[[CommandT], CommandT]:
    """Register a function as a command: it gets the invocation, and ``--json`` is there too.

    A parameter whose type is a dataclass stands for one option for each field.

    Args:
        name: of the command; that of the function unless given.
        within: makes what the command runs in.
    """

    def register(function: CommandT) -> CommandT:
        _, *own = inspect.signature(function).parameters.values()
        groups: dict[str, Any] = {
            one.name: one.annotation for one in own if is_dataclass(one.annotation)
        }

        def run(ctx: typer.Context, as_json: bool = False, **options: Any) -> None:
            for group, kind in groups.items():
                options[group] = kind(**{one.name: options.pop(one.name) for one in fields(kind)})
            around = nullcontext() if within is None else within(ctx)
            with closing(Invocation.of(ctx, as_json)) as invocation, around:
                function(invocation, **options)

        parameters = [
            _parameter("ctx", typer.Context, inspect.Parameter.empty),
            *(spread for one in own for spread in _spread(one)),
            _parameter("as_json", AsJson, False),
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__name__ = function.__name__
        run.__doc__ = function.__doc__
        app.command(name, cls=command_with_examples(parameters))(run)
        return function

    return register


def _spread(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    if is_dataclass(parameter.annotation):
        return [
            _parameter(one.name, one.type, _default(one)) for one in fields(parameter.annotation)
        ]
    return [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)]


def _default(option: Field[Any]) -> Any:
    return inspect.Parameter.empty if option.default is MISSING else option.default


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, annotation=annotation, default=default)


def given(option: OptionT | None) -> OptionT | NotGiven:
    """Return an option's value for a change, which leaves alone what was not given."""
    return not_given if option is None else option


def only_given(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the options that are not None; None where there are none."""
    return {name: value for name, value in options.items() if value is not None} or None


def page_size(limit: int | None) -> int:
    """Return how many things to fetch at a time where so many are wanted in all."""
    return MAX_PAGE_ITEMS if limit is None else min(limit, MAX_PAGE_ITEMS)


def require_id(given: str, *kinds: IdKind, name: str, listed_by: str | None = None) -> None:
    """End as for an unknown id where the option ``--<name>`` holds what is no id of these kinds.

    ``listed_by`` is the command that shows them, where that is not ``list`` of what is named.
    """
    if not any(is_id(kind, given) for kind in kinds):
        shows = listed_by or f"{name}s list"
        unknown = f"no {name} {given}: --{name} takes an id as `autotune {shows}` shows it"
        stop(unknown, exit_codes.NOT_FOUND)


def require_one(**options: object) -> None:
    """Refuse an option together with the one that lifts it, each by its name."""
    if all(options.values()):
        names = " or ".join(f"--{name.replace('_', '-')}" for name in options)
        raise typer.BadParameter(f"give either {names}")


def stdout_console() -> Console:
    """Return a console for results; what is piped is never cut to a width."""
    return Console(
        highlight=False,
        markup=False,
        emoji=False,
        width=None if sys.stdout.isatty() else _UNLIMITED_WIDTH,
    )


def note(text: str) -> None:
    """Print on stderr what is not a result."""
    typer.echo(text, err=True)


def stop(text: str, code: int = exit_codes.USAGE) -> NoReturn:
    """End with an error in one line."""
    note(f"autotune: {text}")
    raise typer.Exit(code)


def _readable(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
