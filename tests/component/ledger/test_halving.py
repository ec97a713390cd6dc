"""A job that is refused without a row's name is halved, and never into more jobs than are counted.

The fake's refusals name their rows; here nobody reads the names.
"""

from collections import Counter
from typing import Any

import pytest

from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.halvings import SPARE_HALVINGS, most_halvings, most_jobs
from autotune_platform.ledger.jobs import openai as openai_jobs
from functions.ledger import work_batch
from tests.component.ledger.test_jobs import MODELS, assert_paid_once, connect
from tests.support.ledger import Ledger

WHY = "the batch does not comply"


@pytest.fixture(autouse=True)
def nameless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_jobs, "failure", lambda _: (Refusal("rejected", WHY), {}))


def enqueue(ledger: Ledger, count: int, *, bad: str) -> list[str]:
    """Enqueue so many questions; those that contain some text are what jobs are refused for."""
    ledger.fake.world.traps.arm(name="poison_row", times=None, contains=bad)
    connection = connect(ledger, "openai", maxWaitSeconds=0)
    users = [f"question {number}." for number in range(count)]
    ids: list[str] = ledger.enqueue(connection, *users, model=MODELS["openai"])
    return ids


def created(ledger: Ledger) -> int:
    """How many jobs the provider was asked for."""
    return ledger.fake.world.requests["openai.create"]


def read_all(ledger: Ledger, ids: list[str]) -> list[dict[str, Any]]:
    return [ledger.read(one) for one in ids]


def test_one_bad_row_is_found_and_all_others_are_answered(ledger: Ledger) -> None:
    ids = enqueue(ledger, 64, bad="question 41.")
    ledger.run_jobs()
    found = read_all(ledger, ids)
    assert Counter(one["status"] for one in found) == {"completed": 63, "error": 1}
    (bad,) = [one for one in found if one["status"] == "error"]
    assert bad["input"]["user"] == "question 41."
    assert bad["error"] == {"code": "rejected", "message": WHY}
    # The whole, and two halves of each that had the row, down to the row itself.
    assert created(ledger) == 1 + 2 * 6
    assert_paid_once(ledger, ids)


def test_rows_that_are_all_refused_end_after_a_bounded_number_of_jobs(ledger: Ledger) -> None:
    ids = enqueue(ledger, 64, bad="question")
    ledger.run_jobs()
    found = read_all(ledger, ids)
    assert {one["status"] for one in found} == {"error"}
    assert [one["error"] for one in found] == [{"code": "rejected", "message": WHY}] * 64
    assert {one["costNanoUsd"] for one in found} == {0}
    assert created(ledger) == most_jobs(64) == 2 * 6 + 1 + 2 * SPARE_HALVINGS < 2 * 64 - 1
    assert_paid_once(ledger, ids)


def test_a_halving_that_is_repeated_is_counted_once(ledger: Ledger) -> None:
    ids = enqueue(ledger, 8, bad="question 3.")
    ledger.run_jobs()
    failing = work_batch.parts().batch_work.jobs.polling.failing
    batches = {one["id"]: one for one in ledger.batches()}
    row = failing.rows.get(ids[0])
    assert row is not None
    assert row.halved_of in batches
    batch = failing.remaining.batches.get(row.halved_of)
    assert batch is not None
    now = batch.created_at
    assert failing.halvings.add(batch, of=batch.id, rows=8, now=now)
    left = most_halvings(8) - 3
    for number in range(left):
        other = batch.model_copy(update={"id": f"{batch.id}{number}"})
        assert failing.halvings.add(other, of=batch.id, rows=2, now=now)
    last = batch.model_copy(update={"id": "another"})
    assert not failing.halvings.add(last, of=batch.id, rows=2, now=now)
    assert failing.halvings.add(batch, of=batch.id, rows=8, now=now), "it was counted before"


@pytest.mark.parametrize(("rows", "jobs"), [(2, 19), (1_000, 37), (10_000, 45), (50_000, 49)])
def test_a_bad_row_of_any_batch_is_found_within_the_ceiling(rows: int, jobs: int) -> None:
    assert most_jobs(rows) == jobs
    halvings, largest = 0, rows
    while largest > 1:
        halvings, largest = halvings + 1, (largest + 1) // 2
    assert halvings == most_halvings(rows) - SPARE_HALVINGS
