"""What each row of a job of a hundred writes and reads: exact, so that cost cannot creep.

What a batch costs beside its rows, such as polls, is not here: ``python -m benchmarks llm`` has it.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from autotune_platform.runtime import clients
from benchmarks.boundary import item_bytes, steps
from benchmarks.texts import answer, prompts
from tests.component.ledger.test_jobs import MODELS, assert_paid_once, connect
from tests.support.ledger import Ledger

ROWS = 100

# By operation and part of a row: units of what is put, and calls for what is updated or read.
ENQUEUED = {"put input": 2 * ROWS, "put state": ROWS}
# Taken into the batch, and ended with its answer.
WORKED = {"update state": 2 * ROWS, "put output": ROWS}


class RowWrites:
    """What is written of rows, by this process."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        clients.dynamodb().meta.events.register("before-call.dynamodb", self._see)

    def _see(self, model: Any, params: Any, **_: Any) -> None:
        asked = json.loads(params["body"])
        with self._lock:
            for name, place, units in _writes(model.name, asked):
                if place["pk"]["S"].startswith("llm_"):
                    self.counts[f"{name} {place['sk']['S'].partition('#')[0]}"] += units

    def take(self) -> dict[str, int]:
        """Return what was written since the last time."""
        counts = dict(self.counts)
        self.counts.clear()
        return counts


def _writes(operation: str, asked: Any) -> Iterator[tuple[str, Any, int]]:
    if operation == "PutItem":
        yield "put", asked["Item"], _units(asked["Item"])
    elif operation == "UpdateItem":
        yield "update", asked["Key"], 1
    elif operation == "DeleteItem":
        yield "delete", asked["Key"], 1
    elif operation == "BatchWriteItem":
        for requests in asked["RequestItems"].values():
            for one in requests:
                item = one["PutRequest"]["Item"]
                yield "put", item, _units(item)
    elif operation == "TransactWriteItems":
        for one in asked["TransactItems"]:
            for kind, written in one.items():
                place = written.get("Key") or written["Item"]
                yield f"transact {kind}", place, 2


def _units(item: dict[str, Any]) -> int:
    return steps(item_bytes(item), 1_024)


@pytest.fixture
def writes(ledger: Ledger) -> RowWrites:
    return RowWrites()


def test_a_row_of_a_job_writes_exactly_this(ledger: Ledger, writes: RowWrites) -> None:
    said = answer(1_024)
    ledger.fake.world.answers.answerer = lambda _: said
    connection = connect(ledger, "openai")
    writes.take()
    ids = ledger.enqueue(
        connection,
        *prompts(ROWS, text_bytes=2_048),
        model=MODELS["openai"],
        params={"maxTokens": 400},
        verdict={"type": "label", "labels": ["good", "bad"]},
    )
    assert writes.take() == ENQUEUED
    ledger.run_jobs()
    assert writes.take() == WORKED
    assert ledger.read(ids[0])["parsedVerdict"] == "good"
    assert_paid_once(ledger, ids)
