"""``autotune scores``: verdicts by every filter, which exports take too."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice
from typing import Annotated, Any

import typer

from autotune.cli.invocation import TIME_FORMATS, Invocation, note, page_size, require_id
from autotune.client import InvalidInputError
from autotune.protocol.completions import ScoredCompletion, VerdictState

_ARGUMENTS = {
    "task": "task_id",
    "model": "model_id",
    "grader": "grader_id",
    "since": "start_date",
    "until": "end_date",
}
_OPTIONS = {argument: f"--{option}" for option, argument in _ARGUMENTS.items()}
_BY_WIRE_NAME = {"startDate": "--since", "minScore": "--min-score"}

_TASK = {"TASK": "{:<31}"}
_COLUMNS = {
    "COMPLETION": "{:<30}",
    "STATE": "{:<9}",
    "SCORE": "{:>6}",
    "CONFIDENCE": "{:>10}",
    "MS": "{:>8}",
    "MODEL": "{:<20}",
    "REASON": "{}",
}


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
        expected = found.expected
        for wire_name, other in _BY_WIRE_NAME.items():  # the one that it does not go with
            expected = expected.replace(wire_name, other)
        raise typer.BadParameter(expected, param_hint=option) from error


def scores(
    invocation: Invocation,
    *,
    filters: ScoreFilters,
    state: Annotated[VerdictState | None, typer.Option(help="Only those in this state.")] = None,
    newest: Annotated[
        bool, typer.Option("--newest", help="What was decided last first; needs --task.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many.")] = None,
) -> None:
    """List verdicts, any number, as they are read; times without a zone are local."""
    arguments = filters.arguments()
    if newest and filters.task is None:
        raise typer.BadParameter("needs --task TASK", param_hint="--newest")
    columns = {**({} if filters.task else _TASK), **_COLUMNS}
    row = "  ".join(columns.values())
    shown = 0
    with naming_options():
        verdicts = invocation.client.scores.list(
            **arguments, state=state, newest_first=newest, page_size=page_size(limit)
        )
        for verdict in islice(verdicts, limit):
            if invocation.as_json:
                invocation.show_json(verdict)
            else:
                if not shown:
                    typer.echo(row.format(*columns).rstrip())
                cells = _cells(verdict)
                typer.echo(row.format(*(cells[name] for name in columns)).rstrip())
            shown += 1
    note(f"{shown} verdicts")


def _cells(verdict: ScoredCompletion) -> dict[str, object]:
    score = verdict.score
    return {
        "TASK": verdict.task_id,
        "COMPLETION": verdict.completion_id,
        "STATE": verdict.state,
        "SCORE": "-" if score is None else f"{score.value:.3f}",
        "CONFIDENCE": "-" if score is None else f"{score.confidence:.2f}",
        "MS": "-" if verdict.latency_ms is None else verdict.latency_ms,
        "MODEL": verdict.model_id or "-",
        "REASON": verdict.reason_code or "",
    }
