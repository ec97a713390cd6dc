"""Executions that come to one queue at once, and those that die while they make a batch."""

from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.ledger import batch_repository
from autotune_platform.ledger.batching.files import JobFiles
from autotune_platform.ledger.jobs.contract import Missing
from autotune_platform.ledger.jobs.openai import OpenAiJobs
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.storage.counting import Canceled
from autotune_platform.storage.table import Table
from tests.component.ledger.test_jobs import assert_paid_once, enqueue
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.support.ledger import Ledger, later, row

claim = RowRepository.claim


def test_two_executions_of_one_queue_make_batches_of_different_rows(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect(maxRows=20)
    ids = ledger.enqueue(connection, *(f"q{number}" for number in range(30)))
    (state,) = ledger.started()
    seen: list[Any] = []

    def claimed(self: Any, *given: Any) -> Any:
        if not seen:
            seen.append("the second one begins")
            seen.append(ledger.step(state))
        return claim(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(RowRepository, "claim", claimed)
        first = ledger.step(state)
    assert seen[1] == {"done": True}
    (made,) = ledger.batches()
    assert (first["batch_id"], made["counts"]["rows"]) == (made["id"], 20)
    ledger.finish(first)
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 30}
    assert sorted(batch["counts"]["rows"] for batch in ledger.batches()) == [10, 20]
    assert [batch["counts"]["released"] for batch in ledger.batches()] == [0, 0]
    assert_settled(ledger)


def test_what_dies_while_it_takes_rows_is_gone_on_with_and_each_row_is_asked_once(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect()
    ids = ledger.enqueue(connection, *(f"q{number}" for number in range(30)))
    (state,) = ledger.started()
    taken = 0

    def killed(self: Any, *given: Any) -> Any:
        nonlocal taken
        taken += 1
        if taken == 12:
            raise SystemExit
        return claim(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(RowRepository, "claim", killed)
        with pytest.raises(SystemExit):
            ledger.step(state)
    assert statuses(ledger, ids)["queued"] > 0
    ledger.run_jobs(hours=1)
    assert statuses(ledger, ids) == {"completed": 30}
    assert len(ledger.fake.world.executions) == 30
    assert_settled(ledger)


def test_rows_that_a_step_has_no_time_to_take_are_taken_by_the_next(ledger: Ledger) -> None:
    ids = ledger.enqueue(ledger.connect(maxRows=20), *(f"q{number}" for number in range(30)))
    (state,) = ledger.started()
    begun = ledger.step(state, seconds=20)
    assert statuses(ledger, ids) == {"queued": 30}
    assert ledger.step(state) == {"done": True}
    taken = ledger.step(begun)
    assert statuses(ledger, ids) == {"queued": 10, "submitted": 20}
    ledger.finish(taken)
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 30}
    assert [batch["counts"]["released"] for batch in ledger.batches()] == [0, 0]
    assert_settled(ledger)


def test_an_error_while_rows_are_taken_makes_no_second_batch(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = ledger.enqueue(ledger.connect(), *(f"q{number}" for number in range(30)))
    (state,) = ledger.started()
    tried = 0

    def throttled(self: Any, *given: Any) -> Any:
        nonlocal tried
        tried += 1
        if tried in {12, 40}:
            raise RuntimeError("the table is busy")
        return claim(self, *given)

    monkeypatch.setattr(RowRepository, "claim", throttled)
    begun = ledger.step(state)
    tried = 39
    with pytest.raises(RuntimeError):
        ledger.step(begun)
    ledger.finish(ledger.step(begun))
    assert statuses(ledger, ids) == {"completed": 30}
    assert len(ledger.batches()) == 1
    assert_settled(ledger)


def test_a_batch_that_is_made_smaller_takes_no_row_that_it_has_no_money_for(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect()
    estimate = {"requests": [row(connection, "q")]}
    bound = ledger.platform.call("POST", "/api/v1/llm-estimates", estimate).json["boundNanoUsd"]
    ids = ledger.enqueue(connection, *("q" for _ in range(30)))
    (state,) = ledger.started()
    write = Table.write_together
    tried: list[str] = []

    def written(self: Any, additions: Any, *, token: str) -> Canceled | None:
        tried.append("tried")
        if len(tried) > 1:
            return write(self, additions, token=token)
        # Others spend meanwhile: there is room for four rows now.
        limits = {"dayUsd": f"{bound * 4 / 1e9:.9f}"}
        assert ledger.platform.call("PUT", "/api/v1/llm-budget", limits).status == 200
        return write(self, additions, token=token)

    monkeypatch.setattr(batch_repository, "PAGE_ROWS", 5)
    monkeypatch.setattr(Table, "write_together", written)
    ledger.step(state)
    assert statuses(ledger, ids) == {"submitted": 4, "queued": 26}
    assert ledger.budget()["day"]["reservedNanoUsd"] == bound * 4


def test_a_queue_is_free_again_once_an_error_ended_the_making_of_its_batch(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect()
    ids = ledger.enqueue(connection, *(f"q{number}" for number in range(20)))
    (state,) = ledger.started()

    def broken(self: Any, *given: Any, **named: Any) -> Any:
        raise RuntimeError("the table is busy")

    with monkeypatch.context() as patched:
        patched.setattr(RowRepository, "waiting", broken)
        with pytest.raises(RuntimeError):
            ledger.step(state)
    ledger.finish(ledger.step(state))
    assert statuses(ledger, ids) == {"completed": 20}
    assert_settled(ledger)


def test_rows_that_a_step_has_no_time_to_write_go_in_the_next_job(ledger: Ledger) -> None:
    ids = enqueue(ledger, "openai", 250)
    (state,) = ledger.started()
    begun = ledger.step(state)
    ledger.step(begun, seconds=100)
    written = statuses(ledger, ids)
    assert written == {"submitted": 100, "queued": 150}
    ledger.run_jobs()
    assert statuses(ledger, ids) == {"completed": 250}
    assert_paid_once(ledger, ids)


def test_a_step_that_an_error_ends_is_tried_again_before_its_time_is_over(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = enqueue(ledger, "openai")
    (state,) = ledger.started()
    begun = ledger.step(state)

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the bucket is busy")

    with monkeypatch.context() as patched:
        patched.setattr(JobFiles, "store", broken)
        with pytest.raises(RuntimeError):
            ledger.step(begun)
    assert ledger.step(begun)["wait_seconds"] < 100
    ledger.run_jobs()
    assert_paid_once(ledger, ids)


def test_a_job_that_is_not_seen_once_after_days_is_looked_at_again(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = enqueue(ledger, "openai")
    (state,) = ledger.started()
    polled = ledger.step(ledger.step(state))
    look = OpenAiJobs.look
    looks: list[str] = []

    def missing(self: Any, *given: Any) -> Any:
        looks.append("looked")
        return Missing() if len(looks) == 1 else look(self, *given)

    monkeypatch.setattr(OpenAiJobs, "look", missing)
    with later(timedelta(hours=73)):
        left = ledger.step(polled)
    assert (looks, left["done"]) == (["looked"], False)
    assert statuses(ledger, ids) == {"submitted": 6}
    ledger.passed = 74 * 3600
    ledger.fake.world.clock.advance(ledger.passed)
    ledger.run_jobs()
    assert statuses(ledger, ids) == {"completed": 6}
    assert_paid_once(ledger, ids)
