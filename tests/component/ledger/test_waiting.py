"""Why a request waits: said when it is read, and never stored."""

import pytest

from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.queue_repository import QueueRepository
from tests.component.ledger.test_deadlines import let_pass, pause
from tests.component.ledger.test_dear_rows import DEAR, set_budget
from tests.component.ledger.test_job_limits import two_models, wait
from tests.component.ledger.test_jobs import BASES, MODELS
from tests.support.ledger import Ledger


def because(ledger: Ledger, request_id: str) -> str | None:
    reason: str | None = ledger.read(request_id).get("waitingBecause")
    return reason


def test_a_row_waits_for_its_connection(ledger: Ledger) -> None:
    connection = ledger.connect()
    pause(ledger, connection)
    (request_id,) = ledger.enqueue(connection, "a")
    assert because(ledger, request_id) == "connection_paused"


def test_a_row_waits_for_others_until_it_has_waited_long_enough(ledger: Ledger) -> None:
    connection = ledger.connect(minRows=3, maxWaitSeconds=600)
    first, second = ledger.enqueue(connection, "a", "b")
    assert {because(ledger, one) for one in (first, second)} == {"min_rows"}
    ledger.enqueue(connection, "c")
    assert because(ledger, first) == "being_batched"


def test_a_row_that_is_asked_or_has_ended_waits_for_nothing(ledger: Ledger) -> None:
    (request_id,) = ledger.enqueue(ledger.connect(), "a")
    (state,) = ledger.started()
    assert because(ledger, request_id) == "being_batched"
    left = ledger.step(state)
    assert because(ledger, request_id) is None
    ledger.finish(left)
    assert ledger.read(request_id)["status"] == "completed"
    assert because(ledger, request_id) is None


def test_a_row_that_was_tried_backs_off(ledger: Ledger) -> None:
    (request_id,) = ledger.enqueue(ledger.connect(), "a")
    ledger.fake.world.traps.arm(name="chat_500", times=1)
    ledger.run()
    assert because(ledger, request_id) == "backing_off"


def test_a_row_waits_for_money_also_behind_one_that_does(ledger: Ledger) -> None:
    connection = ledger.connect()
    ledger.enqueue(connection, "spends")
    ledger.run()
    (large,) = ledger.enqueue(connection, "a", params={"maxTokens": 200})
    (small,) = ledger.enqueue(connection, "b", params={"maxTokens": 1})
    # A whole period has room for the large one, and what is left has room for the small one.
    left = 95_000 - ledger.budget()["day"]["spentNanoUsd"]
    assert 13_300 < left < 92_900
    set_budget(ledger, dayUsd="0.000095")
    assert [because(ledger, one) for one in (large, small)] == ["budget_exhausted"] * 2


def test_a_row_that_no_period_has_room_for_says_so(ledger: Ledger) -> None:
    (request_id,) = ledger.enqueue(ledger.connect(), "a", **DEAR)
    set_budget(ledger, weekUsd="0.01")
    assert because(ledger, request_id) == "over_budget"
    ledger.run()
    let_pass(ledger, 2)
    assert because(ledger, request_id) == "over_budget"


def test_a_row_waits_for_jobs_of_its_connection(ledger: Ledger) -> None:
    connection, ids = two_models(ledger, limits={"openJobs": 1}, minRows=3)
    ledger.fake.world.timing.run_seconds = 7_200
    wait(ledger, hours=0.5)
    sent = {one: ledger.read(one)["status"] == "submitted" for one in ids}
    assert set(sent.values()) == {True, False}
    waits = {because(ledger, one) for one, is_sent in sent.items() if not is_sent}
    assert waits == {"connection_limit"}
    assert {because(ledger, one) for one, is_sent in sent.items() if is_sent} == {None}
    (model,) = {ledger.read(one)["model"] for one, is_sent in sent.items() if not is_sent}
    (behind,) = ledger.enqueue(connection, "another", model=model)
    assert because(ledger, behind) == "connection_limit"
    ledger.run_jobs()
    assert {ledger.read(one)["status"] for one in (*ids, behind)} == {"completed"}


def test_a_row_of_a_job_waits_for_a_price_of_its_own(ledger: Ledger) -> None:
    prices = {
        "own": {"inputUsd": "1", "outputUsd": "1", "batchInputUsd": "1", "batchOutputUsd": "1"}
    }
    fields = {"baseUrl": f"{ledger.fake.base_url}{BASES['openai']}", "prices": prices}
    connection = ledger.connect(provider="openai", batches="always", minRows=10, **fields)
    (request_id,) = ledger.enqueue(connection, "a", model="own")
    path = f"/api/v1/llm-connections/{connection}"
    assert ledger.platform.call("PATCH", path, {"batches": "never"}).status == 200
    assert because(ledger, request_id) == "being_batched"
    other = {MODELS["openai"]: {"inputUsd": "1", "outputUsd": "1"}}
    assert ledger.platform.call("PATCH", path, {"prices": other}).status == 200
    assert because(ledger, request_id) == "no_price"


def test_reading_why_writes_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    (request_id,) = ledger.enqueue(ledger.connect(minRows=9), "a")

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("written")

    monkeypatch.setattr(BatchRepository, "change", refused)
    for name in ("hold", "open", "postpone"):
        monkeypatch.setattr(QueueRepository, name, refused)
    before = ledger.read(request_id)
    assert before["waitingBecause"] == "min_rows"
    assert ledger.read(request_id) == before
