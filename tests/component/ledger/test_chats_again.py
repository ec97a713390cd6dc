"""Chat completions that are sent again with an idempotency key: answered as before, paid once."""

import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.ledger.calls import Outcome
from functions.compatible import chat_api
from tests.component.ledger.test_chats import body, rows
from tests.support.compatible import Compatible
from tests.support.imports import Imports
from tests.support.killing import Killer
from tests.support.lambdas import Answer
from tests.support.ledger import MODEL, Ledger, later

LONG = random.Random(7).randbytes(8_150).hex()  # it is in S3


@pytest.fixture
def compatible(ledger: Ledger, imports: Imports) -> Compatible:
    made = Compatible(ledger, imports)
    made.ledger.fake.world.answers.answerer = lambda ask: f"re: {ask.prompt}"
    return made


def ask(compatible: Compatible, key: str | None = "k-1", **fields: Any) -> Answer:
    headers = {} if key is None else {"idempotency-key": key}
    headers |= fields.pop("headers", {})
    token = fields.pop("token", None)
    asked = body(compatible, **fields)
    return compatible.ask("POST", "/chat/completions", asked, headers=headers, token=token)


def told(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["error"]["code"]


def paid_once(compatible: Compatible) -> None:
    """One row was asked, and its cost is all that was spent."""
    world = compatible.ledger.fake.world
    assert len(rows(compatible)) == len(world.executions) == 1
    bill = world.bill()["total_nano_usd"]
    assert compatible.ledger.spent_and_reserved("day") == (bill, 0)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("said", ["yes é", LONG], ids=["short", "long"])
def test_the_same_again_is_answered_as_before_and_paid_once(
    compatible: Compatible, *, streamed: bool, said: str
) -> None:
    compatible.ledger.fake.world.answers.answerer = lambda _: said
    first = ask(compatible, stream=streamed)
    assert first.status == 200, first.text
    assert said in first.text
    assert "idempotent-replayed" not in first.headers
    again = ask(compatible, stream=streamed)
    assert (again.status, again.text) == (200, first.text)
    assert again.headers["content-type"] == first.headers["content-type"]
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["x-autotune-llm-request"] == first.headers["x-autotune-llm-request"]
    paid_once(compatible)


def test_without_a_key_and_with_others_each_is_asked(compatible: Compatible) -> None:
    answers = [ask(compatible, key) for key in (None, None, "one", "two")]
    assert {answer.status for answer in answers} == {200}
    assert len({answer.headers["x-autotune-llm-request"] for answer in answers}) == 4


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [{"role": "user", "content": "another"}]},
        {"max_tokens": 7},
        {"temperature": 0.5},
        {"stream": True},
        {"headers": {"x-autotune-labels": '{"run": "7"}'}},
    ],
)
def test_the_same_key_with_another_body_is_refused(
    compatible: Compatible, fields: dict[str, Any]
) -> None:
    assert ask(compatible).status == 200
    assert told(ask(compatible, **fields)) == (422, "idempotency_key_reused")
    assert ask(compatible, max_tokens=4_096).status == 200, "as many as there are unless it says so"
    paid_once(compatible)


def test_a_key_is_of_its_connection(compatible: Compatible) -> None:
    assert ask(compatible).status == 200
    other = compatible.ledger.connect(name="other")
    token = compatible.new_token(connectionId=other)["secret"]
    assert ask(compatible, token=token, model=f"other/{MODEL}").status == 200
    assert len(rows(compatible)) == 2


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "é"])
def test_a_key_that_is_none_is_refused(compatible: Compatible, key: str) -> None:
    answer = ask(compatible, key)
    assert answer.status == 422, answer.text
    assert "idempotency-key" in answer.json["error"]["message"].lower()
    assert rows(compatible) == []


