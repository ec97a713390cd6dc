"""What a batch of a hundred completions of 2 KB costs: exact, so that cost cannot creep.

Every call is counted, and the units of items that are put; those of updates ``make bench`` has.

Where a change makes a figure here larger, ``make bench`` tells what that costs a million.
"""

import json
import threading
from collections import Counter
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.runtime import clients
from benchmarks.boundary import item_bytes, steps
from benchmarks.texts import completions
from tests.support.clock import wait_for_one_window
from tests.support.graders import LoopbackGrader
from tests.support.platform import Platform

SUBMIT = {
    "GetItem": 1,
    "PutItem": 2,
    "BatchGetItem": 1,
    "BatchWriteItem": 4,
    "SendMessageBatch": 1,
    # How many are undecided is read once in ten seconds, and changes as the batch is accepted.
    "Query": 1,
    "TransactWriteItems": 1,
}
# One of the puts comes once a minute: up to when the messages of the queue were received.
DISPATCH = {"PutItem": 2, "StartExecution": 1}
# The batch write lists the verdicts for the projection.
GRADE = {"GetItem": 2, "BatchGetItem": 2, "PutItem": 100, "BatchWriteItem": 1, "UpdateItem": 1}
# The update takes the batch off the sweeper's index.
PROJECT = {"BatchGetItem": 2, "Query": 1, "TransactWriteItems": 1, "UpdateItem": 1}
# Of the index, which has the batch no more.
SWEEP = {"Query": 16}
READ_BATCH = {"PutItem": 1, "GetItem": 1, "BatchGetItem": 1}

# Items of transactions, each at least two write units: the batch, what is open, and what was
# submitted in three windows.
SUBMIT_ITEMS = 5
# Checkpoint, statistics, metering, audit entry, what is open; windows: three of the organisation,
# two each of its task and grader.
PROJECT_ITEMS = 12

# Write units of whole items, by what they are, without those of indexes.
UNITS = {
    "content": 200,
    "verdict": 100,
    "batch": 1,
    "run": 4,
    "nonce": 1,
    "progress": 1,
}
INDEX_ENTRIES = {"scoresByTask": 100, "runsByState": 1}
_INDEXES = {"scoresByTask": "score_shard", "runsByState": "run_state"}


class Wire:
    """Every call of AWS that functions make in this process."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.units: Counter[str] = Counter()
        self.index_entries: Counter[str] = Counter()
        self.in_transactions = 0
        # Verdicts are written by several threads, and Counter's += is no single step.
        self._lock = threading.Lock()
        for client in (clients.dynamodb(), clients.sqs(), clients.s3(), clients.stepfunctions()):
            client.meta.events.register("before-call", self._see)

    def _see(self, model: Any, params: Any, **_: Any) -> None:
        with self._lock:
            self.calls[model.name] += 1
            if model.name == "TransactWriteItems":
                self.in_transactions += len(json.loads(params["body"])["TransactItems"])
            for item in _written(model.name, params):
                self.units[_kind(item)] += steps(item_bytes(item), 1_024)
                self.index_entries.update(index for index, key in _INDEXES.items() if key in item)

    def take_transacted(self) -> int:
        """Return how many items transactions wrote since the last time."""
        count, self.in_transactions = self.in_transactions, 0
        return count

    def take_calls(self) -> dict[str, int]:
        """Return the calls since the last time."""
        calls = dict(self.calls)
        self.calls.clear()
        return calls


def _written(operation: str, params: Any) -> list[dict[str, Any]]:
    """Return the items that a call writes whole."""
    asked = json.loads(params["body"]) if operation in {"PutItem", "BatchWriteItem"} else {}
    if operation == "PutItem":
        return [asked["Item"]]
    requests = asked.get("RequestItems", {}).values()
    return [one["PutRequest"]["Item"] for table in requests for one in table]


def _kind(item: dict[str, Any]) -> str:
    return str(item["sk"]["S"].partition("#")[0])


@pytest.fixture
def wire(platform: Platform) -> Wire:
    return Wire()


@pytest.mark.usefixtures("due_at_once")
def test_a_batch_of_a_hundred_costs_exactly_this(
    platform: Platform, grader: LoopbackGrader, wire: Wire
) -> None:
    task_id = platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 100}))
    wait_for_one_window()
    # Functions keep keys and organisations for half a minute, and note the use of a key once an
    # hour: those that serve these paths have seen this one.
    for path in (f"batches/{new_id('bat')}", f"completions/{new_id('cmp')}"):
        assert platform.call("GET", f"/api/v1/{path}").status == 404
    wire.units.clear()
    wire.index_entries.clear()
    wire.take_calls()
    wire.take_transacted()

    accepted = platform.submit(task_id, *completions(task_id, 100, text_bytes=2_048)).json
    assert wire.take_calls() == SUBMIT
    assert wire.take_transacted() == SUBMIT_ITEMS
    platform.dispatch(platform.queued())
    assert wire.take_calls() == DISPATCH
    (progress,) = platform.runs()
    platform.grade(progress)
    assert wire.take_calls() == GRADE
    # The list of decisions: times have more digits on a slow machine.
    assert wire.units.pop("decided") in {2, 3}
    assert wire.units == UNITS
    assert wire.index_entries == INDEX_ENTRIES
    platform.project()
    assert wire.take_calls() == PROJECT
    assert wire.take_transacted() == PROJECT_ITEMS
    platform.operate("sweep_batches")
    assert wire.take_calls() == SWEEP
    platform.call("GET", f"/api/v1/batches/{accepted['batchId']}")
    assert wire.take_calls() == READ_BATCH
