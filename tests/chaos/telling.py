"""Invariants of webhooks: what was told is what stands in the tables, and nothing was missed."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from tests.chaos.invariants import STATES, Finding, Verdicts, state_of
from tests.chaos.load import Accepted
from tests.chaos.subscribers import Received, Subscriber


def every_verdict_is_told(subscriber: Subscriber, verdicts: Verdicts) -> Finding:
    """Each verdict in the table is told as it stands there, under exactly one event id."""
    told = _by(subscriber.received, "score.completed", "completionId")
    violations = [f"{one} was told of and has no verdict" for one in set(told) - set(verdicts)]
    for completion_id, own in verdicts.items():
        events = told.get(completion_id, {})
        if len(events) != 1:
            violations.append(f"{completion_id} was told under {len(events)} event ids")
            continue
        (data,) = events.values()
        value = (data.get("score") or {}).get("value")
        if data["state"] != own[0]["state"] or value != own[0].get("value"):
            stands = f"{own[0]['state']} {own[0].get('value')}"
            violations.append(f"{completion_id} was told as {data['state']} {value}, not {stands}")
    name = f"score.completed, {subscriber.name} subscriber"
    return Finding(name, len(verdicts), violations)


def every_batch_is_told(
    subscriber: Subscriber, accepted: Iterable[Accepted], verdicts: Verdicts
) -> Finding:
    """Each batch is told with the counts of the table, under exactly one event id."""
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for one in accepted:
        counted[one.batch_id].update(("expected", state_of(one.id, verdicts)))
    told = _by(subscriber.received, "batch.completed", "batchId")
    violations = [f"{one} was told of and is not ours" for one in set(told) - set(counted)]
    for batch_id, counts in counted.items():
        events = told.get(batch_id, {})
        if len(events) != 1:
            violations.append(f"{batch_id} was told under {len(events)} event ids")
            continue
        (data,) = events.values()
        names = ("expected", *STATES, "pending")
        if any(data["counts"].get(name, 0) != counts[name] for name in names):
            violations.append(f"{batch_id} was told as {data['counts']}, not {dict(counts)}")
    return Finding(f"batch.completed, {subscriber.name} subscriber", len(counted), violations)


def repeats_are_alike(subscribers: Sequence[Subscriber]) -> Finding:
    """An event that is told again has the same id and the same body, and is signed."""
    violations, repeats = [], 0
    for subscriber in subscribers:
        bodies: dict[str, set[str]] = defaultdict(set)
        for one in subscriber.received:
            bodies[one.event_id].add(one.body)
        repeats += len(subscriber.received) - len(bodies)
        violations += [
            f"{subscriber.name}: {event_id} came with {len(different)} bodies"
            for event_id, different in bodies.items()
            if len(different) > 1
        ]
        if subscriber.forged:
            violations.append(f"{subscriber.name}: {subscriber.forged} calls were not signed")
    return Finding("repeated events are alike", repeats, violations)


def _by(
    received: Iterable[Received], event_type: str, name: str
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the data of each event id by what it tells of."""
    told: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for one in received:
        if one.type == event_type:
            told[one.data[name]][one.event_id] = one.data
    return told
