"""Chat completions of a task, as programs ask them that know OpenAI's API."""

import json
import time
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from autotune_platform.apprentice.chats import service
from functions.compatible import chat_api
from tests.component.access.test_limits import caller_of, limit
from tests.support.apprentice import INPUT_SCHEMA, configuration
from tests.support.apprentice_runs import Runs
from tests.support.lambdas import Answer, forget_processes
from tests.support.ledger import later
from tests.support.task_chats import MODEL, QUESTION, TaskChats

CONTENT = '{"intent":"open_door"}'
TWO = {
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["text"],
    },
    "promptTemplate": "What does the customer want? {{text}} {{limit}}",
}


@pytest.fixture
def chats(runs: Runs) -> TaskChats:
    return TaskChats(runs)


def told(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["error"]["code"]


def refused_by(answer: Answer) -> str:
    assert answer.status == 400, answer.text
    assert answer.json["error"]["type"] == "invalid_request_error"
    param: str = answer.json["error"]["param"]
    return param


def too_late(event: dict[str, Any]) -> dict[str, Any]:
    raise ReadTimeoutError(endpoint_url="lambda")


def test_a_chat_is_a_run_like_others(chats: TaskChats) -> None:
    answer = chats.ask()

    assert answer.status == 200, answer.text
    run = chats.runs.read(answer.headers["x-autotune-run"])
    assert (run["state"], run["input"], run["output"]) == (
        "answered",
        {"text": QUESTION},
        {"intent": "open_door"},
    )
    assert run["routing"]["costNanoUsd"] == chats.runs.bill["total_nano_usd"] > 0
    found = answer.json
    assert (found["id"], found["model"], found["object"]) == (run["id"], MODEL, "chat.completion")
    assert found["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": CONTENT, "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]
    # A token for each byte, and 128 for the message.
    assert found["usage"] == {
        "prompt_tokens": len(QUESTION) + 128,
        "completion_tokens": len(CONTENT),
        "total_tokens": len(QUESTION) + 128 + len(CONTENT),
    }


def test_nothing_in_an_answer_is_of_the_provider(chats: TaskChats) -> None:
    answer = chats.ask()

    assert set(answer.json) == {"id", "object", "created", "model", "choices", "usage"}
    shown = json.dumps({**answer.headers, "body": answer.text})
    for word in ("llm_", "llc_", "remote", "local", "phase", "small"):
        assert word not in shown


def test_a_stream_is_the_whole_answer_in_events(chats: TaskChats) -> None:
    answer = chats.ask(stream=True, stream_options={"include_usage": True})

    assert answer.headers["content-type"] == "text/event-stream"
    *events, done, rest = answer.text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    first, last, usage = (json.loads(one.removeprefix("data: ")) for one in events)
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": CONTENT}
    assert (last["choices"][0]["delta"], last["choices"][0]["finish_reason"]) == ({}, "stop")
    assert (usage["choices"], usage["usage"]["completion_tokens"]) == ([], len(CONTENT))
    assert {one["model"] for one in (first, last, usage)} == {MODEL}


def test_several_properties_come_as_json_and_what_is_wrong_in_them_is_named(
    chats: TaskChats,
) -> None:
    chats.runs.put(**TWO)

    with later(timedelta(seconds=60)):
        answer = chats.ask('{"text": "a", "limit": 3}')
        assert answer.status == 200, answer.text
        assert chats.runs.asked[-1].texts[0].endswith("a 3")
        assert refused_by(chats.ask("a")) == "messages[0].content"
        assert refused_by(chats.ask('{"limit": 3}')) == "messages[0].content.text"
        wrong = chats.ask('{"text": "a", "limit": "3"}')
        assert refused_by(wrong) == "messages[0].content.limit"
    assert chats.runs.bill["executions"] == 1


def test_the_tasks_own_system_prompt_may_stand_before_the_input(chats: TaskChats) -> None:
    prompt = {"role": "system", "content": configuration("llc_1")["systemPrompt"]}
    user = {"role": "user", "content": QUESTION}

    assert chats.ask(messages=[prompt, user]).json["usage"]["prompt_tokens"] > 2 * 128
    other = chats.ask(messages=[{"role": "system", "content": "Be brief."}, user])
    assert refused_by(other) == "messages[0].content"
    assert refused_by(chats.ask(messages=[user, user])) == "messages[0]"
    for role in ({}, [], 1):
        first = {"role": role, "content": QUESTION}
        assert refused_by(chats.ask(messages=[first, user])) == "messages[0]"
    assert chats.runs.bill["executions"] == 1


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"logprobs": True}, "logprobs"),
        ({"temperature": 0.2}, "temperature"),
        ({"max_tokens": 10}, "max_tokens"),
    ],
)
def test_what_no_task_heeds_is_refused_by_name(
    chats: TaskChats, fields: dict[str, Any], param: str
) -> None:
    assert refused_by(chats.ask(**fields)) == param
    assert chats.runs.bill["executions"] == 0


