"""Prints what came out of a submission."""

from rich.console import Console
from rich.table import Table

from autotune.client import SummaryReport

_BAR_CELLS = 40


def print_figures(console: Console, report: SummaryReport) -> None:
    """Print verdicts by state, mean score, histogram, latency and throughput."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    for state, count in report.counts.items():
        table.add_row(state, str(count))
    for reason, count in report.reasons.items():
        table.add_row(f"  {reason}", str(count))
    table.add_row("mean score", _figure(report.mean_score, ".4f"))
    table.add_row("latency p50", _figure(report.latency_p50_ms, ",d", " ms"))
    table.add_row("latency p99", _figure(report.latency_p99_ms, ",d", " ms"))
    table.add_row("throughput", _figure(report.scored_per_second, ",.1f", " scored/s"))
    console.print(table)
    console.print(_histogram(report.histogram))


def _histogram(buckets: list[int]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(min_width=_BAR_CELLS)
    table.add_column(justify="right")
    tallest = max(1, *buckets)
    for index, count in enumerate(buckets):
        closing = "]" if index == len(buckets) - 1 else ")"
        name = f"[{index / len(buckets):.1f}, {(index + 1) / len(buckets):.1f}{closing}"
        # What is there shows, however small beside the others.
        cells = max(1, round(_BAR_CELLS * count / tallest)) if count else 0
        table.add_row(name, "█" * cells, str(count))
    return table


def _figure(value: float | None, form: str, unit: str = "") -> str:
    return "-" if value is None else f"{value:{form}}{unit}"
