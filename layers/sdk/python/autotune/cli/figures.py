"""Prints what came out of a submission, and how a grader does."""

from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from autotune.client import SummaryReport
from autotune.protocol.statistics import GraderFigures, GraderStats

_BAR_CELLS = 40


def print_figures(console: Console, report: SummaryReport) -> None:
    """Print verdicts by state, mean score, histogram, latency and throughput."""
    table = plain_table()
    table.add_column(justify="right")
    for state, count in report.counts.items():
        table.add_row(state, str(count))
    for reason, count in report.reasons.items():
        table.add_row(f"  {reason}", str(count))
    table.add_row("mean score", figure(report.mean_score, ".4f"))
    table.add_row("latency p50", figure(report.latency_p50_ms, ",d", " ms"))
    table.add_row("latency p99", figure(report.latency_p99_ms, ",d", " ms"))
    table.add_row("throughput", figure(report.scored_per_second, ",.1f", " scored/s"))
    console.print(table)
    console.print(histogram(report.histogram))


def print_statistics(console: Console, stats: GraderStats) -> None:
    """Print a grader's figures: a column for all versions together and one for each."""
    columns: list[tuple[str, GraderFigures]] = [("all versions", stats)]
    if stats.version is not None or len(stats.versions) == 1:
        columns = []
    columns += [(one.version, one) for one in stats.versions]
    table = plain_table(show_header=True)
    for name, _ in columns:
        table.add_column(name, justify="right", no_wrap=True)
    for label, figure in _STATISTICS.items():
        table.add_row(label, *(figure(one) for _, one in columns))
    for reason in stats.failures:
        table.add_row(f"  {reason}", *(str(one.failures.get(reason, 0)) for _, one in columns))
    console.print(table)
    if stats.total_scored:
        console.print(histogram(stats.score_distribution))


_STATISTICS: dict[str, Callable[[GraderFigures], str]] = {
    "scored": lambda one: str(one.counts.scored),
    "abstained": lambda one: str(one.counts.abstained),
    "canceled": lambda one: str(one.counts.canceled),
    "mean score": lambda one: figure(one.avg_score, ".4f"),
    "mean latency": lambda one: figure(one.avg_latency_ms, ",.0f", " ms"),
    "latency p50": lambda one: figure(one.p50_latency_ms, ",.0f", " ms"),
    "latency p99": lambda one: figure(one.p99_latency_ms, ",.0f", " ms"),
    "late answers": lambda one: str(one.late_answers),
    "error rate": lambda one: figure(one.error_rate, ".2%"),
    "failed": lambda one: str(one.counts.failed),
}


def plain_table(*, show_header: bool = False) -> Table:
    """Return a table with a column of names."""
    table = Table(box=None, pad_edge=False, show_header=show_header, header_style="bold")
    table.add_column(style="bold")
    return table


def histogram(buckets: list[int]) -> Table:
    """Return a bar for each of equal intervals from 0 to 1."""
    table = plain_table()
    table.add_column(min_width=_BAR_CELLS)
    table.add_column(justify="right")
    tallest = max(1, *buckets)
    for index, count in enumerate(buckets):
        closing = "]" if index == len(buckets) - 1 else ")"
        digits = 1 if len(buckets) <= 10 else 2
        low, high = index / len(buckets), (index + 1) / len(buckets)
        name = f"[{low:.{digits}f}, {high:.{digits}f}{closing}"
        # What is there shows, however small beside the others.
        cells = max(1, round(_BAR_CELLS * count / tallest)) if count else 0
        table.add_row(name, "█" * cells, str(count))
    return table


def figure(value: float | None, form: str, unit: str = "") -> str:
    """Return a figure as text; "-" where nothing was counted."""
    return "-" if value is None else f"{value:{form}}{unit}"