def test_while_the_first_is_under_way_the_second_waits(
    compatible: Compatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = chat_api.parts().row_asking.calls
    passed: Callable[..., Outcome] = calls.pass_on
    second: list[Answer] = []

    def meanwhile(*given: Any) -> Outcome:
        second.append(ask(compatible))
        return passed(*given)

    monkeypatch.setattr(calls, "pass_on", meanwhile)
    first = ask(compatible)
    assert first.status == 200
    assert [told(one) for one in second] == [(409, "request_under_way")]
    assert int(second[0].headers["retry-after"]) >= 1
    assert "x-should-retry" not in second[0].headers, "the package asks again"
    assert ask(compatible).text == first.text
    paid_once(compatible)


def test_of_two_that_come_at_once_one_is_asked(
    compatible: Compatible, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = chat_api.parts().compatible_chats.again.claims
    first = ask(compatible)
    with monkeypatch.context() as patch:
        patch.setattr(claims, "get", lambda *_: None)  # as it read before the first wrote
        assert told(ask(compatible)) == (409, "request_under_way")
    assert ask(compatible).text == first.text
    paid_once(compatible)


def test_what_cost_nothing_is_asked_again(compatible: Compatible) -> None:
    compatible.ledger.fake.world.traps.arm("chat_500", times=1)
    assert told(ask(compatible)) == (502, "provider_error")
    found = ask(compatible)
    assert found.status == 200
    assert "idempotent-replayed" not in found.headers
    again = ask(compatible)
    assert (again.text, again.headers["idempotent-replayed"]) == (found.text, "true")
    assert sorted(one["status"] for one in rows(compatible)) == ["completed", "error"]


def test_what_may_have_been_paid_is_not_asked_again(compatible: Compatible) -> None:
    compatible.ledger.fake.world.traps.arm("chat_answer_lost", times=1)
    first = ask(compatible)
    again = ask(compatible)
    assert told(first) == told(again) == (504, "outcome_unclear")
    assert first.headers["x-should-retry"] == again.headers["x-should-retry"] == "false"
    (row,) = rows(compatible)
    assert row["id"] in again.json["error"]["message"]
    assert len(compatible.ledger.fake.world.executions) <= 1


def test_a_deleted_answer_is_not_asked_for_again(compatible: Compatible) -> None:
    request_id = ask(compatible).headers["x-autotune-llm-request"]
    path = f"/api/v1/llm-requests/{request_id}/content"
    assert compatible.ledger.platform.call("DELETE", path).status in (200, 204)
    again = ask(compatible)
    assert told(again) == (409, "answer_deleted")
    assert again.headers["x-should-retry"] == "false"
    assert ask(compatible, "another").status == 200


def test_a_key_is_free_again_after_a_day(compatible: Compatible) -> None:
    ask(compatible)
    with later(timedelta(hours=23)):
        assert ask(compatible).headers["idempotent-replayed"] == "true"
    with later(timedelta(hours=24, seconds=1)):
        found = ask(compatible, max_tokens=9)
        assert (found.status, "idempotent-replayed" in found.headers) == (200, False)
        assert ask(compatible, max_tokens=9).text == found.text
    assert len(rows(compatible)) == 2


def test_one_that_is_killed_is_never_paid_twice(compatible: Compatible) -> None:
    # Each of those killed holds a slot until its time is over.
    path = f"/api/v1/llm-connections/{compatible.connection_id}"
    compatible.ledger.platform.call("PATCH", path, {"concurrency": 64})
    asked: Counter[str] = Counter()

    def answer(one: Any) -> str:
        asked[one.prompt] += 1
        return "yes"

    compatible.ledger.fake.world.answers.answerer = answer
    killer = Killer()

    def of(place: int) -> Answer:
        said = [{"role": "user", "content": f"number {place}"}]
        return ask(compatible, f"k{place}", messages=said)

    places = 0
    while True:
        killer.kill("before-call", after=places)
        try:
            is_done = of(places).status == 200
        finally:
            killer.spare()
        again = of(places)
        assert again.status == 200 or told(again) == (409, "request_under_way")
        places += 1
        if is_done:
            break
        assert places < 49
    with later(timedelta(minutes=15)):
        compatible.ledger.sweep()
        statuses = Counter(of(place).status for place in range(places))
    assert statuses.keys() == {200, 504}
    assert len(asked) > 1
    assert set(asked.values()) == {1}
    spent, reserved = compatible.ledger.spent_and_reserved("day")
    assert reserved == 0
    assert spent == sum(one["costNanoUsd"] or 0 for one in compatible_rows(compatible))


def compatible_rows(compatible: Compatible) -> list[dict[str, Any]]:
    """All rows, of more than one page."""
    query = {"limit": 200}
    found = compatible.ledger.platform.call("GET", "/api/v1/llm-requests", query=query)
    listed: list[dict[str, Any]] = found.json["requests"]
    return listed
