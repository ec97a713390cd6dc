"""Options that say which scores are meant."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from autotune.cli.invocation import TIME_FORMATS, require_id
from autotune.client import InvalidInputError

_ARGUMENTS = {
    "task": "task_id",
    "model": "model_id",
    "grader": "grader_id",
    "since": "start_date",
    "until": "end_date",
}
_OPTIONS = {argument: f"--{option}" for option, argument in _ARGUMENTS.items()}
_BY_WIRE_NAME = {"startDate": "--since", "minScore": "--min-score"}


@dataclass(frozen=True, kw_only=True)
class ScoreFilters:
    """Which scores are meant."""

    task: Annotated[str | None, typer.Option(help="Only of this task, by its id.")] = None
    model: Annotated[str | None, typer.Option(help="Only of this model.")] = None
    grader: Annotated[
        str | None, typer.Option(help="Only by this grader, or by the panel of this id (pnl_…).")
    ] = None
    min_score: Annotated[
        float | None, typer.Option(min=0, max=1, help="Only scores from this on.")
    ] = None
    max_score: Annotated[
        float | None, typer.Option(min=0, max=1, help="Only scores up to this.")
    ] = None
    since: Annotated[
        datetime | None,
        typer.Option(
            formats=TIME_FORMATS, help="Only what was decided from this time on; else from ever."
        ),
    ] = None
    until: Annotated[
        datetime | None,
        typer.Option(formats=TIME_FORMATS, help="Only what was decided before; else now."),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the filters as arguments; end as for an unknown id where one cannot be an id."""
        if self.task is not None:
            require_id(self.task, "task", name="task")
        if self.grader is not None:
            require_id(self.grader, "grd", "pnl", name="grader")
        given = asdict(self)
        return {_ARGUMENTS.get(name, name): value for name, value in given.items()}


@contextmanager
def naming_options() -> Iterator[None]:
    """Name the option at fault, not the field of the request that it became."""
    try:
        yield
    except InvalidInputError as error:
        found = error.errors[0]
        field = found.field.rpartition(".")[2]
        option = _OPTIONS.get(field, f"--{field.replace('_', '-')}")
        told = found.expected.removeprefix("Value error, ")
        for wire_name, other in _BY_WIRE_NAME.items():  # it is told of the one it does not go with
            told = told.replace(wire_name, other)
        raise typer.BadParameter(told, param_hint=option) from error