@pytest.mark.parametrize("header", ["x-autotune-deck", "x-autotune-labels"])
def test_headers_of_chats_of_connections_are_refused(chats: TaskChats, header: str) -> None:
    assert refused_by(chats.ask(headers={header: "{}"})) == header


def test_a_token_reaches_its_own_task_alone(chats: TaskChats) -> None:
    chats.runs.put("language")
    connection = chats.runs.connection_id

    for model in ("apprentice/language", "intents", f"{connection}/small", "gpt-5"):
        answer = chats.ask(model=model)
        assert (*told(answer), answer.json["error"]["param"]) == (404, "model_not_found", "model")
        assert MODEL in answer.json["error"]["message"]
    (model,) = chats.models().json["data"]
    assert (model["id"], model["object"], model["owned_by"]) == (MODEL, "model", "apprentice")
    assert chats.runs.bill["executions"] == 0


def test_scopes_expiry_and_revocation_hold(chats: TaskChats) -> None:
    reader, writer = chats.new_token(scopes=["read"]), chats.new_token(scopes=["write"])

    assert chats.ask(token=reader).status == 403
    assert chats.models(token=reader).status == 200
    assert chats.models(token=writer).status == 403
    assert chats.ask(token=writer).status == 200
    token_id = chats.token.partition("-")[0]
    chats.platform.call("DELETE", f"/api/v1/llm-tokens/{token_id}")
    assert told(chats.ask()) == (401, "invalid_api_key")


def test_a_deleted_task_ends_its_tokens_at_once_and_for_good(chats: TaskChats) -> None:
    assert chats.ask().status == 200
    path = "/api/v1/apprentice/tasks/intents"
    assert chats.platform.call("DELETE", path).status == 204

    assert told(chats.ask()) == (401, "invalid_api_key")
    assert chats.models().status == 401
    chats.runs.put()
    assert told(chats.ask()) == (401, "invalid_api_key")


def test_an_exhausted_budget_is_a_quota_that_the_package_knows(chats: TaskChats) -> None:
    chats.platform.call("PUT", "/api/v1/llm-budget", {"dayUsd": "0.000001"})

    answer = chats.ask(key="k")

    error = answer.json["error"]
    assert (*told(answer), error["type"]) == (429, "insufficient_quota", "insufficient_quota")
    assert answer.headers["x-should-retry"] == "false"
    assert int(answer.headers["retry-after"]) > 0
    assert "T00:00:00Z" in error["message"]
    assert told(chats.ask(key="k")) == (429, "insufficient_quota")
    assert chats.runs.bill["executions"] == 0


def test_a_tasks_own_budget_is_such_a_quota(chats: TaskChats) -> None:
    chats.runs.put(budgets={"daily": "0.000001"})

    answer = chats.ask()

    assert told(answer) == (429, "insufficient_quota")
    assert chats.runs.bill["executions"] == 0


