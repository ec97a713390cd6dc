"""What must hold of money in the end, read from the tables and the bill."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from autotune_platform.budgets.scopes import periods_of
from autotune_platform.budgets.uses import task_scope
from tests.chaos.apprentice_invariants import is_assumed
from tests.chaos.invariants import Finding
from tests.chaos.tables import Item


def all_is_used(committed: Mapping[str, int], wanted: Mapping[str, int]) -> Finding:
    """Each scope admitted what its limit has room for, to the call."""
    violations = [
        f"{scope} committed {committed[scope]}, and {number} had room"
        for scope, number in wanted.items()
        if committed[scope] != number
    ]
    return Finding("as many calls are admitted as have room", len(wanted), violations)


def spent_is_booked(rows: Iterable[Item], spent: Mapping[str, Mapping[str, int]]) -> Finding:
    """What each period of a scope spent is what calls cost that were reserved in it."""
    booked: dict[str, Counter[str]] = defaultdict(Counter)
    checked = 0
    for row in rows:
        checked += 1
        for scope in row_scopes(row):
            booked[scope].update(dict.fromkeys(row["periods"], int(row["cost_nano_usd"])))
    violations = [
        f"{scope} spent {found}, but its calls cost {dict(booked[scope])}"
        for scope, found in spent.items()
        if Counter(found) != booked[scope]
    ]
    return Finding("periods spent what their calls cost", checked, violations)


def row_scopes(row: Item) -> list[str]:
    """Return the scopes that a call was reserved in."""
    organization_id, task_id = row["organization_id"], row.get("apprentice_task_id")
    return [organization_id, *([task_scope(organization_id, task_id)] if task_id else [])]


def periods_turned(spent: Mapping[str, Mapping[str, int]], midnight: datetime) -> Finding:
    """In each scope something was spent on both sides of a midnight."""
    days = (midnight - timedelta(days=1), midnight)
    wanted = {name for day in days for name in periods_of(day.date()).values()}
    violations = [
        f"{scope} spent nothing in {name}"
        for scope, found in spent.items()
        for name in wanted
        if not found.get(name)
    ]
    return Finding("day, week and month turned in the midst", len(wanted), violations)


def bill_is_covered(
    rows: Sequence[Item], billed: int, billed_before: int, midnight: datetime
) -> Finding:
    """Bill ≤ ledger, without what was assumed ledger ≤ bill, and so on the day before midnight."""
    day = (midnight - timedelta(days=1)).date().isoformat()
    cost = sum(int(row["cost_nano_usd"]) for row in rows)
    assumed = sum(int(row["cost_nano_usd"]) for row in rows if is_assumed(row))
    before = sum(int(row["cost_nano_usd"]) for row in rows if day in row["periods"])
    violations = []
    if not cost - assumed <= billed <= cost:
        violations.append(f"billed {billed}, booked {cost}, of which {assumed} are assumed")
    if billed_before > before:
        violations.append(f"billed {billed_before} before midnight, booked {before} of that day")
    return Finding("the ledger is the bill, and what was assumed", len(rows), violations)
