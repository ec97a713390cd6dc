"""``python -m tests.chaos.life_mutations``: does ``lives`` notice when a guard of days is gone?

Each mutation takes one guard out of a copy of the repository and runs the suite there, a minute or
two each, without a stack. Ends with 1 where the suite did not find out.
"""

import sys

from tests.chaos.mutations import Mutation, run_all

_PLATFORM = "layers/platform/python/autotune_platform"

LIFE_MUTATIONS = (
    Mutation(
        "the periods that money was taken from",
        f"{_PLATFORM}/budgets/money.py",
        "names = settled_names(periods, self.clock.now().date())",
        "names = [*periods_of(self.clock.now().date()).values()]",
        "money is settled in the periods that it was taken from",
    ),
    Mutation(
        "the new day of a budget",
        f"{_PLATFORM}/budgets/scopes.py",
        "return now if self.today is None else max(now, self.today)",
        "return now if self.today is None else self.today",
        "a day's budget refuses within its day",
    ),
    Mutation(
        "the day of a run",
        f"{_PLATFORM}/apprentice/folding/service.py",
        "days[run.day] += of_run(run, counted) + _gated(known, run, counted)",
        'days[f"{(run.ended_at or run.created_at):%Y-%m-%d}"] += of_run(run, counted)',
        "runs = local + remote + refused + failed, as counted",
    ),
    Mutation(
        "the midnight in a host's time",
        f"{_PLATFORM}/apprentice/hosting/accounts.py",
        "end = min(midnight, until)",
        "end = until",
        "a host's time counts in its days",
    ),
    Mutation(
        "what a job that somebody stopped costs",
        f"{_PLATFORM}/apprentice/training/on_sagemaker.py",
        "self._fail(training, job, _ERRORS[found.outcome], reason=found.reason, found=found)",
        "self._fail(training, job, _ERRORS[found.outcome], reason=found.reason,"
        " found=found._replace(billable_seconds=0))",
        "each job is paid as it is billed",
    ),
    Mutation(
        "that a job was stopped by somebody",
        f"{_PLATFORM}/apprentice/training/jobs.py",
        'return _STOPPED.get(secondary, "stopped"), None',
        'return _STOPPED.get(secondary, "out_of_time"), None',
        "each fault of a training comes to its clear end",
    ),
)


def main() -> int:
    """Run every mutation, return the exit code."""
    return run_all(LIFE_MUTATIONS, ["tests.chaos", "lives"])


if __name__ == "__main__":
    sys.exit(main())