def test_a_paid_model_that_fails_is_503_without_its_words(
    chats: TaskChats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    chats.runs.ledger.fake.world.traps.arm("chat_500", times=None)

    answer = chats.ask()

    assert told(answer) == (503, "no_model_answered")
    assert answer.headers["x-should-retry"] == "false"
    assert "paid" not in answer.text
    assert "provider" not in answer.text


def test_the_same_key_has_the_same_answer_and_is_paid_once(chats: TaskChats) -> None:
    first = chats.ask(key="k")
    again = chats.ask(key="k")

    assert (again.text, again.headers["x-autotune-run"]) == (
        first.text,
        first.headers["x-autotune-run"],
    )
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert chats.ask(key="k", stream=True).headers["content-type"] == "text/event-stream"
    assert told(chats.ask("Let me out!", key="k")) == (422, "idempotency_key_reused")
    # Runs that are started in another way have keys of their own.
    assert chats.runs.start(wait=20, key="k").json["run"]["id"] != first.json["id"]
    assert chats.runs.bill["executions"] == 2


def test_what_takes_longer_goes_on_and_is_answered_later(chats: TaskChats) -> None:
    chats.runs.worker.instead = too_late

    first = chats.ask(key="k")

    assert told(first) == (503, "run_goes_on")
    assert int(first.headers["retry-after"]) > 0
    assert "x-should-retry" not in first.headers
    assert chats.runs.work() == []
    again = chats.ask(key="k")
    assert (again.status, again.json["choices"][0]["message"]["content"]) == (200, CONTENT)
    assert again.headers["idempotent-replayed"] == "true"
    assert chats.runs.bill["executions"] == 1


def test_a_worker_that_goes_on_keeps_the_place_of_who_waited(
    chats: TaskChats, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(event: dict[str, Any]) -> dict[str, Any]:
        time.sleep(1)
        return too_late(event)

    monkeypatch.setattr(service, "MAX_APPRENTICE_WAIT_SECONDS", 1)
    limit(chats.runs.platform, waitingRequests=1)
    chats.runs.worker.instead = late

    assert told(chats.ask()) == (504, "run_goes_on_alone")
    assert chats.ask().status == 429
    assert chats.runs.worker.invoked == 1


def test_chats_of_all_organisations_are_bounded_while_their_workers_go_on(
    chats: TaskChats, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(event: dict[str, Any]) -> dict[str, Any]:
        time.sleep(1)
        return too_late(event)

    monkeypatch.setattr(service, "MAX_APPRENTICE_WAIT_SECONDS", 1)
    monkeypatch.setenv("CHAT_FUNCTIONS", "4")
    forget_processes()
    chats.runs.worker.instead = late
    assert told(chats.ask()) == (504, "run_goes_on_alone")

    places = chat_api.parts().task_chat_places
    with ExitStack() as held:
        for name in ("second", "third", "fourth"):
            other = caller_of(chats.platform, chats.platform.new_organization(name))
            held.enter_context(places.place(other, 20))
        full = chats.ask()
    assert told(full) == (429, "rate_limit_exceeded")
    # The openai package asks again by itself, after as long as this says.
    assert (full.headers["retry-after"], "x-should-retry" in full.headers) == ("2", False)
    assert "4 of all organizations" in full.json["error"]["message"]
    assert chats.runs.worker.invoked == 1
    chats.runs.worker.instead = None
    assert chats.ask().status == 200


def test_what_takes_longer_without_a_key_is_not_to_be_sent_again(chats: TaskChats) -> None:
    chats.runs.worker.instead = too_late

    answer = chats.ask()

    assert told(answer) == (504, "run_goes_on_alone")
    assert answer.headers["x-should-retry"] == "false"
    (run_id,) = chats.runs.messages()
    assert f"/api/v1/apprentice/runs/{run_id}" in answer.json["error"]["message"]


def test_a_deleted_answer_is_not_asked_for_again(chats: TaskChats) -> None:
    run = chats.runs.read(chats.ask(key="k").json["id"])
    (row_id,) = run["routing"]["requestIds"]
    path = f"/api/v1/llm-requests/{row_id}/content"
    assert chats.platform.call("DELETE", path).status == 204

    again = chats.ask(key="k")

    assert told(again) == (409, "answer_deleted")
    assert again.headers["x-should-retry"] == "false"


def test_a_chat_of_a_task_is_no_sample_and_no_conversation(chats: TaskChats) -> None:
    chats.ask()

    (row,) = chats.platform.call("GET", "/api/v1/llm-requests").json["requests"]
    assert row["purpose"] == "apprentice"


def test_the_input_schema_is_of_one_text(chats: TaskChats) -> None:
    assert list(INPUT_SCHEMA["properties"]) == ["text"]
    answer = chats.ask('{"text": "Let me in!"}')
    assert chats.runs.read(answer.json["id"])["input"] == {"text": '{"text": "Let me in!"}'}


def test_half_a_character_is_no_answer(chats: TaskChats) -> None:
    chats.runs.say('{"intent":"\\ud83d"}')

    assert told(chats.ask()) == (503, "no_model_answered")

    chats.runs.say('{"intent":"\\ud83d\\ude00"}')
    assert json.loads(chats.ask().json["choices"][0]["message"]["content"]) == {
        "intent": "\U0001f600"
    }
