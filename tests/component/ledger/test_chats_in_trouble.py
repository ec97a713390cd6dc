"""Chat completions where something goes wrong: OpenAI's errors, and no call paid unseen."""

import json
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.ledger.calls import Outcome
from autotune_platform.ledger.connections import pause
from autotune_platform.ledger.models import Connection
from functions.compatible import chat_api
from tests.component.ledger.test_chats import body, row_of, rows
from tests.providers import chat_openai
from tests.support.compatible import Compatible
from tests.support.imports import Imports
from tests.support.killing import Killer
from tests.support.lambdas import Answer
from tests.support.ledger import MODEL, Ledger, later

LONG_KEY = f"sk-{'k' * 30}"


@pytest.fixture
def compatible(ledger: Ledger, imports: Imports) -> Compatible:
    return Compatible(ledger, imports)


def ask(compatible: Compatible, **fields: Any) -> Answer:
    return compatible.ask("POST", "/chat/completions", body(compatible, **fields))


def arm(compatible: Compatible, name: str, **fields: Any) -> None:
    compatible.ledger.fake.world.traps.arm(name, **{"times": 1, **fields})


def settled(compatible: Compatible) -> None:
    """Nothing stays reserved, and what was spent is at least the bill."""
    spent, reserved = compatible.ledger.spent_and_reserved("day")
    assert reserved == 0
    assert spent == sum(one["costNanoUsd"] or 0 for one in rows(compatible))
    assert spent >= compatible.ledger.fake.world.bill()["total_nano_usd"]


def test_a_provider_in_trouble_is_tried_again_by_the_program(compatible: Compatible) -> None:
    arm(compatible, "chat_500")
    answer = ask(compatible)
    assert (answer.status, answer.json["error"]["type"]) == (502, "server_error")
    assert "x-should-retry" not in answer.headers
    assert row_of(compatible)["id"] in answer.json["error"]["message"]
    assert row_of(compatible)["costNanoUsd"] == 0
    assert ask(compatible).status == 200
    settled(compatible)


def test_a_rate_limit_is_passed_through(compatible: Compatible) -> None:
    arm(compatible, "chat_429")
    answer = ask(compatible)
    error = answer.json["error"]
    assert (answer.status, error["code"]) == (429, "rate_limit_exceeded")
    assert (error["type"], row_of(compatible)["costNanoUsd"]) == ("rate_limit_error", 0)
    settled(compatible)


def test_an_answer_that_is_lost_was_perhaps_paid_and_is_not_to_be_repeated(
    compatible: Compatible,
) -> None:
    arm(compatible, "chat_answer_lost")
    answer = ask(compatible)
    assert (answer.status, answer.json["error"]["code"]) == (504, "outcome_unclear")
    assert answer.headers["x-should-retry"] == "false"
    row = row_of(compatible)
    assert row["costNanoUsd"] == row["boundNanoUsd"] > 0
    settled(compatible)


def test_an_answer_without_usage_is_charged_at_its_bound(
    compatible: Compatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_openai, "usage", lambda _: None)
    assert ask(compatible).json["usage"] is None
    row = row_of(compatible)
    assert row["usage"]["assumed"]
    assert row["costNanoUsd"] == row["boundNanoUsd"]


def test_a_model_that_the_provider_refuses_is_an_error_of_the_request(
    compatible: Compatible,
) -> None:
    answer = ask(compatible, temperature=9)
    assert (answer.status, answer.json["error"]["code"]) == (400, "rejected_by_provider")
    assert row_of(compatible)["costNanoUsd"] == 0


def test_no_answer_error_or_row_has_the_key(compatible: Compatible) -> None:
    connection = compatible.ledger.connect(apiKey=LONG_KEY, name="long")
    world = compatible.ledger.fake.world
    world.answers.answerer = lambda _: f"I say {LONG_KEY}"
    token = compatible.new_token(connectionId=connection)["secret"]
    asked = body(compatible, model=f"long/{MODEL}")
    answer = compatible.ask("POST", "/chat/completions", asked, token=token)
    assert answer.json["choices"][0]["message"]["content"].endswith("I say [key]")
    stream = compatible.ask("POST", "/chat/completions", {**asked, "stream": True}, token=token)
    world.keys["compatible"] = {"another": "main"}
    refused = compatible.ask("POST", "/chat/completions", asked, token=token)
    assert (refused.status, refused.json["error"]["code"]) == (502, "provider_account")
    assert refused.headers["x-should-retry"] == "false"
    stored = [compatible.ledger.read(one["id"]) for one in rows(compatible)]
    assert len(stored) == 3
    assert LONG_KEY not in json.dumps([answer.text, stream.text, refused.text, *stored])


