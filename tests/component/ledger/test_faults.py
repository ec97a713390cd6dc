"""What goes wrong between us and a provider: nothing is lost, paid twice unseen, or overspent."""

from collections import Counter
from datetime import timedelta
from typing import Any

import boto3
import pytest

from autotune_platform.ledger.ending import RowEnds
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from tests.component.ledger.test_journeys import assert_settled, statuses
from tests.providers import chat_openai
from tests.support.ledger import Ledger, later, row


class KilledError(BaseException):
    """The process is gone: nothing catches it."""


def arm(ledger: Ledger, name: str, **fields: Any) -> None:
    ledger.fake.world.traps.arm(name, **fields)


def run_again(ledger: Ledger, *, times: int = 6) -> None:
    """Let time pass until queues are due again, and run what the sweeper starts."""
    for number in range(1, times + 1):
        with later(timedelta(minutes=15 * number)):
            ledger.sweep()
            ledger.run()


def test_what_passes_is_tried_again_and_costs_once(ledger: Ledger) -> None:
    arm(ledger, "chat_500", times=1)
    (request_id,) = ledger.enqueue(ledger.connect(), "q")
    ledger.run()
    waiting = ledger.read(request_id)
    assert (waiting["status"], waiting["attempt"]) == ("queued", 2)
    assert waiting["attempts"][0]["error"]["code"] == "provider_error"
    run_again(ledger)
    assert ledger.read(request_id)["status"] == "completed"
    assert len(ledger.fake.world.executions) == 1
    assert_settled(ledger)


def test_what_never_passes_ends_after_five_attempts(ledger: Ledger) -> None:
    arm(ledger, "chat_500", times=100)
    (request_id,) = ledger.enqueue(ledger.connect(), "q")
    ledger.run()
    run_again(ledger, times=8)
    found = ledger.read(request_id)
    assert (found["status"], found["error"]["code"]) == ("error", "provider_error")
    assert len(found["attempts"]) == 5
    assert found["costNanoUsd"] == 0
    assert_settled(ledger)


def test_a_lost_answer_is_charged_at_its_bound_and_said_to_be_unclear(ledger: Ledger) -> None:
    arm(ledger, "chat_answer_lost", times=1)
    (request_id,) = ledger.enqueue(ledger.connect(), "q")
    ledger.run()
    run_again(ledger)
    found = ledger.read(request_id)
    assert found["status"] == "completed"
    assert [(one["error"] or {}).get("code") for one in found["attempts"]] == [
        "outcome_unclear",
        None,
    ]
    # It was paid twice in fact, and we knew that it may have been.
    assert len(ledger.fake.world.executions) == 2
    assert found["costNanoUsd"] >= ledger.fake.world.bill()["total_nano_usd"]
    assert sum(batch["unclear"] for batch in ledger.batches()) == 1
    assert {one["reservedNanoUsd"] for one in ledger.budget().values()} == {0}


def test_a_refused_key_pauses_the_connection_and_uses_no_attempt(ledger: Ledger) -> None:
    ledger.fake.world.keys["compatible"] = {"fake-key": "main"}
    connection = ledger.connect(apiKey="wrong-key-wrong")
    ids = ledger.enqueue(connection, *(f"q{n}" for n in range(30)))
    ledger.run()
    assert statuses(ledger, ids) == {"queued": 30}
    assert {ledger.read(request_id)["attempt"] for request_id in ids} == {1}
    path = f"/api/v1/llm-connections/{connection}"
    paused = ledger.platform.call("GET", path).json["connection"]
    assert paused["status"] == "paused"
    assert "wrong-key-wrong" not in str(paused)
    assert ledger.fake.world.executions == []
    assert ledger.platform.call("PATCH", path, {"apiKey": "fake-key"}).status == 200
    run_again(ledger)
    assert statuses(ledger, ids) == {"completed": 30}
    assert_settled(ledger)


