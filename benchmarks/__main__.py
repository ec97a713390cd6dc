"""``python -m benchmarks``: measure what the product promises, and tell whether it holds.

Costs are counted and are the same on every machine; times are of this machine, which has to be
quiet. Ends with 1 where a target is missed.
"""

import argparse
import signal
import sys
from collections.abc import Sequence

from benchmarks import cold_import, console, cost, llm_cost, load, requests, run_cost
from benchmarks.gateways import measuring as gateways
from benchmarks.gateways.run_cpu import RunCpu
from benchmarks.peers import measuring as peers
from benchmarks.report import Report, Target
from benchmarks.stand import CountedStand, Stand, counted_stand, stand
from local.deployment import REPOSITORY_ROOT

PARTS = (
    "imports",
    "requests",
    "load",
    "peers",
    "routing",
    "cost",
    "llm",
    "runs",
    "console",
)
ONLY_NAMED = ("remote-run",)
"""Parts of parts, which are measured where they are named: in minutes on a busy machine."""
OUT = REPOSITORY_ROOT / "out"
EXIT_ENDED = 143

# architecture.md, "Cost and speed targets".
COST_LIMIT = 6.0
LLM_COST_LIMIT = 12.0
FLATNESS_LIMIT = 1.05
THROUGHPUT_LIMIT = 10_000.0
P50_LIMIT, P99_LIMIT = 0.5, 2.0
LOAD_SHARE = 0.2
IMPORT_LIMIT = 1.5
FIRST_DATA_LIMIT = 1.5
ROUTING_LIMIT = 5.0

COST_RUNS = ((1, 200), (10, 500), (100, 1_000))
LARGE_RUNS = (10_000, 100_000)
LLM_ROWS = 10_000
RUNS = 100
THROUGHPUT_COMPLETIONS = 10_000
LATENCY_SECONDS = 60.0


