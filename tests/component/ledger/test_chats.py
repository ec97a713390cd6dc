"""Chat completions in OpenAI's words: passed through to a connection, each a paid row."""

import json
import random
from typing import Any

import pytest

from tests.component.ledger import test_jobs
from tests.support.compatible import Compatible
from tests.support.exports import export
from tests.support.imports import Imports
from tests.support.ledger import MODEL, Ledger

TOOL = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How is it in {{town}}?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "wet é"}]},
]


@pytest.fixture
def compatible(ledger: Ledger, imports: Imports) -> Compatible:
    return Compatible(ledger, imports)


def body(compatible: Compatible, **fields: Any) -> dict[str, Any]:
    return {"model": f"{compatible.connection_id}/{MODEL}", "messages": MESSAGES, **fields}


def row_of(compatible: Compatible) -> dict[str, Any]:
    (one,) = rows(compatible)
    return compatible.ledger.read(one["id"])


def rows(compatible: Compatible) -> list[dict[str, Any]]:
    found = compatible.ledger.platform.call("GET", "/api/v1/llm-requests").json["requests"]
    assert isinstance(found, list)
    return found


def test_an_answer_comes_as_the_provider_gave_it_and_is_paid(compatible: Compatible) -> None:
    compatible.ledger.fake.world.answers.answerer = lambda ask: f"re: {ask.prompt}"
    asked = body(compatible, max_tokens=50, tools=[TOOL], temperature=0.5, metadata={"a": "b"})
    answer = compatible.ask("POST", "/chat/completions", asked)
    assert answer.status == 200, answer.text
    found = answer.json
    assert found["object"] == "chat.completion"
    assert found["choices"][0]["message"]["content"].endswith("wet é")
    row = row_of(compatible)
    assert (row["status"], row["purpose"]) == ("completed", "conversation")
    assert answer.headers["x-autotune-llm-request"] == row["id"]
    # What the provider sent, and was sent, is stored as it is.
    assert row["chatResponse"] == found
    sent = {name: value for name, value in asked.items() if name not in ("model", "max_tokens")}
    assert row["chatRequest"] == sent
    assert row["params"]["maxTokens"] == 50
    assert row["rawOutput"] == found["choices"][0]["message"]["content"]
    bill = compatible.ledger.fake.world.bill()["total_nano_usd"]
    assert row["costNanoUsd"] == bill > 0
    assert row["usage"]["outputTokens"] == found["usage"]["completion_tokens"]
    assert compatible.ledger.spent_and_reserved("day") == (bill, 0)


def test_its_bound_counts_every_byte_that_is_sent(compatible: Compatible) -> None:
    compatible.ask("POST", "/chat/completions", body(compatible, max_tokens=10, tools=[TOOL]))
    row = row_of(compatible)
    found = json.dumps([MESSAGES, TOOL], ensure_ascii=False).encode()
    least = len(found) + 6 * 128  # messages, the part of one, and the tool
    assert row["boundNanoUsd"] >= least * 100 + 10 * 400


@pytest.mark.parametrize("named", ["id", "name"])
def test_a_connection_is_named_by_id_or_name(compatible: Compatible, named: str) -> None:
    connection = compatible.connection_id if named == "id" else "fake"
    asked = body(compatible, model=f"{connection}/{MODEL}")
    assert compatible.ask("POST", "/chat/completions", asked).status == 200


@pytest.mark.parametrize("model", [MODEL, "other/small", "llc_x/", "fake/"])
def test_another_model_is_not_found(compatible: Compatible, model: str) -> None:
    answer = compatible.ask("POST", "/chat/completions", body(compatible, model=model))
    error = answer.json["error"]
    assert (answer.status, error["code"], error["param"]) == (404, "model_not_found", "model")
    assert rows(compatible) == []


def test_a_provider_without_this_wire_is_refused_and_others_are_named(
    compatible: Compatible,
) -> None:
    connection = test_jobs.connect(compatible.ledger, "anthropic")
    token = compatible.new_token(connectionId=connection)["secret"]
    asked = body(compatible, model=f"{connection}/{test_jobs.MODELS['anthropic']}")
    answer = compatible.ask("POST", "/chat/completions", asked, token=token)
    assert answer.status == 400
    assert "openai, azure, openrouter, simulated" in answer.json["error"]["message"]
    assert compatible.ask("GET", "/models", token=token).json["data"] == []
    assert rows(compatible) == []