@pytest.mark.parametrize(
    "counted", [{"prompt_tokens": 0}, {"completion_tokens": 0, "total_tokens": 0}]
)
def test_a_count_of_nothing_is_no_count(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, counted: dict[str, int]
) -> None:
    counts = chat_openai.usage
    monkeypatch.setattr(chat_openai, "usage", lambda outcome: {**counts(outcome), **counted})
    (request_id,) = ledger.enqueue(ledger.connect(), "q")
    ledger.run()
    found = ledger.read(request_id)
    bill = ledger.fake.world.bill()["total_nano_usd"]
    assert (found["status"], found["usage"]["assumed"]) == ("completed", True)
    assert found["costNanoUsd"] > bill > 0


def test_a_step_that_is_killed_is_gone_on_with_and_what_ended_stays(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = ledger.enqueue(ledger.connect(), *(f"q{n}" for n in range(30)))
    asked = 0
    answered = RowEnds.answered

    def killed(self: Any, row: Any, text: Any, answer: Any, **named: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked >= 12:
            raise SystemExit
        return answered(self, row, text, answer, **named)

    with monkeypatch.context() as patched:
        patched.setattr(RowEnds, "answered", killed)
        with pytest.raises(SystemExit):
            ledger.run()
    before = statuses(ledger, ids)
    assert before["completed"] == 11
    run_again(ledger)
    assert statuses(ledger, ids) == {"completed": 30}
    again = Counter(one.fingerprint for one in ledger.fake.world.executions)
    # Eight calls are under way at once; no other row was asked twice.
    assert sum(count - 1 for count in again.values()) <= 8
    # What nobody knows is charged: eight attempts say so, whichever rows were asked.
    attempts = [one for each in ids for one in ledger.read(each)["attempts"]]
    unclear = [one for one in attempts if (one["error"] or {}).get("code") == "outcome_unclear"]
    assert len(unclear) == sum(batch["unclear"] for batch in ledger.batches()) == 8
    assert all(one["costNanoUsd"] > 0 for one in unclear)
    assert {one["reservedNanoUsd"] for one in ledger.budget().values()} == {0}


def test_a_budget_holds_what_killed_steps_may_have_paid(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = ledger.connect()
    ledger.fake.world.answers.answerer = lambda _: "word " * 400
    ids = [f"q{number}" for number in range(4)]
    asked = {"params": {"maxTokens": 200}}
    estimate = {"requests": [row(connection, one, **asked) for one in ids]}
    bound = ledger.platform.call("POST", "/api/v1/llm-estimates", estimate).json["boundNanoUsd"]
    # The limit has room for each row twice.
    limit = {"dayUsd": f"{2 * bound / 1e9:.9f}"}
    ledger.platform.call("PUT", "/api/v1/llm-budget", limit)
    rows = ledger.enqueue(connection, *ids, **asked)
    kills = 0
    answered = RowEnds.answered

    def killed(self: Any, row: Any, text: Any, answer: Any, **named: Any) -> Any:
        nonlocal kills
        if kills < 4:
            kills += 1
            raise KilledError
        return answered(self, row, text, answer, **named)

    with monkeypatch.context() as patched:
        patched.setattr(RowEnds, "answered", killed)
        ledger.run_jobs(hours=12, killed_by=KilledError)
    assert statuses(ledger, rows) == {"completed": 4}
    spent, reserved = ledger.spent_and_reserved("day")
    assert spent == sum(ledger.read(one)["costNanoUsd"] for one in rows)
    assert spent >= ledger.fake.world.bill()["total_nano_usd"]
    assert reserved == 0
    assert kills == 4
    items = boto3.client("dynamodb").scan(TableName="budgets", ConsistentRead=True)["Items"]
    days = [int(one["spent"]["N"]) for one in items if one["sk"]["S"].startswith("day#")]
    assert max(days) <= 2 * bound


def test_a_budget_lets_as_many_rows_go_as_it_has_room_for(ledger: Ledger) -> None:
    connection = ledger.connect()
    estimate = {"requests": [row(connection)]}
    bound = ledger.platform.call("POST", "/api/v1/llm-estimates", estimate).json["boundNanoUsd"]
    limit = bound * 10 + bound // 2
    limits = {"dayUsd": f"{limit / 1e9:.9f}"}
    assert ledger.platform.call("PUT", "/api/v1/llm-budget", limits).status == 200
    ids = ledger.enqueue(connection, *("q" for _ in range(30)))
    (state,) = ledger.started()
    ledger.finish(ledger.step(state))
    # The end of that batch gives back what it did not spend, and has the next one made.
    assert statuses(ledger, ids) == {"completed": 10, "queued": 20}
    day = ledger.budget()["day"]
    assert day["spentNanoUsd"] + day["reservedNanoUsd"] <= limit
    ledger.platform.call("PUT", "/api/v1/llm-budget", {})
    run_again(ledger)
    assert statuses(ledger, ids) == {"completed": 30}
    assert_settled(ledger)


def test_queued_rows_are_canceled_at_once_and_ended_ones_stay(ledger: Ledger) -> None:
    patient = ledger.connect(minRows=10)
    first, second = ledger.enqueue(patient, "a", "b")
    canceled = ledger.platform.call("POST", f"/api/v1/llm-requests/{first}/cancel").json["request"]
    assert canceled["status"] == "canceled"
    run_again(ledger)
    assert statuses(ledger, [first, second]) == {"canceled": 1, "completed": 1}
    again = ledger.platform.call("POST", f"/api/v1/llm-requests/{second}/cancel").json["request"]
    assert again["status"] == "completed"
    assert len(ledger.fake.world.executions) == 1


def test_who_waited_for_others_and_failed_does_not_wait_for_them_again(ledger: Ledger) -> None:
    arm(ledger, "chat_500", times=1)
    (request_id,) = ledger.enqueue(ledger.connect(minRows=10, maxWaitSeconds=3_600), "a")
    ledger.run_jobs()
    found = ledger.read(request_id)
    assert (found["status"], found["attempt"]) == ("completed", 2)
    assert 3_600 <= ledger.passed < 4_500


def test_a_retry_is_a_request_of_its_own(ledger: Ledger) -> None:
    (request_id,) = ledger.enqueue(ledger.connect(), "a")
    path = f"/api/v1/llm-requests/{request_id}/retry"
    assert ledger.platform.call("POST", path).status == 409
    ledger.run()
    (retried,) = ledger.platform.call("POST", path).json["requestIds"]
    assert ledger.platform.call("POST", path).json["requestIds"] == [retried]
    run_again(ledger)
    found = ledger.read(retried)
    assert (found["status"], found["retryOf"]) == ("completed", request_id)
    assert len(ledger.fake.world.executions) == 2
    assert_settled(ledger)


def test_texts_are_deleted_on_request_and_costs_stay(ledger: Ledger) -> None:
    (request_id,) = ledger.enqueue(ledger.connect(), "a secret text " * 3_000)
    ledger.run()
    path = f"/api/v1/llm-requests/{request_id}/content"
    assert ledger.platform.call("DELETE", path).status == 204
    found = ledger.read(request_id)
    assert found["costNanoUsd"] > 0
    assert "input" not in found or found["input"] is None
    assert found.get("rawOutput") is None
    assert ledger.platform.call("POST", f"/api/v1/llm-requests/{request_id}/retry").status == 409


def test_a_revoked_connection_ends_what_is_queued(ledger: Ledger) -> None:
    connection = ledger.connect(minRows=10)
    ids = ledger.enqueue(connection, "a", "b")
    ledger.platform.call("DELETE", f"/api/v1/llm-connections/{connection}")
    run_again(ledger)
    found = [ledger.read(request_id) for request_id in ids]
    assert [(one["status"], one["error"]["code"]) for one in found] == [("error", "account")] * 2
    assert ledger.fake.world.executions == []


def test_what_is_too_late_is_not_asked(ledger: Ledger) -> None:
    connection = ledger.connect(minRows=10, maxWaitSeconds=600)
    soon = (SYSTEM_CLOCK.now() + timedelta(hours=1)).isoformat()
    (request_id,) = ledger.enqueue(connection, "a", completeBy=soon)
    with later(timedelta(hours=2)):
        ledger.sweep()
        ledger.run()
    found = ledger.read(request_id)
    assert (found["status"], found["error"]["code"]) == ("error", "expired")
    assert ledger.fake.world.executions == []
