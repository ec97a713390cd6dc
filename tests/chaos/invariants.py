"""What must hold at the end, each checked from the tables and apart from the code that counts."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tests.chaos.load import Accepted
from tests.chaos.tables import Item
from tests.support.traces import leaks

STATES = ("scored", "abstained", "failed", "canceled")

DECIDED_AFTER_DEADLINE = timedelta(seconds=300)
"""Latest that a verdict may come after its deadline: a restart, and a sweep after it.

Where other things run beside it, the restart alone takes a minute, and all of it as many times as
long as the run.
"""

Verdicts = Mapping[str, Sequence[Item]]


@dataclass(frozen=True)
class Finding:
    """One invariant: how many things were checked, and what was wrong, in words.

    Attributes:
        is_of_run: whether a violation says that the run was too kind to prove anything, and nothing
            of the platform.
    """

    invariant: str
    checked: int
    violations: Sequence[str]
    is_of_run: bool = False


def verdicts_by_completion(items: Iterable[Item]) -> dict[str, list[Item]]:
    """Return the verdicts in the completions table by completion."""
    found: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item["sk"].startswith("verdict#"):
            found[item["pk"]].append(item)
    return dict(found)


def state_of(completion_id: str, verdicts: Verdicts) -> str:
    """Return the state of a completion's verdict, ``pending`` where it has none."""
    own = verdicts.get(completion_id)
    return str(own[0]["state"]) if own else "pending"


def everything_was_accepted(accepted: Collection[str], expected: int) -> Finding:
    """Submission came to its end, through everything."""
    missing = expected - len(accepted)
    violations = [f"{missing} of {expected} were not"] if missing else []
    return Finding("what was to be submitted is accepted", expected, violations)


def nothing_accepted_is_lost(accepted: Collection[str], items: Iterable[Item]) -> Finding:
    """Each accepted completion is stored, and nothing is stored that was not accepted."""
    stored = {item["pk"] for item in items if item["sk"] == "content"}
    lost = [f"{one} was accepted and is not stored" for one in set(accepted) - stored]
    more = [f"{one} is stored and was not accepted" for one in stored - set(accepted)]
    return Finding("accepted is stored, once", len(accepted), lost + more)


def everything_is_decided(accepted: Collection[str], verdicts: Verdicts) -> Finding:
    """accepted = scored + abstained + failed + canceled, and nothing is pending."""
    states = Counter(state_of(one, verdicts) for one in accepted)
    violations = [
        f"{one} is {state}" for one in accepted if (state := state_of(one, verdicts)) not in STATES
    ]
    if not violations and sum(states[state] for state in STATES) != len(accepted):
        violations.append(f"{len(accepted)} were accepted and {dict(states)} decided")
    return Finding("accepted = scored + abstained + failed + canceled", len(accepted), violations)


def all_are_scored(promise: str, wanted: Collection[str], verdicts: Verdicts) -> Finding:
    """Their graders are well by now: nothing of what was promised ended in another way."""
    states = {one: state_of(one, verdicts) for one in wanted}
    violations = [f"{one} is {state}" for one, state in states.items() if state != "scored"]
    return Finding(promise, len(wanted), violations)


def no_completion_has_two_verdicts(accepted: Collection[str], verdicts: Verdicts) -> Finding:
    """One verdict for each completion, and none for what was never accepted."""
    violations = [
        f"{one} has {len(own)} verdicts" for one, own in verdicts.items() if len(own) != 1
    ]
    violations += [f"{one} was judged, never accepted" for one in set(verdicts) - set(accepted)]
    return Finding("no completion has two verdicts", len(verdicts), violations)


def verdicts_are_written_once(
    written: Mapping[tuple[str, str], Item], rewritten: Sequence[str], verdicts: Verdicts
) -> Finding:
    """The stream saw no verdict changed, and each as it stands in the table.

    Args:
        written: what the stream told of verdicts, by key.
        rewritten: what it told of changed and removed ones.
    """
    violations = list(rewritten)
    now = {(item["pk"], item["sk"]): item for own in verdicts.values() for item in own}
    for key, item in written.items():
        if now.get(key) != item:
            violations.append(f"the verdict of {key[0]} is not the one that was written")
    return Finding("a verdict is written once (stream)", len(written), violations)


def scores_are_signed(
    accepted: Mapping[str, Accepted],
    verdicts: Verdicts,
    signed: Mapping[str, Mapping[str, Collection[float]]],
) -> Finding:
    """Each score is a value that the completion's own grader signed for it.

    Args:
        signed: the values, by grader and completion.
    """
    violations = []
    scored = [item for own in verdicts.values() for item in own if item["state"] == "scored"]
    for item in scored:
        completion_id, value = item["pk"], item.get("value")
        known = accepted.get(completion_id)
        values = signed.get(known.patient, {}).get(completion_id, ()) if known else ()
        if not any(math.isclose(value or 0, one, abs_tol=1e-12) for one in values):
            violations.append(f"{completion_id} has the score {value}, which nobody signed")
    return Finding("no score that the grader did not sign", len(scored), violations)


