"""``autotune overview``: what happens in the organisation, and what holds it up."""

from typing import Annotated

import typer
from rich.table import Table

from autotune.cli.figures import figure, plain_table
from autotune.cli.invocation import Invocation, stdout_console
from autotune.protocol.overview import Overview
from autotune.protocol.windows import Window

_BILLION = 1_000_000_000


def overview(
    invocation: Invocation,
    window: Annotated[
        Window, typer.Option(help="How far back: an hour, a day, a week or 30 days.")
    ] = "24h",
) -> None:
    """Show what was submitted and decided over time, what is open, and what holds it up."""
    found = invocation.client.overview.get(window=window)
    if invocation.as_json:
        invocation.show_json(found)
        return
    console = stdout_console()
    console.print(_totals(found))
    console.print(_over_time(found))
    for line in _in_the_way(found):
        console.print(line)


def _totals(found: Overview) -> Table:
    total = found.totals
    table = plain_table()
    table.add_column(justify="right")
    table.add_row("submitted", str(total.submitted))
    for state, count in total.counts:
        table.add_row(state, str(count))
    for reason, count in total.failures.items():
        table.add_row(f"  {reason}", str(count))
    table.add_row("mean score", figure(total.avg_score, ".4f"))
    table.add_row("turnaround p50", figure(total.p50_turnaround_ms, ",.0f", " ms"))
    table.add_row("turnaround p99", figure(total.p99_turnaround_ms, ",.0f", " ms"))
    table.add_row("open", str(found.open.completions))
    since = found.open.oldest_submitted_at
    table.add_row("open since", f"{since:%Y-%m-%d %H:%M:%S}" if since else "-")
    return table


def _over_time(found: Overview) -> Table:
    """Return a row for each stretch of time in which anything happened."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("FROM (UTC)")
    for name in ("SUBMITTED", "SCORED", "ABSTAINED", "FAILED", "CANCELED", "MEAN", "P50 MS"):
        table.add_column(name, justify="right")
    for one in found.buckets:
        counts = one.counts
        if one.submitted or any(count for _, count in counts):
            table.add_row(
                f"{one.start:%Y-%m-%d %H:%M}",
                *(str(n) for n in (one.submitted, counts.scored, counts.abstained)),
                *(str(n) for n in (counts.failed, counts.canceled)),
                figure(one.avg_score, ".4f"),
                figure(one.p50_turnaround_ms, ",.0f"),
            )
    return table


def _in_the_way(found: Overview) -> list[str]:
    lines = [
        f"grader {one.grader_id} ({one.name}): circuit {one.state}, {one.reason_code or 'failures'}"
        for one in found.circuits
    ]
    lines += [
        f"batch {one.batch_id}: overdue since {one.due_at:%Y-%m-%d %H:%M:%S}, swept {one.sweeps} "
        "times; `autotune explain` says what it waits for"
        for one in found.stuck.batches
    ]
    for use in found.budgets:
        if use.limit_nano_usd is not None:
            taken = (use.spent_nano_usd + use.reserved_nano_usd) / _BILLION
            limit = use.limit_nano_usd / _BILLION
            lines.append(f"budget of the {use.period}: {taken:.2f} of {limit:.2f} USD")
    if not found.is_complete:
        lines.append("the earliest of this window is left out: there is too much of it")
    return lines