@pytest.mark.parametrize("provider", ["openai", "azure", "openrouter"])
def test_each_provider_with_this_wire_answers(compatible: Compatible, provider: str) -> None:
    connection = test_jobs.connect(compatible.ledger, provider)
    token = compatible.new_token(connectionId=connection)["secret"]
    model = test_jobs.MODELS[provider]
    asked = body(compatible, model=f"{connection}/{model}", tools=[TOOL], max_tokens=60)
    answer = compatible.ask("POST", "/chat/completions", asked, token=token)
    assert answer.status == 200, answer.text
    (execution,) = compatible.ledger.fake.world.executions
    assert answer.json["usage"]["completion_tokens"] == execution.output_tokens
    models = compatible.ask("GET", "/models", token=token).json["data"]
    assert any(one["id"].endswith(f"/{model}") for one in models)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": "q"}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, None),
        ({"messages": [{"content": "q"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
        ({"messages": [3]}, "messages[0]"),
        ({"n": 2}, "n"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"max_tokens": 1, "max_completion_tokens": 2}, "max_tokens"),
        ({"service_tier": "priority"}, "service_tier"),
        ({"models": ["dear"]}, "models"),
        ({"provider": {"order": ["dear"]}}, "provider.order"),
        ({"options": {"num_predict": 9}}, "options.num_predict"),
        ({"best_of": 9}, "best_of"),
        ({"modalities": ["audio"]}, "modalities"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tools": {"a": 1}}, "tools"),
        ({"model": 3}, "model"),
    ],
)
def test_what_cannot_be_bounded_or_read_is_refused_by_name(
    compatible: Compatible, fields: dict[str, Any], param: str | None
) -> None:
    answer = compatible.ask("POST", "/chat/completions", body(compatible, **fields))
    assert answer.status == 400, answer.text
    assert answer.json["error"]["param"] == (param or "messages[0].content[0].type")
    assert rows(compatible) == []
    assert compatible.ledger.fake.world.executions == []


@pytest.mark.parametrize("sent", [b"{", b"[]", b'{"a": NaN}', b'{"model": "\\ud800"}', b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(compatible: Compatible, sent: bytes) -> None:
    answer = compatible.ask("POST", "/chat/completions", sent)
    assert (answer.status, answer.json["error"]["param"]) == (400, "body")


def test_a_body_that_nests_too_deep_or_is_too_large_is_refused(compatible: Compatible) -> None:
    deep = json.loads("[" * 70 + "]" * 70)
    assert compatible.ask("POST", "/chat/completions", body(compatible, user=deep)).status == 400
    large = compatible.ask("POST", "/chat/completions", b'{"a": "' + b"x" * 5_000_000 + b'"}')
    assert (large.status, "files" in large.json["error"]["message"]) == (413, False)


def test_who_may_only_read_lists_models_and_asks_nothing(compatible: Compatible) -> None:
    reader = compatible.new_token(scopes=["read"])["secret"]
    writer = compatible.new_token(scopes=["write"])["secret"]
    asked = body(compatible)
    assert compatible.ask("POST", "/chat/completions", asked, token=reader).status == 403
    assert compatible.ask("GET", "/models", token=writer).status == 403
    assert compatible.ask("POST", "/chat/completions", asked, token="sk-1").status == 401
    found = compatible.ask("GET", "/models", token=reader).json
    assert [one["id"] for one in found["data"]] == [f"fake/{MODEL}"]
    assert found["data"][0]["object"] == "model"


def test_a_token_of_a_connection_reaches_no_other(compatible: Compatible) -> None:
    other = compatible.ledger.connect(name="other")
    asked = body(compatible, model=f"{other}/{MODEL}")
    assert compatible.ask("POST", "/chat/completions", asked).status == 404
    compatible.ledger.platform.call("DELETE", f"/api/v1/llm-connections/{compatible.connection_id}")
    assert compatible.ask("POST", "/chat/completions", body(compatible)).status == 422


def test_a_stream_is_the_whole_answer_in_events(compatible: Compatible) -> None:
    compatible.ledger.fake.world.answers.answerer = lambda _: "One, é."
    asked = body(compatible, stream=True, stream_options={"include_usage": True})
    answer = compatible.ask("POST", "/chat/completions", asked)
    assert answer.headers["content-type"] == "text/event-stream"
    *events, done, rest = answer.text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    chunks = [json.loads(one.removeprefix("data: ")) for one in events]
    assert {one["object"] for one in chunks} == {"chat.completion.chunk"}
    first, last, usage = chunks
    assert "One, é." in first["choices"][0]["delta"]["content"]
    assert first["choices"][0]["delta"]["role"] == "assistant"
    assert (last["choices"][0]["delta"], last["choices"][0]["finish_reason"]) == ({}, "stop")
    assert (usage["choices"], first["usage"]) == ([], None)
    assert usage["usage"] == row_of(compatible)["chatResponse"]["usage"]
    assert "stream" not in row_of(compatible)["chatRequest"]
    plain = compatible.ask("POST", "/chat/completions", body(compatible, stream=True)).text
    assert '"usage"' not in plain


def test_a_budget_without_room_asks_nothing(compatible: Compatible) -> None:
    compatible.ledger.platform.call("PUT", "/api/v1/llm-budget", {"dayUsd": "0.000001"})
    answer = compatible.ask("POST", "/chat/completions", body(compatible))
    assert (answer.status, answer.json["error"]["code"]) == (402, "insufficient_quota")
    assert rows(compatible) == []
    assert compatible.ledger.fake.world.executions == []


def test_an_unpriced_model_is_refused(compatible: Compatible) -> None:
    asked = body(compatible, model=f"{compatible.connection_id}/unheard-of")
    answer = compatible.ask("POST", "/chat/completions", asked)
    assert (answer.status, answer.json["error"]["param"]) == (422, "model")


def test_what_is_stored_goes_with_the_tokens_retention(compatible: Compatible) -> None:
    token = compatible.new_token(retentionDays=3)["secret"]
    compatible.ask("POST", "/chat/completions", body(compatible), token=token)
    assert row_of(compatible)["expiresAt"]


def test_long_texts_are_stored_exported_and_deleted(compatible: Compatible) -> None:
    long = random.Random(1).randbytes(20_000).hex()
    asked = body(compatible, messages=[{"role": "user", "content": long}])
    assert compatible.ask("POST", "/chat/completions", asked).status == 200
    row = row_of(compatible)
    assert row["chatRequest"]["messages"] == asked["messages"]
    (record,) = export(compatible.ledger.platform, shape="llm_requests").records
    assert record["chatRequest"] == row["chatRequest"]
    assert record["chatResponse"] == row["chatResponse"]
    path = f"/api/v1/llm-requests/{row['id']}"
    assert compatible.ledger.platform.call("POST", f"{path}/retry").status == 409
    assert compatible.ledger.platform.call("DELETE", f"{path}/content").status == 204
    erased = row_of(compatible)
    assert (erased["chatRequest"], erased["chatResponse"]) == (None, None)


def test_a_deck_and_labels_are_named_in_headers(compatible: Compatible) -> None:
    deck = "dck_00000000000000000000000000"
    headers = {"x-autotune-deck": deck, "x-autotune-labels": json.dumps({"team": "x"})}
    answer = compatible.ask("POST", "/chat/completions", body(compatible), headers=headers)
    assert answer.status == 200, answer.text
    row = row_of(compatible)
    assert (row["deckId"], row["labels"]) == (deck, {"team": "x"})
    for name, value in [
        ("x-autotune-deck", "dck_1"),
        ("x-autotune-labels", "team=x"),
        ("x-autotune-labels", '{"team": 3}'),
        ("x-autotune-labels", "[" * 9_000),
    ]:
        wrong = compatible.ask("POST", "/chat/completions", body(compatible), headers={name: value})
        assert wrong.status == 400
        assert wrong.json["error"]["param"].lower() == name
