"""Runs of a task in its first phase: the paid model alone answers, and each call is a row."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from autotune.protocol.limits import MAX_APPRENTICE_INPUT_BYTES
from autotune_platform.budgets.money import MoneyBudgets, Reserved
from autotune_platform.budgets.uses import task_scope
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.apprentice_runs import ANSWER, INPUT, Runs, failed
from tests.support.ledger import later


def test_a_run_that_is_waited_for_has_its_answer(runs: Runs) -> None:
    answer = runs.start(wait=20)

    assert answer.status == 200, answer.text
    run = answer.json["run"]
    assert (run["state"], run["output"], run["input"]) == (
        "answered",
        {"intent": "open_door"},
        INPUT,
    )
    routing = run["routing"]
    assert (routing["phase"], routing["answers"], routing["check"]) == (1, "remote", "none")
    (row_id,) = routing["requestIds"]
    row = runs.ledger.read(row_id)
    assert (row["purpose"], row["rawOutput"]) == ("apprentice", ANSWER)
    assert routing["costNanoUsd"] == row["costNanoUsd"] == runs.bill["total_nano_usd"] > 0
    assert runs.read(run["id"]) == run
    assert runs.messages() == []


def test_a_message_of_the_queue_says_whose_run_it_is(runs: Runs) -> None:
    runs.start()
    (record,) = runs.platform.queued("runs")

    assert record["attributes"]["MessageGroupId"] == runs.platform.me()["organizationId"]


def test_a_run_that_nobody_waits_for_goes_through_the_queue(runs: Runs) -> None:
    answer = runs.start()

    assert answer.status == 202, answer.text
    run = answer.json["run"]
    assert (run["state"], run["routing"]["phase"], run.get("output")) == ("pending", None, None)
    assert runs.work() == []
    ended = runs.read(run["id"])
    assert (ended["state"], ended["output"]) == ("answered", {"intent": "open_door"})
    assert runs.worker.invoked == 0


def test_the_models_are_asked_with_prompt_input_and_schema(runs: Runs) -> None:
    runs.start({"text": '{{text}} & "quotes"'}, wait=20)

    (ask,) = runs.asked
    assert ask.texts == ('What does the customer want? {{text}} & "quotes"',)
    assert ask.system.startswith("You tell intents apart, in JSON.\n\nAnswer with one JSON object")
    assert ask.system.endswith('"required":["intent"]}')
    assert ask.max_tokens == 50


def test_the_same_key_is_the_same_run_and_paid_once(runs: Runs) -> None:
    first = runs.start(wait=20, key="k").json["run"]

    for wait in (0, 20):
        again = runs.start(wait=wait, key="k")
        assert (again.status, again.json["run"]) == (200, first)
    assert runs.start(wait=20, key="other").json["run"]["id"] != first["id"]
    assert runs.bill["executions"] == 2
    other = runs.start({"text": "Let me out!"}, key="k")
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")


def test_a_pending_run_that_is_sent_again_is_handed_over_again(runs: Runs) -> None:
    first = runs.start(key="k").json["run"]
    assert runs.messages() == [first["id"]]  # and lost

    assert runs.start(key="k").status == 202
    assert runs.work() == []
    assert runs.start(key="k").json["run"]["output"] == {"intent": "open_door"}
    assert runs.bill["executions"] == 1


def test_a_run_is_worked_on_once_however_often_it_comes(runs: Runs) -> None:
    run_id = runs.start().json["run"]["id"]

    assert runs.work(run_id, run_id, run_id) == []
    assert runs.work("apr_gone") == []
    assert runs.bill["executions"] == 1
    assert runs.ledger.budget()["day"]["reservedNanoUsd"] == 0


@pytest.mark.parametrize(
    "said",
    [
        "no JSON",
        '{"intent":1}',
        '["intent"]',
        '```json\n["a"]\n```',
        'So:\n```\n{"intent":"a"}\n```',
    ],
)
def test_what_is_no_answer_fails_the_run_and_is_paid(runs: Runs, said: str) -> None:
    runs.say(said)

    answer = runs.start(wait=20, key="k")

    assert (answer.status, answer.json["code"]) == (503, "remote_unavailable")
    run_id = runs.start(key="k").json["detail"].split()[1].rstrip(":")
    run = runs.read(run_id)
    assert (run["state"], run["error"]["code"]) == ("failed", "remote_unavailable")
    assert "output_unreadable" in run["error"]["message"]
    assert run["routing"]["costNanoUsd"] == runs.bill["total_nano_usd"] > 0
    assert runs.bill["executions"] == 1


@pytest.mark.parametrize("opening", ["```json", "```"])
def test_an_answer_within_a_fence_is_the_object_that_it_is(runs: Runs, opening: str) -> None:
    runs.say(f'{opening}\n{{"intent":"fenced"}}\n```\n')

    run = runs.start(wait=20).json["run"]

    assert run["output"] == {"intent": "fenced"}
    assert runs.read(run["id"]) == run


def test_what_passes_is_tried_again_with_a_reservation_of_its_own(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    runs.ledger.fake.world.traps.arm("chat_500", times=1)
    runs.ledger.fake.world.traps.arm("chat_429", times=1)

    run = runs.start(wait=20).json["run"]

    assert run["output"] == {"intent": "open_door"}
    rows = [runs.ledger.read(row_id) for row_id in run["routing"]["requestIds"]]
    assert sorted(row["status"] for row in rows) == ["completed", "error", "error"]
    assert sum(row["costNanoUsd"] for row in rows) == run["routing"]["costNanoUsd"]
    assert runs.ledger.budget()["day"]["reservedNanoUsd"] == 0


def test_no_worker_waits_as_long_as_a_provider_asks_for(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    runs.ledger.fake.world.traps.arm("chat_429", times=1, params={"retry_after": 60})

    answer = runs.start(wait=20)

    assert (answer.status, slept, runs.bill["executions"]) == (202, [], 0)
    run_id = answer.json["run"]["id"]
    assert runs.messages() == []  # not before the minute is over
    assert runs.work(run_id) == []
    assert runs.read(run_id)["output"] == {"intent": "open_door"}


def test_there_are_no_more_attempts_than_the_task_has(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    runs.ledger.fake.world.traps.arm("chat_500", times=None)

    answer = runs.start(wait=20, key="k")

    assert (answer.status, answer.json["code"]) == (503, "remote_unavailable")
    stored = runs.stored(answer.json["detail"].split()[1].rstrip(":"))
    assert stored is not None
    assert (stored.attempts, stored.state) == (3, "failed")


def test_an_answer_that_is_lost_is_charged_in_full_and_asked_for_again(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    runs.ledger.fake.world.traps.arm("chat_answer_lost", times=1)

    run = runs.start(wait=20).json["run"]

    first, second = (runs.ledger.read(row_id) for row_id in run["routing"]["requestIds"])
    assert (first["error"]["code"], second["status"]) == ("outcome_unclear", "completed")
    assert run["routing"]["costNanoUsd"] == first["costNanoUsd"] + second["costNanoUsd"]
    assert runs.bill["total_nano_usd"] < run["routing"]["costNanoUsd"]


def test_without_usage_the_most_is_charged(runs: Runs) -> None:
    runs.ledger.fake.world.traps.arm("no_usage", times=1)

    run = runs.start(wait=20).json["run"]

    assert run["state"] == "answered"
    assert run["routing"]["costNanoUsd"] > runs.bill["total_nano_usd"]


def test_an_exhausted_budget_refuses_until_it_is_reset(runs: Runs) -> None:
    runs.put(budgets={"daily": "0.000001"})

    organization = {"dayUsd": "0.000001"}
    assert runs.platform.call("PUT", "/api/v1/llm-budget", organization).status == 200
    answer = runs.start(wait=20, key="k")

    assert (answer.status, answer.json["code"]) == (402, "budget_exhausted")
    assert answer.json["budget"]["period"] == "day"
    assert "resetsAt" in answer.json["budget"]
    # One call may cost more than that, so that no reset helps.
    assert answer.json["budget"]["exceedsLimit"]
    assert "more than a whole period's limit" in answer.json["detail"]
    again = runs.start(wait=20, key="k")
    assert (again.status, again.json["budget"]) == (402, answer.json["budget"])
    run_id = again.json["detail"].split()[1].rstrip(":")
    said = runs.read(run_id)["error"]["message"]
    assert f"which is over at {answer.json['budget']['resetsAt']}" in said
    run = runs.read(answer.json["detail"].split()[1].rstrip(":"))
    assert (run["state"], run["error"]["code"]) == ("refused", "budget_exhausted")
    assert runs.bill["executions"] == 0


def test_a_connection_that_is_gone_fails_the_run_without_a_call(runs: Runs) -> None:
    path = f"/api/v1/llm-connections/{runs.connection_id}"
    assert runs.platform.call("DELETE", path).status in (200, 204)

    answer = runs.start(wait=20)

    assert (answer.status, answer.json["code"]) == (503, "remote_unavailable")
    assert runs.bill["executions"] == 0


@pytest.mark.parametrize(
    ("value", "field", "expected"),
    [
        ({}, "input.text", "a value"),
        ({"text": 1}, "input.text", "type"),
        ({"text": "a", "more": 1}, "input", "no property"),
        ({"text": "a" * MAX_APPRENTICE_INPUT_BYTES}, "input", "100000 bytes"),
        ([], "input", "dictionary"),
    ],
)
def test_an_input_that_the_task_does_not_take_is_named(
    runs: Runs, value: Any, field: str, expected: str
) -> None:
    answer = runs.start(value, wait=20)

    assert answer.status == 422, answer.text
    assert list(answer.fields) == [field]
    assert expected in answer.fields[field]


def test_what_is_not_there_is_not_found(runs: Runs) -> None:
    assert runs.start(name="nothing").status == 404
    assert runs.start(name="No-Name").status == 404
    other = runs.platform.new_organization("other")
    assert runs.start(api_key=other).status == 404
    run_id = runs.start(wait=20).json["run"]["id"]
    path = f"/api/v1/apprentice/runs/{run_id}"
    assert runs.platform.call("GET", path, api_key=other).status == 404
    assert runs.platform.call("GET", "/api/v1/apprentice/runs/apr_1").status == 404
    assert runs.start(wait=26).status == 422


def test_a_worker_that_fails_is_given_the_run_again(runs: Runs) -> None:
    runs.worker.instead = lambda event: failed(RuntimeError("killed"))

    answer = runs.start(wait=20)

    assert answer.status == 202, answer.text
    assert runs.work() == []
    assert runs.read(answer.json["run"]["id"])["state"] == "answered"
    assert runs.bill["executions"] == 1


def test_a_run_goes_by_the_configuration_that_it_was_started_under(runs: Runs) -> None:
    run_id = runs.start().json["run"]["id"]
    runs.put(systemPrompt="Changed.")

    with later(timedelta(seconds=60)):
        assert runs.work() == []

    assert runs.asked[0].system.startswith("You tell intents apart")
    run = runs.read(run_id)
    assert (run["state"], run["configurationVersion"]) == ("answered", 1)


def test_a_model_whose_price_went_fails_the_run_without_a_call(runs: Runs) -> None:
    path = f"/api/v1/llm-connections/{runs.connection_id}"
    assert runs.platform.call("PATCH", path, {"prices": {}}).status == 200

    answer = runs.start(wait=20)

    assert (answer.status, answer.json["code"]) == (503, "remote_unavailable")
    assert "price" in answer.json["detail"]
    assert runs.bill["executions"] == 0


@pytest.mark.concurrent
def test_of_requests_at_the_same_time_under_one_key_one_is_paid(runs: Runs) -> None:
    runs.start(wait=20)  # what a process reads once is read

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: runs.start(wait=5, key="k"), range(4)))

    assert {answer.status for answer in answers} <= {200, 202}
    assert len({answer.json["run"]["id"] for answer in answers}) == 1
    runs.work()
    assert runs.start(key="k").json["run"]["output"] == {"intent": "open_door"}
    assert runs.bill["executions"] == 2


def test_a_task_whose_paid_calls_are_halted_fails_its_runs_and_says_why(runs: Runs) -> None:
    task = runs.put()
    scope = task_scope(runs.platform.me()["organizationId"], task["id"])
    money = MoneyBudgets(
        table=Table("budgets", clients.dynamodb()), outbox=Table("ledger", clients.dynamodb())
    )
    reserved = money.reserve([scope], 10, lambda _: [])
    assert isinstance(reserved, Reserved)
    end = money.settlement([scope], reserved.periods, reserved=10, spent=11, row_id="llm_dear")
    assert money.table.add_together(end)

    answer = runs.start(wait=20)

    assert (answer.status, answer.json["code"]) == (503, "remote_unavailable"), answer.text
    assert "llm_dear" in answer.text
    assert runs.bill["executions"] == 0
    # Somebody has looked at it.
    runs.put(budgets={"daily": "9"})
    assert runs.start(wait=20).json["run"]["state"] == "answered"