def test_an_answer_that_nests_too_deep_is_paid_and_not_passed_through(
    compatible: Compatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = json.loads("[" * 80 + "]" * 80)
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "odd": deep}
    monkeypatch.setattr(chat_openai, "usage", lambda _: usage)
    answer = ask(compatible)
    assert (answer.status, answer.headers["x-should-retry"]) == (502, "false")
    assert row_of(compatible)["error"]["code"] == "result_malformed"
    settled(compatible)


def test_an_answer_that_is_too_large_for_http_is_in_the_ledger(
    compatible: Compatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.ledger.compatible.passing._MOST_ANSWER_BYTES", 100)
    answer = ask(compatible)
    assert (answer.status, answer.json["error"]["code"]) == (502, "answer_too_large")
    assert answer.headers["x-should-retry"] == "false"
    row = row_of(compatible)
    assert f"/api/v1/llm-requests/{row['id']}" in answer.json["error"]["message"]
    assert row["chatResponse"]["choices"]


def test_a_connection_that_is_full_or_paused_refuses(compatible: Compatible) -> None:
    platform = compatible.ledger.platform
    path = f"/api/v1/llm-connections/{compatible.connection_id}"
    assert platform.call("PATCH", path, {"concurrency": 1}).status == 200
    calls = chat_api.parts().row_asking
    connection = calls.connections.get(compatible.connection_id)
    assert connection is not None
    with calls.permit(connection, seconds_left=lambda: 20):
        full = ask(compatible)
    assert (full.status, full.json["error"]["code"]) == (429, "rate_limit_exceeded")
    assert int(full.headers["retry-after"]) >= 1
    assert ask(compatible).status == 200
    assert len(rows(compatible)) == 1
    now = connection.updated_at
    pause(calls.connections, calls.connections.get(connection.id) or connection, "no credit", now)
    refused = ask(compatible)
    assert (refused.status, "no credit" in refused.json["error"]["message"]) == (503, True)
    assert len(rows(compatible)) == 1


def test_a_provider_that_is_down_is_left_alone(compatible: Compatible) -> None:
    arm(compatible, "chat_500", times=100)
    statuses = [ask(compatible).status for _ in range(25)]
    assert statuses[0] == 502
    assert statuses[-1] == 503
    asked = statuses.count(502)
    assert len(rows(compatible)) == asked < 25
    assert statuses == [502] * asked + [503] * (25 - asked)
    settled(compatible)


def test_an_organisation_holds_no_more_functions_than_its_share(compatible: Compatible) -> None:
    waiting = chat_api.parts().chat_places.waiting
    organization = compatible.ledger.platform.me()["organizationId"]
    with ExitStack() as places:
        # As many as an organisation has unless an operator says otherwise; a place is looked for in
        # one lane of several.
        for _ in range(200):
            places.enter_context(waiting.place(organization, 20, most=50))
        answer = ask(compatible)
    assert (answer.status, answer.json["error"]["code"]) == (429, "rate_limit_exceeded")
    assert ask(compatible).status == 200


def test_a_call_that_is_killed_is_charged_only_if_it_may_have_been_asked(
    compatible: Compatible,
) -> None:
    # Each of those killed holds a slot until its time is over.
    path = f"/api/v1/llm-connections/{compatible.connection_id}"
    compatible.ledger.platform.call("PATCH", path, {"concurrency": 64})
    killer = Killer()
    statuses = []
    while statuses[-1:] != [200]:
        killer.kill("before-call", after=len(statuses))
        try:
            statuses.append(ask(compatible).status)
        finally:
            killer.spare()
        assert len(statuses) < 49
    with later(timedelta(minutes=15)):
        compatible.ledger.sweep()
    found = [compatible.ledger.read(one["id"]) for one in rows(compatible)]
    assert {one["status"] for one in found} == {"completed", "error"}
    assert len(found) >= len(compatible.ledger.fake.world.executions) > 1
    settled(compatible)


def test_time_that_is_short_is_the_providers(
    compatible: Compatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[int] = []
    calls = chat_api.parts().row_asking.calls
    passed = calls.pass_on

    def note(connection: Connection, *rest: Any) -> Outcome:
        heard.append(connection.timeout_seconds)
        return passed(connection, *rest)

    monkeypatch.setattr(calls, "pass_on", note)
    monkeypatch.setattr(chat_api, "_seconds_left", lambda: 7.5)
    assert ask(compatible).status == 200
    assert heard == [7]
