"""What must hold of runs of the apprentice in the end, read from the tables and the bill."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotune_platform.apprentice.evidence import Rules, folded
from autotune_platform.apprentice.pairs import Pair
from tests.chaos.invariants import Finding, moment
from tests.chaos.student import case_in
from tests.chaos.tables import Item
from tests.support.traces import leaks

_ENDED_BY = ("local", "remote", "refused", "failed")
_WITH_TEXTS = (" apr_", " llm_", "#imported#exm_")
_ANSWERED_PAIRS = ("answered", "unparseable")
"""What came of asking a version where there is something to compare."""


@dataclass(frozen=True)
class Kept:
    """What the tables have of the apprentice.

    Attributes:
        runs: by id.
        rows: of the ledger that runs paid, by their ids.
        items: all of the table ``apprentice``.
    """

    runs: Mapping[str, Item]
    rows: Mapping[str, Item]
    items: Sequence[Item]

    @classmethod
    def of(cls, apprentice: Sequence[Item], ledger: Sequence[Item]) -> "Kept":
        """Sort items of both tables."""
        return cls(
            {one["pk"]: one for one in apprentice if one["sk"] == "run"},
            {
                one["pk"]: one
                for one in ledger
                if one["sk"] == "state" and one.get("apprentice_run_id")
            },
            apprentice,
        )

    def day_counts(self, task_id: str) -> dict[str, Counter[str]]:
        """Return the counts of a task's days."""
        return {
            one["sk"].removeprefix("day#"): Counter(
                {name: int(n) for name, n in one.items() if isinstance(n, int | float)}
            )
            for one in self.items
            if one["pk"] == task_id and one["sk"].startswith("day#")
        }

    def pairs_of(self, task_id: str, version: int) -> list[Item]:
        """Return a version's pairs in their order."""
        pk = f"{task_id}#pairs#{version:06d}"
        return sorted((one for one in self.items if one["pk"] == pk), key=lambda one: one["sk"])

    def evidence_of(self, task_id: str) -> dict[int, Item]:
        """Return what is cached of a task's versions."""
        return {
            int(one["version"]): one
            for one in self.items
            if one["pk"] == task_id and one["sk"].startswith("evidence#")
        }


def case_of(run: Item) -> str:
    """Return what a run was asked."""
    return case_in(json.loads(run["input"])["text"])


def answer_of(run: Item) -> str:
    """Return how a run ended, as it is counted; ``pending`` where it did not."""
    return str(run["answers"] if run["state"] == "answered" else run["state"])


def every_run_is_there(taken: Collection[str], wanted: int, kept: Kept) -> Finding:
    """Each input was taken and is one run, whatever was repeated, and there is no other run."""
    runs = Counter(map(case_of, kept.runs.values()))
    violations = [f"{case} has {runs[case]} runs" for case in taken if runs[case] != 1]
    violations += [f"nobody sent {case}" for case in runs.keys() - set(taken)]
    if len(taken) != wanted:
        violations.append(f"{wanted - len(taken)} of {wanted} were never taken")
    return Finding("each input is one run", wanted, violations)


def every_run_ended(kept: Kept) -> Finding:
    """None is pending, and no check is due."""
    violations = [
        f"{id_} is {run['state']}, check {run.get('check')}"
        for id_, run in kept.runs.items()
        if run["state"] == "pending" or run.get("check") == "due"
    ]
    return Finding("no run stays pending, and no check due", len(kept.runs), violations)


def runs_add_up(kept: Kept, task_ids: Sequence[str]) -> Finding:
    """Counts of days are those of the runs: begun = local + remote + refused + failed.

    A run is of the day on which it was created.
    """
    violations = []
    for task_id in task_ids:
        real: dict[str, Counter[str]] = defaultdict(Counter)
        for run in kept.runs.values():
            if run["task_id"] == task_id:
                real[moment(run, "created_at").date().isoformat()][answer_of(run)] += 1
        counted = kept.day_counts(task_id)
        for day in sorted(real.keys() | counted.keys()):
            ends, has = real.get(day, Counter()), counted.get(day, Counter())
            wanted = {"begun": ends.total(), **{name: ends[name] for name in _ENDED_BY}}
            violations += [
                f"{task_id}, {day}: {has[name]} {name}, but there are {number}"
                for name, number in wanted.items()
                if has[name] != number
            ]
    return Finding(
        "runs = local + remote + refused + failed, as counted", len(kept.runs), violations
    )


def each_call_is_booked_once(kept: Kept, billed: Mapping[str, Sequence[int]]) -> Finding:
    """What the ledger has of a run is what the provider billed for it.

    A row whose outcome nobody knows is charged what it could cost at most; it stands for one
    execution or none.
    """
    by_run: dict[str, list[Item]] = defaultdict(list)
    for row in kept.rows.values():
        by_run[row["apprentice_run_id"]].append(row)
    violations = []
    for run_id, run in kept.runs.items():
        rows = by_run.pop(run_id, [])
        executions = Counter(billed.get(case_of(run), ()))
        known = Counter(int(one["cost_nano_usd"]) for one in rows if _is_known(one))
        assumed = sorted(int(one["cost_nano_usd"]) for one in rows if is_assumed(one))
        lost = sorted((executions - known).elements())
        if known - executions:
            violations.append(f"{run_id} booked {dict(known)} of {dict(executions)}")
        if len(lost) > len(assumed) or any(
            paid > most for paid, most in zip(lost[::-1], assumed[::-1], strict=False)
        ):
            violations.append(f"{run_id} was billed {lost} beyond what it booked, {assumed}")
        if int(run["cost_nano_usd"]) != sum(int(one["cost_nano_usd"]) for one in rows):
            violations.append(f"{run_id} says {run['cost_nano_usd']}, its rows {rows}")
    violations += [f"rows of {run_id}, which is no run" for run_id in by_run]
    return Finding("each call is booked once, at the provider's bill", len(kept.rows), violations)