def failures_are_no_scores(verdicts: Verdicts) -> Finding:
    """Only what is scored has a value; what failed says why."""
    others = [item for own in verdicts.values() for item in own if item["state"] != "scored"]
    violations = [
        f"{item['pk']} is {item['state']} with a value" for item in others if "value" in item
    ]
    violations += [
        f"{item['pk']} failed without a reason"
        for item in others
        if item["state"] == "failed" and not item.get("reason_code")
    ]
    return Finding("a failure is never a score", len(others), violations)


def deadlines_hold(
    completion_ids: Collection[str], verdicts: Verdicts, *, seconds: int, slowness: float = 1
) -> Finding:
    """What waits for a grader that is down for good fails at its deadline.

    Args:
        slowness: how many times as long the run took as on a quiet machine.
    """
    violations = []
    for completion_id in completion_ids:
        for item in verdicts.get(completion_id, [{"state": "pending"}]):
            if item.get("reason_code") != "deadline_exceeded":
                why = item.get("reason_code", item["state"])
                violations.append(f"{completion_id} is {why}, not deadline_exceeded")
            elif moment(item, "decided_at") > _latest(
                moment(item, "submitted_at"), seconds, slowness
            ):
                violations.append(f"{completion_id} failed long after its deadline")
    return Finding("deadlines end what waits", len(completion_ids), violations)


def counts_agree(
    told: Mapping[str, Mapping[str, int]], accepted: Iterable[Accepted], verdicts: Verdicts
) -> Finding:
    """What the API counts for each batch is what its table holds.

    Args:
        told: the API's counts, by batch.
    """
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for one in accepted:
        counted[one.batch_id].update(("expected", state_of(one.id, verdicts)))
    violations = [
        f"{batch_id} has {dict(counted[batch_id])}, and the API tells {dict(counts)}"
        for batch_id, counts in told.items()
        if {name: count for name, count in counts.items() if count} != dict(counted[batch_id])
    ]
    violations += [f"the API was not asked for {one}" for one in set(counted) - set(told)]
    return Finding("the API's counts are the table's", len(told), violations)


def flapping_is_no_outage(flapping: Sequence[str], down: Sequence[str]) -> Finding:
    """A grader whose health alternates was never taken for dead, and one that is dead was.

    Args:
        flapping: its status in the registry, after each round of probes.
        down: that of the grader that is down for good.
    """
    violations = [f"probe {n}: inactive" for n, one in enumerate(flapping) if one == "inactive"]
    if "inactive" not in down:
        violations.append("no probe saw that a grader is down for good")
    return Finding("only who is down for good is inactive", len(flapping), violations)


def no_function_outgrew_its_memory(kills: Sequence[Mapping[str, Any]]) -> Finding:
    """No function was killed for its memory, as Lambda would have done, too."""
    violations = [
        f"{one['function']}: {one['used_mb']} MB of {one['limit_mb']} MB" for one in kills
    ]
    return Finding("no function takes more memory than it has", 1, violations)


def texts_and_secrets_stay(
    left: Iterable[tuple[str, str]], text: str, secrets: Collection[str]
) -> Finding:
    """What was submitted lies in content and nowhere else, and secrets lie nowhere.

    Args:
        left: what the run left behind, as places and what they say.
        text: what stands in every completion.
    """
    searched, kept, violations = 0, 0, []
    for place, said in left:
        searched += 1
        if leaks([(place, said)], secrets):
            violations.append(f"a secret is in {place}")
        if leaks([(place, said)], [text]):
            is_content = place.startswith(("content ", "object content/"))
            kept += is_content
            violations += [] if is_content else [f"a text is in {place}"]
    if not kept:
        violations.append("no text was found where texts are kept, so that the search says nothing")
    return Finding("texts lie in content alone, and secrets nowhere", searched, violations)


def every_fault_happened(faults: Mapping[str, int]) -> Finding:
    """The run proves something only if it was as bad as it was meant to be."""
    violations = [f"{name}: never" for name, times in faults.items() if not times]
    return Finding("every disease and fault struck", len(faults), violations, is_of_run=True)


def p99(seconds: Sequence[float]) -> float:
    """Return the 99th percentile by nearest rank."""
    return sorted(seconds)[math.ceil(len(seconds) * 0.99) - 1]


def is_late(submitted_at: datetime, now: datetime, *, seconds: int, slowness: float = 1) -> bool:
    """Tell whether a verdict can no longer come in time for ``deadlines_hold``."""
    return now > _latest(submitted_at, seconds, slowness)


def _latest(submitted_at: datetime, seconds: int, slowness: float) -> datetime:
    return submitted_at + timedelta(seconds=seconds) + DECIDED_AFTER_DEADLINE * slowness


def moment(item: Item, name: str) -> datetime:
    """Return a time that an item has."""
    return datetime.fromisoformat(item[name])
