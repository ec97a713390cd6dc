"""``python -m tests.chaos_ledger``: the ledger while providers, tables and workers misbehave.

20,000 requests to every provider, in rounds that each have a platform and a fake of the providers
of their own, two at a time. A seed says which steps of executions begin in the midst of which
others, what is killed, doubled, refused and lost, and when. Ends with 1 where an invariant does not
hold; then it prints the command that plays the same round again.
"""

import argparse
import multiprocessing
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed

from rich.console import Console
from rich.table import Table

from tests.chaos.invariants import Finding
from tests.chaos.report import show_findings
from tests.chaos_ledger.load import PROVIDERS
from tests.chaos_ledger.round import Report, play
from tests.chaos_ledger.traps import NOT_SET
from tests.providers.catalogue import CATALOGUE

REQUESTS = 20_000
ROUNDS = 10
SEED = 20_261_124
_SHOWN = 5
_NAMES = tuple(one.name for one in PROVIDERS)

OURS = (
    *("executions doubled", "executions lost", "processes new", "messages doubled"),
    *("steps in the midst of another", "sweeps in the midst of a step", "skewed clocks"),
    *("requests in the midst of a step", "writes of the dead"),
    *("workers killed before a call", "workers killed after a call", "requests repeated"),
    *("calls throttled", "transactions canceled", "reads by half", "writes by half"),
    *("keys rotated", "batches canceled", "accounts refused"),
)
"""Faults that are not the fake's; in a whole run each strikes."""

console = Console(width=130)


def main() -> int:
    """Play all rounds, print what was found, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seed", type=int, default=SEED, help="of the first round")
    parser.add_argument("--providers", nargs="+", default=_NAMES, choices=_NAMES, metavar="NAME")
    arguments = parser.parse_args()
    console.print(f"seed {arguments.seed}", highlight=False)
    rows, asked = arguments.requests // arguments.rounds, tuple(arguments.providers)
    reports = _play_all(arguments.seed, arguments.rounds, rows, asked)
    is_whole = arguments.requests >= REQUESTS and asked == _NAMES
    findings = _findings(reports, is_whole=is_whole)
    _show(reports)
    show_findings(console, findings)
    return 1 if any(finding.violations for finding in findings) else 0


def _play_all(seed: int, rounds: int, rows: int, asked: tuple[str, ...]) -> list[Report]:
    # Each in a process of its own: nothing of one is left in another.
    with ProcessPoolExecutor(
        2, mp_context=multiprocessing.get_context("spawn"), max_tasks_per_child=1
    ) as processes:
        begun = {
            processes.submit(play, seed + number, rows, asked): number for number in range(rounds)
        }
        reports = {}
        for one in as_completed(begun):
            report = reports[begun[one]] = one.result()
            console.print(
                f"round of seed {report.seed}: {report.rows} requests, {report.batches} jobs, "
                f"{report.hours:.0f} hours in {report.seconds:.0f} s, "
                f"{report.cpu_seconds:.0f} s of a processor",
                highlight=False,
            )
            _show_violations(report)
    return [reports[number] for number in range(rounds)]


def _show_violations(report: Report) -> None:
    """Print at once what did not hold in a round, and how it is played again."""
    for name, found in report.violations.items():
        console.print(f"violated in this round: {name}, {len(found)} times", markup=False)
        for one in found[:_SHOWN]:
            console.print(f"  {one}", markup=False, highlight=False, soft_wrap=True)
    if report.violations:
        command = f"--rounds 1 --seed {report.seed} --requests {report.rows}"
        if report.asked != _NAMES:
            command += f" --providers {' '.join(report.asked)}"
        console.print(f"again: python -m tests.chaos_ledger {command}", highlight=False)


def _findings(reports: list[Report], *, is_whole: bool) -> list[Finding]:
    """Return what was checked in all rounds, and whether everything was tried."""
    names = dict.fromkeys(name for one in reports for name in (*one.checked, *one.violations))
    findings = [
        Finding(
            name,
            sum(one.checked[name] for one in reports),
            [
                f"seed {one.seed}: {found}"
                for one in reports
                for found in one.violations.get(name, ())
            ],
        )
        for name in names
    ]
    if is_whole:
        struck = sum((one.traps + one.faults for one in reports), Counter[str]())
        wanted = [*(name for name in CATALOGUE if name not in NOT_SET), *OURS]
        missing = [f"never: {name}" for name in wanted if not struck[name]]
        findings.append(Finding("every trap and every fault struck", len(wanted), missing))
    return findings


def _show(reports: list[Report]) -> None:
    table = Table("", "")
    for title, name in (
        ("requests", "providers"),
        ("ended", "statuses"),
        ("our faults", "faults"),
        ("traps sprung", "traps"),
        ("excuses injected", "excuses"),
        ("excused", "excused"),
    ):
        counts = sum((getattr(one, name) for one in reports), Counter[str]())
        table.add_row(title, ", ".join(f"{count} {what}" for what, count in counts.most_common()))
    table.add_row("asked again", str(sum(one.reasks for one in reports)))
    table.add_row("ordered", str(sum(one.ordered for one in reports)))
    table.add_row("executions", str(sum(one.executions for one in reports)))
    table.add_row("nano-USD in the ledger", str(sum(one.cost for one in reports)))
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
