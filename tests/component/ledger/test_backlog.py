"""A backlog of single calls: no more batches are made of it than can be asked at once."""

from typing import Any

import boto3
import pytest

from autotune_platform.budgets.slots import Slots, Taken
from autotune_platform.ledger.open_calls import OpenCalls
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.settling import BatchSettling
from autotune_platform.ledger.starting import BatchStarter
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.support.ledger import Ledger, row

HELD_SECONDS = 60


class Counted:
    """Calls of methods, and most batches that were open at once."""

    def __init__(self, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
        self.steps = self.read = self.most_open = self.most_reserved = 0
        step, totals = ledger.step, BatchSettling.totals

        def stepped(state: dict[str, Any], **named: Any) -> Any:
            if "batch_id" in state:
                self.steps += 1
                items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)
                phases = [one["phase"]["S"] for one in items["Items"] if "phase" in one]
                self.most_open = max(self.most_open, len(phases) - phases.count("settled"))
                self.most_reserved = max(self.most_reserved, ledger.spent_and_reserved("day")[1])
            return step(state, **named)

        def read(this: Any, *given: Any) -> Any:
            self.read += 1
            return totals(this, *given)

        monkeypatch.setattr(ledger, "step", stepped)
        monkeypatch.setattr(BatchSettling, "totals", read)


@pytest.fixture
def counted(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(ledger, monkeypatch)


@pytest.fixture
def _slow_endpoint(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """One step after the other holds the one slot for a minute."""
    free_at = 0.0

    def take(*_: Any, **__: Any) -> Taken:
        nonlocal free_at
        if ledger.passed < free_at:
            return Taken(0, hold_seconds=HELD_SECONDS)
        free_at = ledger.passed + HELD_SECONDS
        return Taken(1, hold_seconds=HELD_SECONDS)

    monkeypatch.setattr(Slots, "take", take)
    monkeypatch.setattr(Slots, "release", lambda *_, **__: None)


@pytest.mark.usefixtures("_slow_endpoint")
@pytest.mark.parametrize("batches", [6, 12, 24])
def test_steps_grow_with_a_backlog_and_not_with_its_square(
    ledger: Ledger, counted: Counted, batches: int
) -> None:
    connection = ledger.connect(concurrency=1, maxRows=2)
    estimate = {"requests": [row(connection, "q10"), row(connection, "q11")]}
    bound = ledger.platform.call("POST", "/api/v1/llm-estimates", estimate).json["boundNanoUsd"]
    ids = ledger.enqueue(connection, *(f"q{number}" for number in range(2 * batches)))
    ledger.run_jobs()
    # One that asks, and at most one before that finds no slot; all that waited did each time.
    assert batches <= counted.steps <= 2 * batches
    assert counted.most_open == 1
    assert counted.most_reserved <= bound, "what waits has its money set aside"
    assert statuses(ledger, ids) == {"completed": 2 * batches}
    assert len(ledger.batches()) == batches
    assert_settled(ledger)


def test_a_step_that_finds_no_slot_reads_no_row(
    ledger: Ledger, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = ledger.enqueue(ledger.connect(), "q1", "q2")
    (state,) = ledger.started()
    begun = ledger.step(state)
    read: list[Any] = []

    def get_many(*given: Any) -> Any:
        read.append(given)
        return {}

    with monkeypatch.context() as patched:
        patched.setattr(Slots, "take", lambda *_, **__: Taken(0, hold_seconds=HELD_SECONDS))
        patched.setattr(RowRepository, "get_many", get_many)
        left = ledger.step(begun)
    assert (left["done"], left["wait_seconds"]) == (False, HELD_SECONDS)
    assert (read, counted.read) == ([], 0)
    ledger.finish(left)
    assert statuses(ledger, ids) == {"completed": 2}


def test_as_many_batches_are_open_as_rounds_find_slots(ledger: Ledger, counted: Counted) -> None:
    connection = ledger.connect(concurrency=20, maxRows=2)
    ids = ledger.enqueue(connection, *(f"q{number}" for number in range(12)))
    waiting: list[dict[str, Any]] = []
    while new := ledger.started():
        # Nobody's first step follows before all are made that may be.
        waiting += [ledger.step(state) for state in new]
    assert len(ledger.batches()) == 3
    for state in waiting:
        ledger.finish(state)
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 12}
    assert counted.most_open == 3
    assert_settled(ledger)


def test_the_end_of_a_batch_has_the_next_one_made_also_when_the_step_is_repeated(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect(maxRows=2)
    ids = ledger.enqueue(connection, *(f"q{number}" for number in range(4)))
    (state,) = ledger.started()
    first = ledger.step(state)
    assert ledger.started() == []

    def killed(*_: Any, **__: Any) -> bool:
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(BatchStarter, "start_group", killed)
        with pytest.raises(SystemExit):
            ledger.step(first)
    assert statuses(ledger, ids) == {"completed": 2, "queued": 2}
    assert ledger.started() == []
    assert ledger.step(first) == {"done": True}
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 4}
    assert_settled(ledger)


def test_a_queue_whose_batch_could_start_none_is_found_by_the_sweeper(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect(maxRows=2)
    ids = ledger.enqueue(connection, *(f"q{number}" for number in range(4)))
    (state,) = ledger.started()
    with monkeypatch.context() as patched:
        patched.setattr(BatchStarter, "start_group", lambda *_, **__: False)
        ledger.finish(ledger.step(state))
    assert statuses(ledger, ids) == {"completed": 2, "queued": 2}
    ledger.run_jobs(hours=0.2)
    assert statuses(ledger, ids) == {"completed": 4}


def test_a_batch_that_ends_before_another_is_known_to_wait_holds_it_up_no_more(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect()
    ids = ledger.enqueue(connection, "q1")
    (state,) = ledger.started()
    first = ledger.step(state)
    ids += ledger.enqueue(connection, "q2")
    await_end = OpenCalls.await_end
    ended: list[dict[str, Any]] = []

    def awaited(self: Any, *given: Any) -> None:
        if not ended:
            ended.append(ledger.step(first))
        await_end(self, *given)

    monkeypatch.setattr(OpenCalls, "await_end", awaited)
    second = ledger.step(state)
    assert ended == [{"done": True}]
    ledger.finish(second)
    assert statuses(ledger, ids) == {"completed": 2}
    assert_settled(ledger)
