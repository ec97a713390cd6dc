"""Prints rates that were observed beside those that are promised: ``make simulate``."""

import argparse

from tests.simulations.acceptance import all_acceptances, uneven_groups
from tests.simulations.coverage import all_coverages
from tests.simulations.evidence import PAIRS, by_the_fold_too, evidence_delays, evidence_rates
from tests.simulations.planted import best_of_noise, histories


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.simulations", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="of each (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    arguments = parser.parse_args()
    runs, seed = arguments.runs, arguments.seed
    for title, rates in (
        ("Intervals that hold the true value", lambda: all_coverages(runs, seed)),
        ("Changes of real judges", lambda: all_acceptances(runs, seed)),
        ("Groups of unlike sizes", lambda: uneven_groups(runs, seed)),
        (
            f"Versions of an apprentice, {PAIRS:,} pairs",
            lambda: [
                *evidence_rates(runs, seed),
                *evidence_delays(runs, seed),
                by_the_fold_too(seed),
            ],
        ),
        ("A planted judge", lambda: [*histories(runs, seed).rates(), *best_of_noise(runs, seed)]),
    ):
        print(f"{title}, {runs:,} simulations each, seed {seed}:")
        for rate in rates():
            print(f"  {rate}", flush=True)


if __name__ == "__main__":
    main()
