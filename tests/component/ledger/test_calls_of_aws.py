"""How many calls of AWS a call of a model costs that somebody waits for: pinned, not estimated."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from autotune.protocol.llm_messages import LlmMessage
from autotune.protocol.llm_params import LlmParams
from autotune_platform.budgets.scopes import MoneyLimits
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.runtime import clients
from autotune_platform.runtime.errors import BudgetExhaustedError
from functions.ledger import connections_api
from tests.component.ledger import test_apprenticed_calls as apprenticed
from tests.component.ledger.test_conversations import caller, conversation
from tests.support.ledger import Ledger

# It packs badly.
LONG = random.Random(1).randbytes(20_000).hex()

# A connection is read each time, so that one that is revoked is asked no more.
CONNECTION, RESERVED, SETTLED = "GetItem", "TransactWriteItems", "TransactWriteItems"
ASKED = "PutItem"
"""The text of the question: where it is there, the call may have been made."""


@pytest.fixture
def calls(ledger: Ledger) -> Iterator[LedgerCalls]:
    yield from apprenticed.provided(ledger)


@contextmanager
def counted() -> Iterator[list[str]]:
    made: list[str] = []

    def heard(model: Any, **_: Any) -> None:
        made.append(model.name)

    used = (clients.dynamodb(), clients.s3(), clients.kms(), clients.sts())
    for client in used:
        client.meta.events.register("before-call", heard)
    try:
        yield made
    finally:
        for client in used:
            client.meta.events.unregister("before-call", heard)


def test_a_call_takes_four_with_its_connection_texts_and_booking(
    ledger: Ledger, calls: LedgerCalls
) -> None:
    who, connection = caller(ledger), ledger.connect()
    calls.converse(who, conversation(connection))
    with counted() as made:
        calls.converse(who, conversation(connection))
    assert made == [CONNECTION, RESERVED, ASKED, SETTLED]


def test_a_call_of_a_run_takes_as_many_in_both_budgets_and_with_what_its_run_has_of_it(
    ledger: Ledger, calls: LedgerCalls
) -> None:
    who, asked = caller(ledger), apprenticed.request(ledger.connect())
    calls.call(who, asked, of=apprenticed.of())
    with counted() as made:
        calls.call(who, asked, of=apprenticed.of(begins="answered"))
    assert made == [CONNECTION, RESERVED, ASKED, SETTLED]
    assert apprenticed.stored()["state"] == "answered"


def test_a_refusal_takes_two(ledger: Ledger, calls: LedgerCalls) -> None:
    who, asked = caller(ledger), apprenticed.request(ledger.connect())
    calls.call(who, asked)
    calls.money.set_limits(who.organization_id, MoneyLimits(day=1))
    with pytest.raises(BudgetExhaustedError):
        calls.call(who, asked)
    # The first refusal has learnt the limit, and was published.
    with counted() as made, pytest.raises(BudgetExhaustedError):
        calls.call(who, asked)
    assert made == [CONNECTION, RESERVED]


@pytest.mark.parametrize(
    ("question", "answer", "expected"),
    [
        (LONG, "Red.", [CONNECTION, RESERVED, "PutObject", ASKED, SETTLED]),
        ("q", LONG, [CONNECTION, RESERVED, ASKED, "PutObject", SETTLED]),
        ("q", LONG[:9_000], [CONNECTION, RESERVED, ASKED, "PutItem", SETTLED]),
    ],
    ids=["long-question", "long-answer", "answer-dearer-in-a-transaction"],
)
def test_each_long_text_takes_one_more(
    ledger: Ledger, calls: LedgerCalls, question: str, answer: str, expected: list[str]
) -> None:
    ledger.fake.world.answers.answerer = lambda _: answer
    who, connection = caller(ledger), ledger.connect()
    said = [LlmMessage(role="user", content=question).model_dump(mode="json")]
    asked = conversation(connection, said, params=LlmParams(max_tokens=50_000))
    calls.converse(who, asked)
    with counted() as made:
        ended, _ = calls.converse(who, asked)
    assert made == expected
    shown = ledger.read(ended.id)
    assert shown["messages"] == said
    assert shown["rawOutput"].endswith(answer)


def test_the_first_of_a_process_learns_key_and_budget(ledger: Ledger, calls: LedgerCalls) -> None:
    who, connection = caller(ledger), ledger.connect()
    connections_api.parts.cache_clear()
    fresh = connections_api.parts().ledger_calls
    assert fresh is not calls
    with counted() as made:
        fresh.converse(who, conversation(connection))
    budget, key = "GetItem", ["GetItem", "Decrypt"]
    assert made == [CONNECTION, budget, RESERVED, ASKED, *key, SETTLED]
