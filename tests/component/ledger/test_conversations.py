"""Conversations of several turns: one paid call each, stored whole, and never enqueued."""

import random
from typing import Any

import pytest

from autotune.protocol.llm_messages import LlmMessage
from autotune.protocol.llm_params import LlmParams
from autotune_platform.access.models import Caller
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.calls import Answer
from autotune_platform.ledger.conversations import Conversation
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.prices import TOKENS_PER_MESSAGE
from autotune_platform.runtime.errors import BudgetExhaustedError, InvalidRequestError
from functions.ledger import connections_api
from tests.component.ledger import test_jobs
from tests.support.exports import export
from tests.support.killing import Killed, Killer
from tests.support.ledger import MODEL, Ledger, row

PATH = "/api/v1/llm-requests"
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Name a {{colour}}."},
    {"role": "assistant", "content": "Blue."},
    {"role": "user", "content": [{"type": "text", "text": "Not"}, {"type": "text", "text": "é"}]},
]
BYTES = sum(len(one.encode()) for one in ("Be brief.", "Name a {{colour}}.", "Blue.", "Not", "é"))


@pytest.fixture
def calls(ledger: Ledger) -> LedgerCalls:
    assert ledger
    return connections_api.parts().ledger_calls


def caller(ledger: Ledger) -> Caller:
    return Caller(
        key_id="key_x",
        organization_id=ledger.platform.me()["organizationId"],
        principal_id="usr_x",
        role="admin",
        request_id="req_x",
    )


def conversation(
    connection_id: str, messages: list[dict[str, Any]] = MESSAGES, **fields: Any
) -> Conversation:
    return Conversation(
        **{
            "connection_id": connection_id,
            "model": MODEL,
            "messages": [LlmMessage.model_validate(one) for one in messages],
            "params": LlmParams(max_tokens=100),
            **fields,
        }
    )


def ask(ledger: Ledger, calls: LedgerCalls, asked: Conversation) -> Row:
    ended, outcome = calls.converse(caller(ledger), asked)
    assert isinstance(outcome, Answer), outcome
    return ended


@pytest.mark.parametrize("provider", ["simulated", *test_jobs.MODELS])
def test_each_provider_answers_all_turns_in_one_paid_call(
    ledger: Ledger, calls: LedgerCalls, provider: str
) -> None:
    heard = []
    ledger.fake.world.answers.answerer = lambda ask: heard.append(ask) or "Red."
    simulated = provider == "simulated"
    connection = ledger.connect() if simulated else test_jobs.connect(ledger, provider)
    model = test_jobs.MODELS.get(provider, MODEL)
    ended = ask(ledger, calls, conversation(connection, model=model))
    (there,) = heard
    assert there.system == "Be brief."
    assert there.texts == ("Name a {{colour}}.", "Blue.", "Not\né")
    shown = ledger.read(ended.id)
    assert (shown["status"], shown["purpose"]) == ("completed", "conversation")
    assert shown["messages"] == MESSAGES
    assert shown["input"] is None
    assert "Red." in shown["rawOutput"]
    bill = ledger.fake.world.bill()["total_nano_usd"]
    assert shown["costNanoUsd"] == bill > 0
    assert ledger.spent_and_reserved("day") == (bill, 0)
    costs = ledger.platform.call("GET", "/api/v1/llm-costs", query={"groupBy": "purpose"}).json
    assert [one["group"] for one in costs["costs"]] == ["conversation"]


def test_its_bound_counts_every_byte_and_every_text_as_a_message(
    ledger: Ledger, calls: LedgerCalls
) -> None:
    ended = ask(ledger, calls, conversation(ledger.connect()))
    assert (ended.input_bytes, ended.messages) == (BYTES + len("{}"), 5)
    tokens = ended.input_bytes + 5 * TOKENS_PER_MESSAGE
    assert ended.bound_nano_usd == tokens * 100 + 100 * 400


def test_a_budget_without_room_refuses_it_before_anything_is_stored_or_asked(
    ledger: Ledger, calls: LedgerCalls
) -> None:
    connection = ledger.connect()
    ledger.platform.call("PUT", "/api/v1/llm-budget", {"dayUsd": "0.000001"})
    with pytest.raises(BudgetExhaustedError):
        calls.converse(caller(ledger), conversation(connection))
    assert ledger.platform.call("GET", PATH).json["requests"] == []
    assert ledger.fake.world.executions == []


def test_an_instruction_between_turns_is_refused_where_the_provider_has_no_such_place(
    ledger: Ledger, calls: LedgerCalls
) -> None:
    late = [*MESSAGES, {"role": "developer", "content": "Now in French."}]
    connection = test_jobs.connect(ledger, "gemini")
    asked = conversation(connection, late, model=test_jobs.MODELS["gemini"])
    with pytest.raises(InvalidRequestError) as refused:
        calls.converse(caller(ledger), asked)
    assert [one.field for one in refused.value.fields] == ["messages[4].role"]
    assert ledger.fake.world.executions == []
    ask(ledger, calls, conversation(ledger.connect(), late))


