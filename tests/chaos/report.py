"""The tables that end a run."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table

from tests.chaos.diseases import Patient
from tests.chaos.invariants import STATES, Finding, Verdicts, p99, state_of
from tests.chaos.load import Accepted
from tests.chaos.waiting import Span

_SHOWN_VIOLATIONS = 5


def show_graders(
    console: Console,
    patients: Sequence[Patient],
    accepted: Iterable[Accepted],
    verdicts: Verdicts,
) -> None:
    """Print what became of each grader's completions."""
    states: dict[str, Counter[str]] = {patient.name: Counter() for patient in patients}
    reasons: dict[str, Counter[str]] = {patient.name: Counter() for patient in patients}
    for one in accepted:
        state = state_of(one.id, verdicts)
        states[one.patient][state] += 1
        if state == "failed":
            reasons[one.patient][verdicts[one.id][0]["reason_code"]] += 1
    table = Table(
        "grader", "accepted", *STATES, "pending", "requests", "struck", "fails mostly for"
    )
    for patient in patients:
        counts = states[patient.name]
        top = reasons[patient.name].most_common(1)
        table.add_row(
            patient.name,
            str(counts.total()),
            *(str(counts[state]) for state in (*STATES, "pending")),
            str(len(patient.grader.requests)),
            str(patient.struck),
            f"{top[0][0]} ({top[0][1]})" if top else "",
        )
    total = sum(states.values(), Counter[str]())
    sums = [str(total[state]) for state in (*STATES, "pending")]
    table.add_section()
    table.add_row("all", str(total.total()), *sums, "", "", "")
    console.print(table)


def show_faults(console: Console, faults: Mapping[str, int]) -> None:
    """Print what was done to the stack."""
    told = ", ".join(f"{times} {name}" for name, times in faults.items())
    console.print(f"faults: {told}", highlight=False)


def show_latencies(console: Console, stages: Mapping[str, Sequence[Span]]) -> None:
    """Print healthy graders' latency in each stage: it proves nothing on a busy machine."""
    told = [
        f"{stage} {p99([one.seconds for one in spans]):.2f} s"
        for stage, spans in stages.items()
        if spans
    ]
    console.print(f"p99 of healthy graders: {', '.join(told)}", highlight=False)


def show_attempts(console: Console, failed: Counter[str]) -> None:
    """Print what runs tried again after, the most frequent first."""
    for error, times in failed.most_common(_SHOWN_VIOLATIONS):
        console.print(f"attempts that failed: {times} by {error}", highlight=False, markup=False)


def show_findings(console: Console, findings: Sequence[Finding]) -> None:
    """Print a line for each invariant, and what violated it."""
    table = Table("invariant", "checked", "violations")
    for finding in findings:
        count = len(finding.violations)
        shown = f"[red]{count}[/red]" if count else "0"
        table.add_row(finding.invariant, str(finding.checked), shown)
    console.print(table)
    show_violations(console, findings)


def show_violations(console: Console, findings: Sequence[Finding]) -> None:
    """Print what violated invariants, the first few of each."""
    for finding in findings:
        for violation in finding.violations[:_SHOWN_VIOLATIONS]:
            console.print(f"violated: {finding.invariant}: {violation}", highlight=False)
        more = len(finding.violations) - _SHOWN_VIOLATIONS
        if more > 0:
            console.print(f"violated: {finding.invariant}: and {more} more", highlight=False)
