"""``python -m tests.chaos``: the platform while things break, in suites of
ten minutes at most on two quiet cores.

``storm`` has thousands of completions, sick graders, killed workers and a restart, and is seeded;
``outage`` a grader that is down for long, and one that a text breaks; ``starved`` ten functions for
everything; ``tenants`` lost runs of one organisation beside another's trickle; ``hostile`` an
organisation that means harm beside one that works; ``apprentice`` runs of tasks whose small model
dies and whose paid one takes money for nothing; ``spending`` hundreds of calls at once under two
budgets, as midnight passes; ``lives`` has versions trained, hosted, promoted and rolled back, in
one process without a stack. Ends with 1 where an invariant does not hold: a completion was lost,
judged twice, or scored with a value that its grader did not sign, an event was missed, trouble that
passes became a verdict, whoever is well suffered from neighbours, more was spent than a limit, or a
version answered that had shown nothing. A suite in which not every fault struck runs again, and
ends so where that does not help.
"""

import argparse
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from local.memory_limits import kills_in
from local.records import read_stack_record
from local.stack import LocalStack
from tests.chaos import invariants, telling
from tests.chaos.apprentice import apprentice
from tests.chaos.attempts import failed_attempts
from tests.chaos.diseases import DEADLINE_SECONDS, DOWN_FOR_GOOD, FLAPPING, hospital
from tests.chaos.hostile import attack
from tests.chaos.invariants import Finding, Verdicts
from tests.chaos.leaving import search
from tests.chaos.life_storm import live
from tests.chaos.load import Accepted
from tests.chaos.outage import break_down
from tests.chaos.permissions import permissions_finding
from tests.chaos.report import (
    show_attempts,
    show_faults,
    show_findings,
    show_graders,
    show_latencies,
    show_violations,
)
from tests.chaos.run import Chaos
from tests.chaos.spending import CALLS, spend
from tests.chaos.starved import starve
from tests.chaos.subscribers import Subscriber, audience
from tests.chaos.tenants import lose
from tests.chaos.throttling import ThrottlingProxy

COMPLETIONS = 5_100
SEED = 20_261_121
EXIT_ENDED = 143

# Runs sleep half as long as they say. Any shorter, and what a run tries again within two minutes
# would be over before a restart is.
WAIT_SCALE = "0.5"

_SMALL_SUITES = {
    "outage": break_down,
    "starved": starve,
    "tenants": lose,
    "hostile": attack,
    "apprentice": apprentice,
    "lives": live,
}
SUITES = ("storm", *_SMALL_SUITES, "spending")

_MOST_RUNS = 3
"""Of a suite in which not every fault struck: chance and the machine's speed have a say in that."""

console = Console(width=130)


