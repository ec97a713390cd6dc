"""``autotune tasks stats`` and ``compare``: what a task's completions came to."""

from collections.abc import Callable
from typing import Annotated

import typer
from rich.table import Table

from autotune.cli import tasks
from autotune.cli.figures import figure, histogram, plain_table
from autotune.cli.invocation import Invocation, command, note, stdout_console
from autotune.protocol.comparison import ModelComparison
from autotune.protocol.windows import PartWindow, TaskFigures

tasks_app = tasks.app


@command(tasks_app)
def stats(
    invocation: Invocation,
    task_id: str,
    window: Annotated[
        PartWindow, typer.Option(help="How far back: a day, a week or 30 days.")
    ] = "7d",
    model: Annotated[str | None, typer.Option(help="Only completions of this model.")] = None,
    grader_version: Annotated[
        str | None, typer.Option(help="Only what this version of the grader judged.")
    ] = None,
) -> None:
    """Show what a task's completions came to, in all, by model and by version of the grader."""
    found = invocation.client.tasks.stats(
        task_id, window=window, model_id=model, grader_version=grader_version
    )
    if invocation.as_json:
        invocation.show_json(found)
        return
    if not any(count for _, count in found.totals.counts):
        note(f"{task_id} has no verdicts in this window")
        return
    rows: list[tuple[str, TaskFigures]] = [("all", found.totals)]
    rows += [(f"model {one.model_id}", one) for one in found.models]
    rows += [(f"version {one.grader_version}", one) for one in found.versions]
    console = stdout_console()
    console.print(_table(rows))
    for reason, count in found.totals.failures.items():
        console.print(f"failed with {reason}: {count}")
    console.print(histogram(found.totals.score_distribution))
    if not found.is_complete:
        console.print("the earliest of this window is left out: there is too much of it")


@command(tasks_app)
def compare(
    invocation: Invocation,
    task_id: str,
    a: Annotated[str, typer.Argument(metavar="MODEL_A", help="The model to compare with.")],
    b: Annotated[str, typer.Argument(metavar="MODEL_B", help="The model that may be better.")],
    tolerance: Annotated[
        float, typer.Option(min=0, max=1, help="A difference of no more is a tie.")
    ] = 0.0,
) -> None:
    """Compare two models, or two checkpoints, on the prompts that both answered."""
    found = invocation.client.tasks.compare(task_id, a=a, b=b, tolerance=tolerance)
    if invocation.as_json:
        invocation.show_json(found)
        return
    if not found.prompts:
        note(f"{a} and {b} answered no prompt of {task_id} both")
        return
    interval = found.interval
    table = plain_table()
    table.add_column(justify="right")
    table.add_row("prompts", str(found.prompts))
    for one in (found.a, found.b):
        table.add_row(f"mean of {one.model_id}", figure(one.avg_score, ".4f"))
    table.add_row("difference", figure(found.mean_difference, "+.4f"))
    table.add_row(
        "95 % interval", f"{interval.low:+.4f} to {interval.high:+.4f}" if interval else "-"
    )
    table.add_row("wins", str(found.wins))
    table.add_row("losses", str(found.losses))
    table.add_row("ties", str(found.ties))
    console = stdout_console()
    console.print(table)
    console.print(_examples(found))
    if not found.is_complete:
        console.print(
            f"only the latest scores were looked at: {found.a.scores} and {found.b.scores}"
        )


def _examples(found: ModelComparison) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("DIFFERENCE", "A", "B"):
        table.add_column(name, justify="right")
    for name in ("COMPLETION OF A", "COMPLETION OF B"):
        table.add_column(name, no_wrap=True)
    for one in found.examples:
        scores = (figure(one.a.avg_score, ".4f"), figure(one.b.avg_score, ".4f"))
        ids = (one.a.completion_id, one.b.completion_id)
        table.add_row(figure(one.difference, "+.4f"), *scores, *ids)
    return table


_COLUMNS: dict[str, Callable[[TaskFigures], str]] = {
    "SCORED": lambda one: str(one.counts.scored),
    "ABSTAINED": lambda one: str(one.counts.abstained),
    "FAILED": lambda one: str(one.counts.failed),
    "CANCELED": lambda one: str(one.counts.canceled),
    "MEAN": lambda one: figure(one.avg_score, ".4f"),
    "P50 MS": lambda one: figure(one.p50_turnaround_ms, ",.0f"),
    "P99 MS": lambda one: figure(one.p99_turnaround_ms, ",.0f"),
}


def _table(rows: list[tuple[str, TaskFigures]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for name in _COLUMNS:
        table.add_column(name, justify="right")
    for name, figures in rows:
        table.add_row(name, *(show(figures) for show in _COLUMNS.values()))
    return table