def the_ledger_covers_the_bill(
    kept: Kept, billed: int, spent: Mapping[str, int], organization_id: str
) -> Finding:
    """Bill ≤ ledger = spent, and without what was assumed, ledger ≤ bill."""
    cost = sum(int(row["cost_nano_usd"]) for row in kept.rows.values())
    assumed = sum(int(row["cost_nano_usd"]) for row in kept.rows.values() if is_assumed(row))
    violations = []
    if not cost - assumed <= billed <= cost:
        violations.append(f"billed {billed}, booked {cost}, of which {assumed} are assumed")
    if spent[organization_id] != cost:
        violations.append(f"booked {cost}, but the budget spent {spent[organization_id]}")
    by_task = sum(money for scope, money in spent.items() if scope != organization_id)
    if by_task != cost:
        violations.append(f"booked {cost}, but the tasks' budgets spent {by_task}")
    return Finding("the ledger is the bill, and what was assumed", len(kept.rows), violations)


def pair_of(item: Item) -> Pair:
    """Return a pair as it is stored."""
    return Pair(
        int(item["sequence"]),
        float(item["score"]),
        bool(item["is_drawn"]),
        item["at"],
        is_sure=bool(item.get("is_sure", True)),
        in_canary=bool(item.get("in_canary", False)),
    )


def evidence_is_rebuilt(kept: Kept, task_id: str, rules: Callable[[int], Rules]) -> Finding:
    """The cache of a version's evidence is that of its pairs, to the last bit.

    Args:
        rules: by which a version is judged, by its number.
    """
    violations = []
    checked = 0
    for version, cached in kept.evidence_of(task_id).items():
        pairs = list(map(pair_of, kept.pairs_of(task_id, version)))
        checked += len(pairs)
        of = rules(version)
        rebuilt = folded(pairs, of).to_json(of)
        if json.loads(rebuilt) != json.loads(str(cached["state"])):
            violations.append(f"version {version}: {cached['state']}, but its pairs say {rebuilt}")
    return Finding("evidence that is rebuilt is the cache", checked, violations)


def pairs_are_of_answers(kept: Kept, task_id: str) -> Finding:
    """Each pair is of one run in which both answered; each such run has its pair once."""
    violations = []
    made: Counter[tuple[str, int]] = Counter()
    for version in kept.evidence_of(task_id):
        for pair in kept.pairs_of(task_id, version):
            made[pair["run_id"], version] += 1
            if (why := _why_no_pair(kept.runs.get(pair["run_id"]), version)) is not None:
                violations.append(f"pair {pair['sk']} of version {version}: {why}")
    wanted = Counter(
        (id_, int(one["version"]))
        for id_, run in kept.runs.items()
        if run["task_id"] == task_id
        for one in _pairs(run)
    )
    violations += [f"{one} has {made[one]} pairs" for one in wanted | made if made[one] != 1]
    return Finding("no pair from failures, and each once", made.total(), violations)


def texts_and_secrets_stay(
    left: Iterable[tuple[str, str]], text: str, secrets: Collection[str]
) -> Finding:
    """Inputs lie in their runs, and in the texts of rows, and nowhere else; secrets lie nowhere.

    Args:
        left: what a stack keeps, as places and what they say.
        text: what stands in every input.
    """
    searched, kept, violations = 0, 0, []
    for place, said in left:
        searched += 1
        if leaks([(place, said)], secrets):
            violations.append(f"a secret is in {place}")
        if leaks([(place, said)], [text]):
            # Imported examples have texts of their own, and are no runs.
            is_kept = place.startswith("object ") or any(one in place for one in _WITH_TEXTS)
            kept += is_kept
            violations += [] if is_kept else [f"a text is in {place}"]
    if not kept:
        violations.append("no text was found where texts are kept, so that the search says nothing")
    return Finding("texts lie in runs and rows alone, and secrets nowhere", searched, violations)


def _why_no_pair(run: Item | None, version: int) -> str | None:
    if run is None:
        return "there is no such run"
    if run.get("remote") != "answered":
        return f"the paid model {run.get('remote')}"
    asked = {run.get(f"{one}_version"): run.get(one) for one in ("local", "shadow")}
    if asked.get(version) not in _ANSWERED_PAIRS:
        return f"the version was {asked.get(version)}"
    return None


def _pairs(run: Item) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = run.get("pairs") or ()
    return found


def is_assumed(row: Item) -> bool:
    """Return whether a row was charged what it could cost at most."""
    return int(row["cost_nano_usd"]) > 0 and _says_assumed(row)


def _is_known(row: Item) -> bool:
    return int(row["cost_nano_usd"]) > 0 and not _says_assumed(row)


def _says_assumed(row: Item) -> bool:
    return bool(row.get("cost_is_assumed") or (row.get("usage") or {}).get("assumed"))
