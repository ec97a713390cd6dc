"""What must hold of days and months: what counts in one belongs to it, whenever it ends."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from autotune_platform.apprentice.instance_prices import price_of
from autotune_platform.apprentice.training.models import Training
from autotune_platform.budgets.scopes import COMMITTED, SPENT
from autotune_platform.budgets.uses import task_of
from tests.chaos.apprentice_invariants import Kept
from tests.chaos.invariants import Finding, moment
from tests.chaos.tables import Item


def money_is_settled_where_it_was_taken(kept: Kept, scopes: Mapping[str, Item]) -> Finding:
    """Each period spent what those rows cost that were reserved in it, and has nothing set aside.

    Args:
        scopes: items of budgets that pay for runs, by scope.
    """
    violations, checked = [], 0
    for scope, item in scopes.items():
        task = task_of(scope)
        cost: Counter[str] = Counter()
        for row in kept.rows.values():
            if task in {None, row["apprentice_task_id"]}:
                cost.update(dict.fromkeys(row["periods"], int(row["cost_nano_usd"])))
        periods = cost.keys() | {
            name.partition("#")[2] for name in item if name.startswith((COMMITTED, SPENT))
        }
        checked += len(periods)
        for period in sorted(periods):
            spent, committed = (int(item.get(f"{one}{period}", 0)) for one in (SPENT, COMMITTED))
            if (spent, committed) != (cost[period], cost[period]):
                violations.append(
                    f"{scope}, {period}: spent {spent} and committed {committed}, "
                    f"but its rows cost {cost[period]}"
                )
    return Finding("money is settled in the periods that it was taken from", checked, violations)


def jobs_are_paid_as_billed(
    trainings: Sequence[Training],
    jobs: Sequence[Mapping[str, Any]],
    price: Callable[[str], int | None],
) -> Finding:
    """A training paid what SageMaker bills for its jobs, whoever ended them.

    Of one that was given up nobody knows its job yet (ADR 0090).

    Args:
        jobs: as SageMaker describes them.
        price: returns what an hour of an instance costs, in nano-USD.
    """
    seconds: Counter[str] = Counter()
    cost: Counter[str] = Counter()
    for job in jobs:
        training_id = job["HyperParameters"]["training_id"]
        billed = int(job.get("BillableTimeInSeconds", 0))
        seconds[training_id] += billed
        cost[training_id] += price_of(billed, price(job["ResourceConfig"]["InstanceType"]) or 0)
    violations = [
        f"{one.id} paid {one.spent_nano_usd} for {one.billable_seconds} s, "
        f"but SageMaker bills {cost[one.id]} for {seconds[one.id]} s"
        for one in trainings
        if one.error != "platform_error"
        and (one.billable_seconds, one.spent_nano_usd) != (seconds[one.id], cost[one.id])
    ]
    return Finding("each job is paid as it is billed", len(jobs), violations)


def ended_after(kept: Kept, midnight: datetime) -> Counter[str]:
    """Return what was under way at a midnight: runs, and calls of the paid model."""
    rows = [row for row in kept.rows.values() if midnight.date().isoformat() > row["periods"][0]]
    runs = [run for run in kept.runs.values() if moment(run, "created_at") < midnight]
    return Counter(
        {
            "calls under way at midnight": sum(
                moment(row, "updated_at") >= midnight for row in rows
            ),
            "runs under way at midnight": sum(moment(run, "ended_at") >= midnight for run in runs),
        }
    )