def main() -> int:
    """Run the parts, print and write the report, return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "parts",
        nargs="*",
        choices=(*PARTS, *ONLY_NAMED, []),
        help=f"all but {' and '.join(ONLY_NAMED)} unless named",
    )
    parser.add_argument(
        "--completions",
        type=int,
        default=LARGE_RUNS[-1],
        help="size of the largest run that is priced (default: %(default)s)",
    )
    parser.add_argument(
        "--rows",
        type=int,
        default=LLM_ROWS,
        help="size of the batch of requests to a language model (default: %(default)s)",
    )
    arguments = parser.parse_args()
    parts: list[str] = arguments.parts or list(PARTS)
    # A run that is ended from outside stops what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_ENDED))
    report = Report()
    for part in parts:
        measure(part, report, largest=arguments.completions, rows=arguments.rows)
        written = report.write(OUT)  # what is measured stays, if the rest is ended
    for target in report.targets:
        print(target.told())
    for path in written:
        print(f"written: {path.relative_to(REPOSITORY_ROOT)}")
    return 0 if all(target.is_met for target in report.targets) else 1


def measure(part: str, report: Report, *, largest: int, rows: int) -> None:
    """Measure a part, each on a stack of its own."""
    if part == "imports":
        measure_imports(report)
    elif part == "requests":
        say("timing requests of the busiest routes")
        with stand() as made, made.task("instant") as task_id:
            report.add(
                "CPU per request", (each.as_json() for each in requests.measure(made, task_id))
            )
    elif part == "load":
        with stand() as made, made.task("instant") as task_id:
            measure_load(report, made, task_id)
    elif part == "peers":
        say("loading servers of other people, which are installed first")
        report.add("Peers", (each.as_json() for each in peers.measure()))
    elif part == "routing":
        measure_routing(report)
    elif part == "remote-run":
        say("having the worker answer runs by the paid model")
        add_runs(report, [gateways.remote_runs()])
    elif part == "llm":
        say(f"pricing {rows:,} requests to a language model in one batch job")
        with counted_stand() as counted:
            measure_llm_cost(report, counted, rows=rows)
    elif part == "runs":
        say(f"pricing {RUNS} runs of the apprentice, of each way that they go")
        with counted_stand() as counted:
            measure_run_cost(report, counted)
    elif part == "console":
        with counted_stand() as counted, counted.task("instant") as task_id:
            measure_console(report, counted, task_id)
    else:
        with counted_stand() as counted, counted.task("instant") as task_id:
            measure_cost(report, counted, task_id, largest=largest)


def say(what: str) -> None:
    """Tell what is measured now: all of it takes over half an hour."""
    print(f"... {what}", file=sys.stderr, flush=True)


def measure_imports(report: Report) -> None:
    """Import every handler as a cold start does."""
    say("importing each handler in fresh processes")
    measured = cold_import.measure(cold_import.handlers())
    report.add("Cold import", (each.as_json() for each in measured))
    slowest = max(measured, key=lambda each: each.ratio)
    report.targets.append(
        Target(
            f"cold import of the slowest handler, {slowest.handler}",
            round(slowest.ratio, 2),
            IMPORT_LIMIT,
            "times boto3 and a client",
        )
    )


def measure_cost(report: Report, made: CountedStand, task_id: str, *, largest: int) -> None:
    """Price batches of three sizes, and growing numbers of batches of 100."""

    def priced(batch_size: int, count: int) -> cost.Cost:
        say(f"pricing {count:,} completions in batches of {batch_size}")
        return cost.measure(made, task_id, batch_size=batch_size, count=count)

    sizes = [*COST_RUNS, *((100, count) for count in LARGE_RUNS if count <= largest)]
    costs = [priced(size, count) for size, count in sizes]
    report.add(
        "AWS cost",
        (
            {
                "batch size": each.batch_size,
                "completions": each.count,
                "USD per million": f"{each.usd_per_million:.2f}",
                **{position.name: f"{position.usd_per_million:.3f}" for position in each.positions},
            }
            for each in costs
        ),
    )
    report.details["cost"] = [each.as_json() for each in costs]
    of_hundreds = [each for each in costs if each.batch_size == 100]
    report.targets.append(
        Target(
            "AWS cost of a million completions in batches of 100",
            round(of_hundreds[-1].usd_per_million, 2),
            COST_LIMIT,
            "USD",
        )
    )
    report.targets.append(
        Target(
            f"cost at {of_hundreds[-1].count} completions against {of_hundreds[0].count}",
            round(of_hundreds[-1].usd_per_million / of_hundreds[0].usd_per_million, 3),
            FLATNESS_LIMIT,
            "times",
        )
    )


def measure_llm_cost(report: Report, made: CountedStand, *, rows: int) -> None:
    """Price one batch job of a provider, and looks at one that takes it a day."""
    measured, looks = llm_cost.measure(made, rows=rows)
    in_a_day = looks.usd_per_million(llm_cost.ROWS_OF_A_JOB)
    report.add(
        "AWS cost of requests to a language model",
        [
            {
                "batch size": measured.batch_size,
                "USD per million": f"{measured.usd_per_million:.2f}",
                **{one.name: f"{one.usd_per_million:.3f}" for one in measured.positions},
            }
        ],
    )
    report.add(
        "Looks at a batch job that takes a day",
        [
            {
                "looks": looks.in_a_day,
                "USD each": f"{looks.usd_each:.6f}",
                "requests": size,
                "USD per million": f"{looks.usd_per_million(size):.2f}",
            }
            for size in sorted({rows, llm_cost.ROWS_OF_A_JOB})
        ],
    )
    report.details["llmCost"] = measured.as_json()
    report.details["llmLooks"] = {
        "inADay": looks.in_a_day,
        "usdEach": round(looks.usd_each, 8),
        "measured": looks.measured,
    }
    report.targets.append(
        Target(
            f"AWS cost of a million requests in batch jobs of {rows:,}, and {in_a_day:.2f} for "
            f"looks at jobs of {llm_cost.ROWS_OF_A_JOB:,} that take a day",
            round(measured.usd_per_million + in_a_day, 2),
            LLM_COST_LIMIT,
            "USD",
        )
    )


def measure_run_cost(report: Report, made: CountedStand) -> None:
    """Price runs of the apprentice, and count what each asks of AWS."""
    measured = list(run_cost.measure(made, runs=RUNS))
    report.add("AWS cost of runs of the apprentice", run_cost.as_rows(measured))
    report.add("AWS calls of a run of the apprentice", run_cost.calls_as_rows(measured))
    report.details["runCost"] = {each.asked: each.cost.as_json() for each in measured}


def measure_console(report: Report, made: CountedStand, task_id: str) -> None:
    """Open every page of the console with few completions in the store, and with many."""
    say(f"opening every page of the console with {' and '.join(map('{:,}'.format, console.SIZES))}")
    measured = list(console.measure(made, task_id))
    report.add("Console", (view.as_json() for views in measured for view in views))
    small, large = measured[0], measured[-1]
    slowest = max(large, key=lambda view: view.seconds)
    report.targets.append(
        Target(
            f"first data of the console's slowest page with {slowest.completions:,} completions, "
            f"{slowest.shape}",
            round(slowest.seconds, 2),
            FIRST_DATA_LIMIT,
            "s",
        )
    )
    changed = console.changed(small, large)
    report.targets.append(
        Target(
            f"pages that ask for more with {slowest.completions:,} completions than with "
            f"{small[0].completions:,}{''.join(f', {shape}' for shape in changed)}",
            len(changed),
            0,
            "pages",
        )
    )


def measure_routing(report: Report) -> None:
    """Compare what a request takes on its way to a model, and how well budgets hold."""
    say("routing requests to a model, beside LiteLLM's proxy")
    measured = gateways.measure()
    report.add("CPU of a request to a model", (each.as_json() for each in measured.works))
    report.add(
        "What a budget lets through to a provider", (each.as_json() for each in measured.storms)
    )
    add_runs(report, measured.runs)
    if measured.missing:
        report.add("Not installed", ({"package": each} for each in measured.missing))
    ours = [each for each in measured.storms if each.is_ours]
    report.targets.append(
        Target(
            f"billed by a provider beyond the limit in {len(ours)} storms",
            float(sum(each.over_usd for each in ours)),
            0,
            "USD",
        )
    )


def add_runs(report: Report, runs: Sequence[RunCpu]) -> None:
    """Say what the worker takes for runs, and whether that is little enough."""
    report.add("CPU of a run of the apprentice", (each.as_json() for each in runs))
    for each in runs:
        report.targets.append(
            Target(
                f"CPU of a {each.who} run of the apprentice, beside the model's call",
                round(each.overhead_milliseconds, 2),
                ROUTING_LIMIT,
                "ms",
            )
        )


def measure_load(report: Report, made: Stand, task_id: str) -> None:
    """Measure throughput, and latency at a fifth of the promised load."""
    per_second = THROUGHPUT_LIMIT / 60 * LOAD_SHARE

    def fast(grader: str, of: str) -> load.Throughput:
        say(f"scoring {THROUGHPUT_COMPLETIONS:,} completions in batches of 100, {grader} grader")
        return load.throughput(made, of, batch_size=100, count=THROUGHPUT_COMPLETIONS)

    def steady(grader: str, of: str, batch_size: int) -> load.Latency:
        say(f"{per_second:.0f} completions a second in batches of {batch_size}, {grader} grader")
        return load.latency(
            made, of, batch_size=batch_size, per_second=per_second, seconds=LATENCY_SECONDS
        )

    throughputs, latencies = {}, {}
    load.warm_up(made, task_id, per_second=per_second)
    with made.task("patient") as patient:
        for grader, of in (("instant", task_id), ("200 ms", patient)):
            throughputs[grader] = fast(grader, of)
            latencies[grader] = [steady(grader, of, batch_size) for batch_size in (1, 100)]
    report.targets.append(
        Target(
            "completions scored in a minute, batches of 100",
            round(throughputs["instant"].per_minute),
            THROUGHPUT_LIMIT,
            "a minute",
            wants_more=True,
        )
    )
    single = latencies["instant"][0]
    name = f"latency of single completions at {per_second:.0f} a second"
    report.targets.append(Target(f"{name}, p50", single.p50, P50_LIMIT, "s"))
    report.targets.append(Target(f"{name}, p99", single.p99, P99_LIMIT, "s"))
    report.add(
        "Throughput",
        [{"grader": grader, **each.as_json()} for grader, each in throughputs.items()],
    )
    report.add(
        "Latency, submission to verdict (s)",
        [
            {"grader": grader, **each.as_json()}
            for grader, both in latencies.items()
            for each in both
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