def test_long_texts_are_stored_whole_exported_and_deleted(
    ledger: Ledger, calls: LedgerCalls
) -> None:
    # It packs badly, so that it becomes an object in S3.
    long = random.Random(1).randbytes(20_000).hex()
    said = [{"role": "user", "content": long}]
    ended = ask(ledger, calls, conversation(ledger.connect(), said))
    assert ledger.read(ended.id)["messages"] == said
    (record,) = export(ledger.platform, shape="llm_requests").records
    assert (record["messages"], "input" in record) == (said, False)
    assert ledger.platform.call("DELETE", f"{PATH}/{ended.id}/content").status == 204
    erased = ledger.read(ended.id)
    assert (erased["messages"], erased["rawOutput"]) == (None, None)
    assert erased["costNanoUsd"] == ended.cost_nano_usd


def test_what_it_says_goes_with_its_retention(ledger: Ledger, calls: LedgerCalls) -> None:
    ended = ask(ledger, calls, conversation(ledger.connect(), retention_days=3))
    assert ended.expires_at is not None
    assert (ended.expires_at - ended.created_at).days in (2, 3)
    assert ledger.read(ended.id)["expiresAt"]


def test_it_is_not_retried_because_nobody_waits_for_it(ledger: Ledger, calls: LedgerCalls) -> None:
    ended = ask(ledger, calls, conversation(ledger.connect()))
    answer = ledger.platform.call("POST", f"{PATH}/{ended.id}/retry")
    assert (answer.status, "somebody waits" in answer.text) == (409, True)
    wanted = {"filter": {"status": "completed", "purpose": "conversation"}}
    found = ledger.platform.call("POST", f"{PATH}/retry", wanted).json
    assert (found["requestIds"], found["skipped"]) == ([], 1)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"purpose": "conversation"}, "purpose"),
        ({"messages": MESSAGES}, "messages"),
        ({"messages": MESSAGES, "purpose": "conversation"}, "messages"),
        ({"messages": None}, "messages"),
    ],
)
def test_conversations_are_not_enqueued_and_it_is_said_why(
    ledger: Ledger, fields: dict[str, Any], field: str
) -> None:
    connection = ledger.connect()
    alone = ledger.platform.call("POST", PATH, row(connection, **fields))
    assert (alone.status, field in alone.fields) == (422, True), alone.text
    assert "somebody waits" in alone.fields[field]
    rows = {"requests": [row(connection), row(connection, **fields)]}
    for path in (f"{PATH}/batch", "/api/v1/llm-estimates"):
        several = ledger.platform.call("POST", path, rows)
        assert (several.status, f"requests[1].{field}" in several.fields) == (422, True)
    defaults = {"connectionId": connection, "purpose": "conversation", "format": "autotune"}
    imported = ledger.platform.call("POST", "/api/v1/llm-imports", defaults)
    assert (imported.status, "purpose" in imported.fields) == (422, True), imported.text
    token = {"name": "t", "connectionId": connection, "purpose": "conversation"}
    refused = ledger.platform.call("POST", "/api/v1/llm-tokens", token)
    assert (refused.status, "purpose" in refused.fields) == (422, True), refused.text
    assert ledger.platform.call("GET", PATH).json["requests"] == []


def test_a_call_that_is_killed_is_charged_only_if_it_may_have_been_asked(
    ledger: Ledger, calls: LedgerCalls
) -> None:
    who, asked = caller(ledger), conversation(ledger.connect())
    killer = Killer()
    for after in range(40):
        killer.kill("before-call", after=after)
        try:
            calls.converse(who, asked)
        except Killed:
            continue
        finally:
            killer.spare()
        break
    else:
        raise AssertionError("it never ended")
    found = ledger.platform.call("GET", PATH).json["requests"]
    for one in found:
        killed = calls.rows.get(one["id"])
        assert killed is not None
        calls.settling.recover(killed)
    ended = [ledger.read(one["id"]) for one in found]
    codes = [(one["error"]["code"], one["costNanoUsd"] > 0) for one in ended if one["error"]]
    assert set(codes) == {("platform_error", False), ("outcome_unclear", True)}
    unasked = [one for one in ended if one["error"] and not one["costNanoUsd"]]
    assert not any(one["messages"] for one in unasked)
    assert len(ended) - len(unasked) >= len(ledger.fake.world.executions) > 1
    spent, reserved = ledger.spent_and_reserved("day")
    assert (spent, reserved) == (sum(one["costNanoUsd"] for one in ended), 0)
    assert spent >= ledger.fake.world.bill()["total_nano_usd"]