def main() -> int:
    """Run, print the tables, return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}")
    parser.add_argument("--completions", type=int, default=COMPLETIONS)
    parser.add_argument("--calls", type=int, default=CALLS, help="of the suite spending")
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    if unknown := set(arguments.suites) - set(SUITES):
        parser.error(f"no suite {', '.join(sorted(unknown))}: there are {', '.join(SUITES)}")
    # A run that is ended from outside stops what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_ENDED))
    suites: dict[str, Callable[[], Sequence[Finding]]] = {
        "storm": lambda: storm(arguments.completions, seed=arguments.seed),
        **{name: partial(run_small, suite) for name, suite in _SMALL_SUITES.items()},
        "spending": lambda: run_small(partial(spend, calls=arguments.calls)),
    }
    violated: dict[str, list[Finding]] = {}
    for name in arguments.suites or SUITES:
        if broken := violations_of(name, suites[name]):
            violated[name] = broken
    # Once more at the end, where who reads a log's last lines finds them.
    for name, broken in violated.items():
        console.print(f"suite {name}:", highlight=False)
        show_violations(console, broken)
    return 1 if violated else 0


def violations_of(name: str, run: Callable[[], Sequence[Finding]]) -> list[Finding]:
    """Run a suite, again where it was too kind to prove anything; return what was violated.

    Args:
        name: of the suite.
        run: runs it, prints and returns what was found.
    """
    for left in range(_MOST_RUNS - 1, -1, -1):
        broken = [finding for finding in run() if finding.violations]
        if not broken or left == 0 or not all(finding.is_of_run for finding in broken):
            break
        console.print(f"suite {name} has proved too little, and runs again", highlight=False)
    return broken


def run_small(suite: Callable[[Console], list[Finding]]) -> list[Finding]:
    """Run a suite that does not print what it found, and print that."""
    found = suite(console)
    show_findings(console, found)
    return found


def storm(completions: int, *, seed: int) -> list[Finding]:
    """Run the largest suite; return what was found."""
    console.print(f"seed {seed}", highlight=False)
    with tempfile.TemporaryDirectory(prefix="autotune-chaos-") as folder:
        directory = Path(folder)

        def port() -> int | None:
            record = read_stack_record(directory)
            return record.port if record else None

        with (
            ThrottlingProxy(port, seed=seed) as proxy,
            hospital(seed) as patients,
            audience(seed) as subscribers,
        ):
            stack = LocalStack(
                directory=directory,
                environment={"SFN_WAIT_SCALE": WAIT_SCALE, "AWS_ENDPOINT_URL_DYNAMODB": proxy.url},
            )
            with stack as profile:
                chaos = Chaos(stack, profile, patients, subscribers, proxy, console, seed=seed)
                try:
                    chaos.run(completions)
                    return report(chaos, proxy)
                finally:
                    chaos.close()


def report(chaos: Chaos, proxy: ThrottlingProxy) -> list[Finding]:
    """Check every invariant and print what was found."""
    accepted = chaos.load.accepted
    # Before the tables: of what subscribers are told while these are read, they may have nothing.
    heard = [one.so_far() for one in chaos.subscribers]
    items = list(chaos.tables().items("Completions"))
    verdicts = invariants.verdicts_by_completion(items)
    faults = faults_of(chaos, proxy)
    findings = [
        invariants.everything_was_accepted(accepted, chaos.wanted),
        invariants.nothing_accepted_is_lost(accepted, items),
        invariants.everything_is_decided(accepted, verdicts),
        invariants.no_completion_has_two_verdicts(accepted, verdicts),
        invariants.verdicts_are_written_once(
            chaos.stream.written, chaos.stream.violations, verdicts
        ),
        invariants.scores_are_signed(
            accepted, verdicts, {patient.name: patient.signed for patient in chaos.patients}
        ),
        invariants.failures_are_no_scores(verdicts),
        invariants.deadlines_hold(
            [
                one.id
                for one in accepted.values()
                if one.patient == DOWN_FOR_GOOD and one.stage in ("sick", "faults")
            ],
            verdicts,
            seconds=DEADLINE_SECONDS,
            slowness=chaos.slowness,
        ),
        invariants.counts_agree(chaos.api_counts(), accepted.values(), verdicts),
        invariants.flapping_is_no_outage(
            chaos.statuses.get(FLAPPING, []), chaos.statuses.get(DOWN_FOR_GOOD, [])
        ),
        invariants.every_fault_happened(faults),
        invariants.no_function_outgrew_its_memory(kills_in(chaos.directory)),
        *events_findings(heard, accepted.values(), verdicts),
        chaos.waiting_finding(verdicts),
        search(
            chaos.profile,
            secrets=[
                *(patient.grader.secret for patient in chaos.patients),
                *(subscriber.secret for subscriber in chaos.subscribers),
            ],
        ),
        permissions_finding(chaos.directory, suite="storm", console=console),
    ]
    show_graders(console, chaos.patients, accepted.values(), verdicts)
    show_faults(console, faults)
    show_latencies(console, {one: chaos.spans(one, verdicts) for one in ("calm", "sick")})
    show_attempts(console, failed_attempts(chaos.profile.aws_endpoint_url))
    show_findings(console, findings)
    return findings


def events_findings(
    heard: Sequence[Subscriber], accepted: Collection[Accepted], verdicts: Verdicts
) -> list[Finding]:
    """Compare what subscribers were told with the tables.

    Args:
        heard: subscribers with what they had been told before the tables were read.
    """
    told_of_verdicts = [
        telling.every_verdict_is_told(one, verdicts)
        for one in heard
        if "score.completed" in one.event_types
    ]
    told_of_batches = [telling.every_batch_is_told(one, accepted, verdicts) for one in heard]
    return [*told_of_verdicts, *told_of_batches, telling.repeats_are_alike(heard)]


def faults_of(chaos: Chaos, proxy: ThrottlingProxy) -> dict[str, int]:
    """Return how often each fault and disease struck."""
    doubled: Counter[str] = chaos.saboteur.doubled
    return {
        "workers killed": chaos.saboteur.killed.total(),
        "messages doubled as they were": doubled["as it was"],
        "messages doubled as another run": doubled["as another run"],
        "requests throttled": proxy.refused,
        "batch requests done by half": proxy.halved,
        "batches canceled": chaos.load.canceled_batches,
        "submissions repeated": chaos.load.repeated.total(),
        "restarts": chaos.restarts,
        "calls of webhooks answered with 500": sum(one.failed for one in chaos.subscribers),
        **{one.name: one.struck for one in chaos.patients if not one.is_healthy},
    }


if __name__ == "__main__":
    sys.exit(main())
