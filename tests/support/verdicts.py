"""Verdicts that no grader gave: made by a seed, and stored by the platform's own repository."""

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from autotune.protocol.ids import derived_id
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.repository import VerdictRepository

FIRST = datetime(2026, 5, 1, tzinfo=UTC)
ORGANIZATION = derived_id("org", "verdicts")
TASK = derived_id("task", "verdicts")
GRADERS = [derived_id("grd", name) for name in "ab"]
MODELS = [f"policy-{n}" for n in range(4)]


def verdict(number: int, **fields: Any) -> Verdict:
    """Return one of a task's verdicts: the same for the same number."""
    chance = random.Random(number)
    state = chance.choices(["scored", "abstained", "failed"], weights=[8, 1, 1])[0]
    decided_at = FIRST + timedelta(milliseconds=250 * number)
    made = {
        "completion_id": derived_id("cmp", str(number)),
        "organization_id": ORGANIZATION,
        "batch_id": derived_id("bat", str(number // 100)),
        "task_id": TASK,
        "model_id": chance.choice(MODELS),
        "grader_id": chance.choice(GRADERS),
        "grader_version": "1",
        "state": state,
        "value": chance.randrange(1001) / 1000 if state == "scored" else None,
        "confidence": 0.5 if state == "scored" else None,
        "reason_code": "grader_error" if state == "failed" else None,
        "attempts": 1,
        "submitted_at": decided_at - timedelta(seconds=2),
        "decided_at": decided_at,
    }
    return Verdict.model_validate({**made, **fields})


def store(verdicts: Iterable[Verdict]) -> None:
    """Write verdicts to the table ``completions``."""
    repository = VerdictRepository(Table("completions", clients.dynamodb()))
    for each in verdicts:
        assert repository.add(each)


@dataclass
class Reads:
    """What queries cost: how many there were, and how many entries they evaluated."""

    queries: int = 0
    evaluated: int = 0


@contextmanager
def counted_reads() -> Iterator[Reads]:
    """Count the queries of the process's client."""
    reads = Reads()

    def count(parsed: dict[str, Any], **_: Any) -> None:
        reads.queries += 1
        reads.evaluated += parsed["ScannedCount"]

    events = clients.dynamodb().meta.events
    events.register("after-call.dynamodb.Query", count)
    try:
        yield reads
    finally:
        events.unregister("after-call.dynamodb.Query", count)
