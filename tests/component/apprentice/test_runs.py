"""Runs of a task in its first phase: the paid model alone answers, and each call is a row."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from botocore.exceptions import ReadTimeoutError

from autotune.protocol.limits import MAX_APPRENTICE_INPUT_BYTES
from autotune_platform.apprentice.runs.items import run_from
from autotune_platform.apprentice.runs.starting import WORKER_SECONDS
from autotune_platform.budgets.money import MoneyBudgets, Reserved
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.uses import task_scope
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.apprentice_runs import FoldingEnvironment
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.storage.table import Table
from autotune_platform.wiring.apprentice_folding import FoldingParts
from functions.apprentice import runs_api
from tests.component.access.test_limits import caller_of, limit
from tests.support.apprentice_runs import ANSWER, INPUT, WORKER, Runs, failed
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.ledger import later
from tests.support.tables import stream_records


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


def test_a_worker_that_does_not_answer_in_time_goes_on(runs: Runs) -> None:
    def late(event: dict[str, Any]) -> dict[str, Any]:
        raise ReadTimeoutError(endpoint_url="lambda")

    runs.worker.instead = late
    answer = runs.start(wait=20, key="k")

    assert answer.status == 202, answer.text
    run_id = answer.json["run"]["id"]
    assert runs.messages() == [run_id]
    assert runs.work(run_id) == []
    assert runs.read(run_id)["state"] == "answered"


def test_a_worker_that_goes_on_keeps_the_place_of_who_waited(runs: Runs) -> None:
    def late(event: dict[str, Any]) -> dict[str, Any]:
        time.sleep(1)
        raise ReadTimeoutError(endpoint_url="lambda")

    runs.worker.instead = late
    limit(runs.platform, waitingRequests=1)

    assert runs.start(wait=1).status == 202
    assert runs.worker.invoked == 1
    # Whoever waits for a second at a time has no second worker.
    queued = runs.start(wait=1)
    assert (queued.status, runs.worker.invoked) == (202, 1)
    assert queued.json["run"]["id"] in runs.messages()
    with later(timedelta(seconds=WORKER_SECONDS - 20)):
        assert runs.start(wait=1).status == 202
    assert runs.worker.invoked == 1


def test_a_worker_that_goes_on_gives_the_place_back_when_it_ends(runs: Runs) -> None:
    handed: list[dict[str, Any]] = []

    def late(event: dict[str, Any]) -> dict[str, Any]:
        handed.append(event)
        time.sleep(1)
        raise ReadTimeoutError(endpoint_url="lambda")

    runs.worker.instead = late
    limit(runs.platform, waitingRequests=1)
    first = runs.start(wait=1)

    worked = handler(WORKER)(handed[0], LambdaContext(299))
    assert worked["run"]["id"] == first.json["run"]["id"]
    runs.worker.instead = None
    assert (runs.start(wait=1).status, runs.worker.invoked) == (200, 2)


def test_a_worker_that_is_in_time_leaves_the_place_to_who_waits(runs: Runs) -> None:
    released: list[Any] = []
    with patch.object(Slots, "release", lambda *given: released.append(given)):
        assert runs.start(wait=20).status == 200
    assert len(released) == 1  # by the API


@pytest.fixture
def few(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Four runs are waited for at once in an installation."""
    monkeypatch.setenv("WAITING_RUNS", "4")
    forget_processes()
    return runs


def tenant(runs: Runs, name: str) -> Any:
    """Return who calls for a new organisation."""
    return caller_of(runs.platform, runs.platform.new_organization(name), waiting_requests=50)


def hold(places: ExitStack, caller: Any, times: int) -> list[float]:
    """Have an organisation wait for so many runs at once; return how long each may."""
    shares = runs_api.parts().waiting
    return [places.enter_context(shares.share(caller, 20)) for _ in range(times)]


def test_so_many_runs_of_all_organisations_are_waited_for_and_no_other_is_lost(few: Runs) -> None:
    with ExitStack() as places:
        assert hold(places, tenant(few, "second"), 3) == [20, 20, 0]  # half of them at most
        assert hold(places, tenant(few, "third"), 2) == [20, 20]
        answer = few.start(wait=20)
        assert (answer.status, few.worker.invoked) == (202, 0)
    assert few.work() == []
    assert few.read(answer.json["run"]["id"])["state"] == "answered"
    assert few.start(wait=20).status == 200  # all places were given back


def test_a_worker_that_goes_on_keeps_a_place_of_all_until_it_ends(few: Runs) -> None:
    handed: list[dict[str, Any]] = []

    def late(event: dict[str, Any]) -> dict[str, Any]:
        handed.append(event)
        time.sleep(1)
        raise ReadTimeoutError(endpoint_url="lambda")

    few.worker.instead = late
    second, third = tenant(few, "second"), tenant(few, "third")
    assert few.start(wait=1).status == 202
    with ExitStack() as places:
        assert [hold(places, one, 2) for one in (second, third)] == [[20, 20], [20, 0]]
    handler(WORKER)(handed[0], LambdaContext(299))
    with ExitStack() as places:
        assert [hold(places, one, 2) for one in (second, third)] == [[20, 20], [20, 20]]


