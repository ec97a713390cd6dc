"""What each of a hundred rows writes and reads: exact, so that cost cannot creep.

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
# A row is read when it is chosen, to be sent, with its answer, and when its batch is settled; what
# it asks to be sent, and with its answer, whose format stands with it.
READ_OF_A_JOB = {"read state": 4 * ROWS, "read input": 2 * ROWS}
# Of single calls the answer is at hand when the row is asked.
READ_OF_CALLS = {"read state": 3 * ROWS, "read input": ROWS}


class RowWrites:
    """What is written and read of rows, by this process, and in how many transactions."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.reads: Counter[str] = Counter()
        self.transactions = 0
        self._lock = threading.Lock()
        clients.dynamodb().meta.events.register("before-call.dynamodb", self._see)

    def _see(self, model: Any, params: Any, **_: Any) -> None:
        asked = json.loads(params["body"])
        with self._lock:
            self.transactions += model.name == "TransactWriteItems"
            for name, place, units in _writes(model.name, asked):
                if place["pk"]["S"].startswith("llm_"):
                    self.counts[f"{name} {_part(place)}"] += units
            for place in _reads(model.name, asked):
                if place["pk"]["S"].startswith("llm_"):
                    self.reads[f"read {_part(place)}"] += 1

    def take_reads(self) -> dict[str, int]:
        """Return what was read since the last time."""
        reads = dict(self.reads)
        self.reads.clear()
        return reads

    def take(self) -> dict[str, int]:
        """Return what was written since the last time."""
        counts = dict(self.counts)
        self.counts.clear()
        return counts


def _part(place: Any) -> str:
    found: str = place["sk"]["S"].partition("#")[0]
    return found


def _reads(operation: str, asked: Any) -> Iterator[Any]:
    if operation == "GetItem":
        yield asked["Key"]
    elif operation == "BatchGetItem":
        for wanted in asked["RequestItems"].values():
            yield from wanted["Keys"]


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
    writes.take_reads()
    ledger.run_jobs()
    assert writes.take() == WORKED
    assert writes.take_reads() == READ_OF_A_JOB
    assert ledger.read(ids[0])["parsedVerdict"] == "good"
    assert_paid_once(ledger, ids)


def test_a_row_that_is_asked_by_itself_is_read_no_more_than_this(
    ledger: Ledger, writes: RowWrites
) -> None:
    ids = ledger.enqueue(ledger.connect(), *prompts(ROWS, text_bytes=200))
    writes.take_reads()
    ledger.run_jobs()
    assert writes.take_reads() == READ_OF_CALLS
    assert ledger.read(ids[-1])["status"] == "completed"
