"""``autotune scores``: verdicts, by every filter."""

from itertools import islice
from typing import Annotated

import typer

from autotune.cli import score_filters
from autotune.cli.invocation import Invocation, note, page_size
from autotune.protocol.completions import ScoredCompletion, VerdictState

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


def scores(
    invocation: Invocation,
    *,
    filters: score_filters.ScoreFilters,
    state: Annotated[VerdictState | None, typer.Option(help="Only those in this state.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most this many.")] = None,
) -> None:
    """List verdicts, any number, as they are read; times without a zone are local."""
    arguments = filters.arguments()
    columns = {**({} if filters.task else _TASK), **_COLUMNS}
    row = "  ".join(columns.values())
    shown = 0
    with score_filters.naming_options():
        verdicts = invocation.client.scores.list(
            **arguments,
            state=state,
            page_size=page_size(limit),
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
