"""What is wrong with the options of ``autotune llm ...``, in words of the command line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from autotune.cli.lines import InvalidLineError
from autotune.cli.llm_lines import EXPECTED, MISSING
from autotune.client import AutotuneError, InvalidInputError, InvalidRequestError
from autotune.protocol.problems import FieldProblem

# Fields whose options have other names.
_OPTIONS = {
    "apiKey": "--key-env",
    "bedrock": "--region and --role-arn",
    "connectionId": "--connection",
    "dayUsd": "--day",
    "weekUsd": "--week",
    "monthUsd": "--month",
    "prices": "--price",
}
_PARTS = ("bedrock", "limits", "timings", "params")
_WHOLE = "(whole)"
_LEADING = re.compile(r"^(?:requests\[0\]\.)?([A-Za-z_]+): ")
_WIRE_NAME = re.compile(r"\b[a-z]+(?:[A-Z][a-z]+)+\b")


class OptionError(AutotuneError):
    """Options that are refused, here or by the server, named as they are on the command line."""


@contextmanager
def naming_options(ctx: typer.Context) -> Iterator[None]:
    """Name the options of a command at fault, not the fields of the request that they became.

    Raises:
        OptionError: in place of a refusal of fields.
    """
    try:
        yield
    except InvalidLineError:
        raise
    except (InvalidInputError, InvalidRequestError) as error:
        names = _Names(ctx)
        if isinstance(error, InvalidInputError):
            text = "; ".join(map(names.problem, error.errors))
        else:
            text = names.sentence(error.detail)
            text += "".join(
                f"; {names.problem(one)}" for one in error.errors if one.field not in error.detail
            )
            text += f" (request {error.request_id})" if error.request_id else ""
        named = OptionError(text)
        for note in getattr(error, "__notes__", ()):
            named.add_note(note)
        raise named from error


class _Names:
    """The options of one command by the fields that they become."""

    def __init__(self, ctx: typer.Context) -> None:
        own = {
            _camel(one.name): one.opts[0]
            for one in ctx.command.params
            if one.name and one.opts[0].startswith("--")
        }
        given = set(own.values())
        special = {
            field: options
            for field, options in _OPTIONS.items()
            if set(options.split(" and ")) <= given
        }
        self._options = {**own, **special}

    def problem(self, problem: FieldProblem) -> str:
        """Return a problem as a sentence that begins with its option."""
        if problem.field == _WHOLE:
            return self.sentence(problem.expected)
        first, _, rest = problem.field.partition(".")
        if first in _PARTS and rest:
            first, _, rest = rest.partition(".")
        field = _camel(first)
        option = self._options.get(field, problem.field)
        # A map's key, such as the model of a price.
        named = f"{option} {rest}" if rest and field in self._options else option
        if problem.expected == MISSING:
            return f"{named} is missing"
        expected = EXPECTED.get(field) if "pattern" in problem.expected else None
        return f"{named}: {self._in_options(expected or problem.expected)}"

    def sentence(self, text: str) -> str:
        """Return a sentence that may begin with a field and name others."""
        leading = _LEADING.match(text)
        if leading and _camel(leading[1]) in self._options:
            option = self._options[_camel(leading[1])]
            text = f"{option}: {text[leading.end() :]}"
        return self._in_options(text)

    def _in_options(self, text: str) -> str:
        return _WIRE_NAME.sub(lambda name: self._options.get(name[0], name[0]), text)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(one.capitalize() for one in others)
