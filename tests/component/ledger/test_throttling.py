"""An endpoint that takes few calls a minute answers all rows, however long that takes."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.component.ledger.test_faults import arm
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.support.ledger import Ledger, later

ROWS = 60


def calls(ledger: Ledger) -> int:
    """How many calls the endpoint has had."""
    return sum(count for name, count in ledger.fake.world.requests.items() if "chat" in name)


@pytest.mark.parametrize("retry_after", [5, 60])
def test_too_many_calls_use_no_attempt_of_a_row(ledger: Ledger, retry_after: int) -> None:
    ledger.fake.world.limits["compatible"] = {"calls_a_minute": 20, "retry_after": retry_after}
    ids = ledger.enqueue(ledger.connect(maxWaitSeconds=0), *(f"q{n}" for n in range(ROWS)))
    ledger.run_jobs(hours=2)
    assert statuses(ledger, ids) == {"completed": ROWS}
    assert {ledger.read(id_)["attempt"] for id_ in ids} == {1}
    # Each round that is sent away has up to eight calls under way, and rounds are seldom.
    assert calls(ledger) < 5 * ROWS
    assert_settled(ledger)


def test_a_rate_of_ones_own_keeps_below_it(ledger: Ledger) -> None:
    ledger.fake.world.limits["compatible"] = {"calls_a_minute": 1_000}
    connection = ledger.connect(maxWaitSeconds=0, requestsPerSecond=50)
    ids = ledger.enqueue(connection, *(f"q{n}" for n in range(30)))
    began = datetime.now(UTC)
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 30}
    assert datetime.now(UTC) - began >= timedelta(seconds=29 / 50)


def test_who_sends_more_in_a_second_than_a_connection_may_says_which_field(ledger: Ledger) -> None:
    path = f"/api/v1/llm-connections/{ledger.connect()}"
    for given in (0.001, 20_000, "5"):
        answer = ledger.platform.call("PATCH", path, {"requestsPerSecond": given})
        assert (answer.status, set(answer.fields)) == (422, {"requestsPerSecond"})
    changed = ledger.platform.call("PATCH", path, {"requestsPerSecond": 0.33})
    assert changed.json["connection"]["requestsPerSecond"] == 0.33
    ended = ledger.platform.call("PATCH", path, {"requestsPerSecond": None})
    assert ended.json["connection"]["requestsPerSecond"] is None


def test_what_is_not_wanted_any_more_ends_while_its_endpoint_takes_no_call(ledger: Ledger) -> None:
    arm(ledger, "chat_429", times=1_000)
    by = (datetime.now(UTC) + timedelta(minutes=30)).isoformat()
    connection = ledger.connect(maxWaitSeconds=0, minRows=1)
    late = ledger.enqueue(connection, "q", completeBy=by)
    canceled = ledger.enqueue(connection, "q2")
    state = ledger.step(ledger.started()[0])
    state = ledger.step(state)
    assert statuses(ledger, [*late, *canceled]) == {"submitted": 2}
    ledger.platform.call("POST", f"/api/v1/llm-requests/{canceled[0]}/cancel")
    with later(timedelta(minutes=31)):
        ledger.step(state)
    assert ledger.read(late[0])["error"]["code"] == "expired"
    assert ledger.read(canceled[0])["status"] == "canceled"


def test_a_day_without_any_call_uses_one_attempt(ledger: Ledger) -> None:
    arm(ledger, "chat_429", times=1_000)
    (request_id,) = ledger.enqueue(ledger.connect(maxWaitSeconds=0), "q")
    (state,) = ledger.started()
    state = ledger.step(ledger.step(state))
    assert ledger.read(request_id)["status"] == "submitted"
    with later(timedelta(hours=23)):
        state = ledger.step(state)
    assert ledger.read(request_id)["status"] == "submitted"
    # It grows with each round in which no call was taken.
    assert state["wait_seconds"] > 10
    with later(timedelta(hours=25)):
        ledger.step(state)
    found = ledger.read(request_id)
    assert (found["status"], found["attempt"]) == ("queued", 2)
    assert found["attempts"][0]["error"]["code"] == "rate_limited"
    assert found["costNanoUsd"] in (0, None)