def test_places_that_nobody_gives_back_are_free_when_the_worker_has_ended(few: Runs) -> None:
    def killed(event: dict[str, Any]) -> dict[str, Any]:
        time.sleep(1)
        raise ReadTimeoutError(endpoint_url="lambda")

    few.worker.instead = killed
    callers = [tenant(few, "second"), tenant(few, "third")]
    assert few.start(wait=1).status == 202
    for seconds, free in ((WORKER_SECONDS - 20, 3), (WORKER_SECONDS + 20, 4)):
        with later(timedelta(seconds=seconds)), ExitStack() as places:
            held = [one for caller in callers for one in hold(places, caller, 2)]
            assert held.count(20) == free


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


def test_of_requests_at_the_same_time_under_one_key_one_is_paid(runs: Runs) -> None:
    runs.start(wait=20)  # what a process reads once is read

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: runs.start(wait=5, key="k"), range(4)))

    assert {answer.status for answer in answers} <= {200, 202}
    assert len({answer.json["run"]["id"] for answer in answers}) == 1
    runs.work()
    assert runs.start(key="k").json["run"]["output"] == {"intent": "open_door"}
    assert runs.bill["executions"] == 2


def test_runs_are_listed_by_day_newest_first_and_by_state(runs: Runs) -> None:
    first = runs.start(wait=20).json["run"]["id"]
    runs.say("no JSON")
    runs.start(wait=20)
    last = runs.start().json["run"]["id"]
    records = {"Records": stream_records("apprentice")}
    handler("functions.apprentice.follow_runs")(records, LambdaContext())

    listed = _list(runs)
    assert (listed[0]["id"], listed[-1]["id"]) == (last, first)
    assert [one["state"] for one in listed] == ["pending", "failed", "answered"]
    assert all("input" not in one or one["input"] is None for one in listed)
    assert [one["id"] for one in _list(runs, state="answered")] == [first]
    assert _list(runs, day="2020-01-01") == []
    path = "/api/v1/apprentice/tasks/intents/runs"
    page = runs.platform.call("GET", path, query={"limit": 2}).json
    rest = runs.platform.call("GET", path, query={"nextToken": page["nextToken"]}).json
    assert [*page["runs"], *rest["runs"]] == listed
    foreign = encode_cursor("2020-01-01T00:00:00.000+00:00#apr_1")
    for query in (
        {"nextToken": "x"},
        {"nextToken": foreign},
        {"state": "lost"},
        {"day": "today"},
        {"page": 1},
        {"from": "2026-01-02", "to": "2026-01-01"},
        {"from": "2026-01-01", "to": "2026-04-03"},
        {"day": "2026-01-01", "from": "2026-01-01"},
        {"from": "2026-01-01", "to": "2026-01-02", "nextToken": foreign},
    ):
        assert runs.platform.call("GET", path, query=query).status == 422, query


def test_runs_of_several_days_are_one_list(runs: Runs) -> None:
    ids = [runs.start().json["run"]["id"] for _ in range(7)]
    table = Table("apprentice", clients.dynamodb())
    # Two today, none on the day before, three on the one before that, and two a month ago.
    today = datetime.now(UTC)
    made = []
    for run_id, ago in zip(ids, (0, 0, 2, 2, 2, 30, 30), strict=True):
        item = table.get(run_id, "run")
        assert item is not None
        at = today - timedelta(days=ago, milliseconds=len(made))
        made.append(run_id)
        table.put({**item, "created_at": at.isoformat()})
    new = [table.get(run_id, "run") for run_id in ids]
    parts = FoldingParts(FoldingEnvironment.parse())
    parts.run_folding.count(run_from(item) for item in new if item is not None)

    def page(**query: Any) -> tuple[list[str], str | None]:
        path = "/api/v1/apprentice/tasks/intents/runs"
        answer = runs.platform.call("GET", path, query=query)
        assert answer.status == 200, answer.text
        return [one["id"] for one in answer.json["runs"]], answer.json.get("nextToken")

    days = {"from": f"{today - timedelta(days=40):%Y-%m-%d}"}
    assert page(**days) == (ids, None)
    assert page(**days, to=f"{today - timedelta(days=1):%Y-%m-%d}") == (ids[2:], None)
    assert page(to=f"{today - timedelta(days=2):%Y-%m-%d}") == (ids[2:5], None)
    for size in range(1, 8):
        found, token = page(**days, limit=size)
        assert len(found) == size
        while token is not None:
            more, token = page(**days, limit=size, nextToken=token)
            assert more or token is None
            found += more
        assert found == ids


def _list(runs: Runs, **query: Any) -> list[dict[str, Any]]:
    path = "/api/v1/apprentice/tasks/intents/runs"
    answer = runs.platform.call("GET", path, query=query)
    assert answer.status == 200, answer.text
    found: list[dict[str, Any]] = answer.json["runs"]
    return found


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
