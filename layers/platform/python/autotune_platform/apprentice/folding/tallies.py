"""What one run adds to the counts of its day: all of it once, however often it is heard of.

Counts are whole numbers, also of agreement and money, so that their sum is the same in any order.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, Literal

from autotune_platform.apprentice.routing import Local, Model, Remote
from autotune_platform.apprentice.runs.models import Run, RunPair

BEGUN: Final = "begun"
AGREEMENT_UNITS = 1_000_000
"""A score of 1 in the counts."""

CHECKS_ENDED = ("done", "skipped", "failed")

Counted = Mapping[str, Any]
"""What was counted of a run, as its entry says; empty where nothing was."""


def of_run(run: Run, counted: Counted) -> Counter[str]:
    """Return what is to be added for a run, beyond what was counted of it.

    Of a day's counts it always holds that ``begun`` is the sum of ``local``, ``remote``,
    ``refused``, ``failed`` and the runs that are pending.
    """
    tally: Counter[str] = Counter()
    if not counted:
        tally[BEGUN] += 1
    if run.local is not None and counted.get("local") is None:
        asked = {"asked": 1, "silent": int(run.local is Local.UNAVAILABLE)}
        tally.update(asked)
        tally.update({in_hour(name, run.created_at.hour): one for name, one in asked.items()})
    if not run.has_ended:
        return tally
    if counted.get("state", "pending") == "pending":
        tally[_answered_by(run)] += 1
        tally["escalated"] += run.escalated
    # That the budget had no room for a check is known only once the answer has been counted.
    tally["unmonitored"] += run.unmonitored and not counted.get("unmonitored", False)
    if run.check in CHECKS_ENDED and counted.get("check") not in CHECKS_ENDED:
        tally[f"checks_{run.check}"] += 1
    held_back = {
        version
        for version, outcome in ((run.local_version, run.local), (run.shadow_version, run.shadow))
        if outcome is Local.UNSURE
    }
    for pair in new_pairs(run, counted):
        # What its gate held back no caller has.
        if pair.is_drawn and pair.version not in held_back:
            tally[f"pairs#{pair.version}"] += 1
            tally[f"agreement#{pair.version}"] += round(pair.score * AGREEMENT_UNITS)
            tally.update(f"missed#{pair.version}#{place}" for place in pair.missed)
    tally["examples"] += is_new_example(run, counted)
    tally[f"cost_{_cost_of(run)}"] += run.cost_nano_usd - counted.get("cost_nano_usd", 0)
    tally["cost_additional"] += additional_cost(run, counted) - counted.get("additional_cost", 0)
    return tally


def in_hour(name: str, hour: int) -> str:
    """Return the name of a count of those runs of a day that were created in one of its hours."""
    return f"{name}#{hour}"


def sightings(run: Run, counted: Counted) -> list[tuple[int, float | None]]:
    """Return versions that answered a run, with how sure they were, if that was not counted."""
    asked = (
        ("local", run.local, run.local_version, run.local_confidence),
        ("shadow", run.shadow, run.shadow_version, run.shadow_confidence),
    )
    return [
        (version, confidence)
        for name, outcome, version, confidence in asked
        if version is not None
        and outcome in (Local.ANSWERED, Local.UNSURE)
        and counted.get(name) is None
    ]


def new_pairs(run: Run, counted: Counted) -> list[RunPair]:
    """Return the pairs of a run that were not counted."""
    return list(run.pairs[counted.get("pairs", 0) :]) if run.has_ended else []


def is_new_example(run: Run, counted: Counted) -> bool:
    """Return whether the paid model's answer is one more example of the run's definition."""
    return run.has_ended and run.remote is Remote.ANSWERED and not counted.get("example", False)


def additional_cost(run: Run, counted: Counted) -> int:
    """Return what additional models cost, as far as any record of the run has said."""
    known: int = counted.get("additional_cost", 0)
    return max(run.additional_cost_nano_usd, known) if run.has_ended else known


def entry_of(run: Run, counted: Counted) -> dict[str, Any]:
    """Return what an entry has to know of a run once all of it is counted.

    Args:
        counted: what it says so far.
    """
    return {
        "pairs": len(run.pairs) if run.has_ended else 0,
        "example": run.has_ended and run.remote is Remote.ANSWERED,
        "cost_nano_usd": run.cost_nano_usd if run.has_ended else 0,
        "additional_cost": additional_cost(run, counted),
    }


def counted_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an entry says was counted of its run; empty where there is none."""
    if not entry:
        return {}
    return {
        "state": entry["state"],
        "check": entry["check"],
        "pairs": entry["pairs_counted"],
        "example": entry["example_counted"],
        "cost_nano_usd": entry["cost_counted"],
        "additional_cost": entry.get("additional_counted", 0),
        "unmonitored": entry.get("unmonitored", False),
        "local": entry.get("local"),
        "shadow": entry.get("shadow"),
    }


def _answered_by(run: Run) -> str:
    if run.state == "answered":
        return str(Model.LOCAL if run.answers is Model.LOCAL else Model.REMOTE)
    return run.state


def _cost_of(run: Run) -> Literal["answers", "checks", "lost"]:
    """Of a run that the version answered, all that was paid checked it, or taught another one."""
    if run.state != "answered":
        return "lost"
    return "checks" if run.answers is Model.LOCAL else "answers"
