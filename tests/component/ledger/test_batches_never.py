"""``batches: never`` holds for what waits already, and for what is tried again."""

from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.component.ledger.test_jobs import MODELS, connect
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.support.ledger import Ledger

MODEL = MODELS["openai"]


def never(ledger: Ledger, connection: str, **fields: object) -> None:
    path = f"/api/v1/llm-connections/{connection}"
    answer = ledger.platform.call("PATCH", path, {"batches": "never", **fields})
    assert answer.status == 200, answer.text


def test_rows_that_wait_for_a_job_are_asked_one_by_one(ledger: Ledger) -> None:
    connection = connect(ledger, "openai", batches="always", minRows=10, maxWaitSeconds=3_600)
    ids = ledger.enqueue(connection, "a", "b", "c", model=MODEL)
    ledger.run()
    assert ledger.batches() == []
    never(ledger, connection, maxWaitSeconds=0)
    # They are looked at when they would have been: an hour after they came.
    ledger.run_jobs(hours=2)
    assert statuses(ledger, ids) == {"completed": 3}
    assert {one["job"] for one in ledger.batches()} == {None}
    assert ledger.fake.world.batches == {}
    assert len(ledger.fake.world.executions) == 3
    assert_settled(ledger)


def test_a_retry_goes_as_its_connection_says_now(ledger: Ledger) -> None:
    connection = connect(ledger, "openai", batches="always", minRows=10, maxWaitSeconds=3_600)
    first, second = ledger.enqueue(connection, "a", "b", model=MODEL)
    for request_id in (first, second):
        ledger.platform.call("POST", f"/api/v1/llm-requests/{request_id}/cancel")
    never(ledger, connection, maxWaitSeconds=0)
    path = f"/api/v1/llm-requests/{first}/retry"
    singly = ledger.platform.call("POST", path).json["requestIds"]
    ledger.run_jobs(hours=1)
    assert statuses(ledger, singly) == {"completed": 1}
    assert ledger.fake.world.batches == {}
    answer = ledger.platform.call(
        "PATCH", f"/api/v1/llm-connections/{connection}", {"batches": "always"}
    )
    assert answer.status == 200
    path = f"/api/v1/llm-requests/{second}/retry"
    together = ledger.platform.call("POST", path).json["requestIds"]
    ledger.run_jobs()
    assert statuses(ledger, together) == {"completed": 1}
    assert len(ledger.fake.world.batches) == 1


def test_a_row_that_costs_more_by_itself_than_was_set_aside_for_it_ends(ledger: Ledger) -> None:
    connection = connect(ledger, "openai", batches="always", minRows=10, maxWaitSeconds=3_600)
    dear, right = ledger.enqueue(connection, "a", "b", model=MODEL)
    bound = ledger.read(dear)["boundNanoUsd"]
    table = Table("ledger", clients.dynamodb())
    table.update(dear, "state", {"most_nano_usd": bound})
    table.update(right, "state", {"most_nano_usd": 2 * bound})
    never(ledger, connection, maxWaitSeconds=0)
    ledger.run_jobs(hours=2)
    assert ledger.read(right)["status"] == "completed"
    found = ledger.read(dear)
    assert (found["status"], found["costNanoUsd"]) == ("canceled", 0)
    assert "more than was set aside" in found["error"]["message"]
    assert_settled(ledger)
