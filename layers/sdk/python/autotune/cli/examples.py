"""Examples of what options take, for errors about values that cannot be read."""

import inspect
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, ClassVar, get_args

import typer
from typer.core import TyperCommand
from typer.models import ParameterInfo

_USUAL_NUMBER = 30
_DAY = "2026-11-25"
_MOMENT = f"{_DAY}T14:30:00"


class ExemplifyingCommand(TyperCommand):
    """A command whose errors about a value have an example of one.

    Attributes:
        examples: by parameter.
    """

    examples: ClassVar[Mapping[str, str]] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments.

        Raises:
            BadParameter: a value is not what its option takes.
        """
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            example = self.examples.get(error.param.name or "") if error.param else None
            if example is not None:
                told = error.message.removeprefix("Value error, ").rstrip(".")
                error.message = f"{told}; an example is {example}"
            raise


def command_with_examples(parameters: Iterable[inspect.Parameter]) -> type[ExemplifyingCommand]:
    """Return the class of a command that knows examples of its numbers and times."""
    found = {one.name: _example(one.annotation) for one in parameters}
    examples = {name: example for name, example in found.items() if example is not None}
    return type("ExemplifyingCommand", (ExemplifyingCommand,), {"examples": examples})


def _example(annotation: Any) -> str | None:
    kind, *infos = get_args(annotation) or (annotation,)
    info = next((one for one in infos if isinstance(one, ParameterInfo)), None)
    kinds = {kind, *get_args(kind)}
    if datetime in kinds:
        return _DAY if info is not None and info.formats == ["%Y-%m-%d"] else _MOMENT
    if not kinds & {int, float}:
        return None
    number: float = _USUAL_NUMBER
    if info is not None and info.max is not None:
        number = min(number, info.max)
    if info is not None and info.min is not None:
        number = max(number, info.min)
    return f"{number:g}"
