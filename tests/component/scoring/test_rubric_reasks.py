"""A rubric grader's answer that cannot be read is asked for again, before its verdict is failed."""

from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import boto3
import pytest

from autotune_platform.ledger.enqueuing import EnqueuingService
from autotune_platform.ledger.row_repository import RowRepository
from functions.scoring import await_answers as await_module
from tests.component.scoring.test_rubric_graders import (
    COMPLETION,
    CONNECTION,
    answering,
    ask_models,
    begin,
    judged,
    rows,
    verdicts,
)
from tests.component.scoring.test_rubric_graders import ledger as ledger  # noqa: PLC0414
from tests.support.lambdas import LambdaContext, handler
from tests.support.ledger import MODEL, Ledger, later

UNREADABLE = "I would say 9 of 10."


def registered(ledger: Ledger, **answer: Any) -> dict[str, Any]:
    rubric = {
        "connectionId": ledger.connect(**CONNECTION),
        "model": MODEL,
        "user": "How close is {{sample.output_text}}?",
        "answer": {"type": "score", "minimum": 0, "maximum": 10, **answer},
        "params": {"maxTokens": 300},
    }
    body = {"name": "g", "kind": "rubric", "rubric": rubric}
    made = ledger.platform.call("POST", "/api/v1/graders", body)
    assert made.status == 201, made.text
    grader: dict[str, Any] = made.json["grader"]
    return grader


def states() -> list[dict[str, Any]]:
    return [one for one in rows() if one["sk"]["S"] == "state"]


def test_the_answer_to_the_second_question_is_the_score(ledger: Ledger) -> None:
    platform = ledger.platform
    asked = answering(ledger, UNREADABLE, judged(10))
    accepted, run = begin(platform, registered(ledger, onParseFailure="reask"), COMPLETION)
    ask_models(ledger)
    left = platform.grade(run)
    assert (left["waiting"], verdicts(platform, accepted)[0]["state"]) == (1, "pending")
    assert len(asked) == 1
    ask_models(ledger)
    assert platform.grade(left)["waiting"] == 0
    (verdict,) = verdicts(platform, accepted)
    assert (verdict["state"], verdict["score"]["value"]) == ("scored", 1.0)
    assert [one.prompt for one in asked] == [asked[0].prompt] * 2
    # Texts of both are erased; a row that is to end by a time has a second item, which says when.
    assert sorted(one["sk"]["S"] for one in rows()) == ["deadline", "deadline", "state", "state"]
    (first,) = [one for one in states() if "reasked_as" in one]
    (second,) = [one for one in states() if "reask_of" in one]
    assert first["reasked_as"] == second["pk"]
    assert second["reask_of"] == first["pk"]


def test_it_fails_once_it_was_asked_three_times(ledger: Ledger) -> None:
    platform = ledger.platform
    asked = answering(ledger, UNREADABLE, judged(11))
    accepted, run = begin(platform, registered(ledger, onParseFailure="reask"), COMPLETION)
    for _ in range(3):
        ask_models(ledger)
        run = platform.grade(run)
    (verdict,) = verdicts(platform, accepted)
    assert (verdict["state"], verdict["reasonCode"]) == ("failed", "model_answer_out_of_range")
    assert len(asked) == 3
    bill = ledger.fake.world.bill()["total_nano_usd"]
    assert ledger.spent_and_reserved("day") == (bill, 0)


@pytest.mark.parametrize("answer", [{}, {"onParseFailure": "keep"}])
def test_it_fails_at_once_where_nothing_else_is_asked_for(
    ledger: Ledger, answer: dict[str, Any]
) -> None:
    platform = ledger.platform
    asked = answering(ledger, UNREADABLE)
    grader = registered(ledger, **answer)
    assert grader["rubric"]["answer"].get("onParseFailure") == answer.get("onParseFailure")
    accepted, run = begin(platform, grader, COMPLETION)
    ask_models(ledger)
    platform.grade(run)
    assert verdicts(platform, accepted)[0]["reasonCode"] == "model_answer_unreadable"
    assert len(asked) == 1


def test_what_was_cut_or_comes_too_late_is_not_asked_again(ledger: Ledger) -> None:
    platform = ledger.platform
    asked = answering(ledger, "x" * 9_000)
    accepted, run = begin(platform, registered(ledger, onParseFailure="reask"), COMPLETION)
    ask_models(ledger)
    platform.grade(run)
    assert verdicts(platform, accepted)[0]["reasonCode"] == "model_answer_unreadable"
    answering(ledger, UNREADABLE)
    accepted, run = begin(platform, registered(ledger, onParseFailure="reask"), COMPLETION)
    ask_models(ledger)
    (late,) = [one["pk"] for one in states() if "output_cut" not in str(one) and _is_text(one)]
    boto3.client("dynamodb").update_item(
        TableName="ledger",
        Key={"pk": late, "sk": {"S": "state"}},
        UpdateExpression="SET complete_by = :past",
        ExpressionAttributeValues={
            ":past": {"S": (datetime.now(UTC) - timedelta(hours=1)).isoformat()}
        },
    )
    platform.grade(run)
    assert verdicts(platform, accepted)[0]["reasonCode"] == "model_answer_unreadable"
    assert len(asked) == 1
    assert len(ledger.fake.world.executions) == 2


def _is_text(state: dict[str, Any]) -> bool:
    """Whether the texts of a row are there."""
    return any(one["pk"] == state["pk"] and one["sk"]["S"] == "input" for one in rows())


class KilledError(BaseException):
    """A function was killed."""


def test_a_kill_before_the_first_names_the_second_asks_no_third(ledger: Ledger) -> None:
    platform = ledger.platform
    asked = answering(ledger, UNREADABLE, judged(10))
    accepted, run = begin(platform, registered(ledger, onParseFailure="reask"), COMPLETION)
    ask_models(ledger)

    def dies(*_: Any) -> None:
        raise KilledError

    with patch.object(RowRepository, "note_reask", dies), pytest.raises(KilledError):
        platform.grade(run)
    left = platform.grade(run)
    ask_models(ledger)
    platform.grade(left)
    assert verdicts(platform, accepted)[0]["state"] == "scored"
    assert len(asked) == 2 == len(states())


def test_a_wait_goes_on_until_the_last_of_them_has_ended(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = ledger.platform
    answering(ledger, UNREADABLE, judged(10))
    _, run = begin(platform, registered(ledger, onParseFailure="reask"), COMPLETION)
    ask_models(ledger)
    left = platform.grade(run)
    tokens: list[str] = []
    await_answers = handler("functions.scoring.await_answers")
    monkeypatch.setattr(
        type(await_module.parts().run_waits.wait.tokens),
        "succeed",
        lambda self, token: tokens.append(token) or True,
    )
    await_answers({"progress": left, "token": "early"}, LambdaContext())
    assert tokens == []
    ask_models(ledger)
    await_answers({"progress": left, "token": "late"}, LambdaContext())
    assert tokens == ["late"]


@pytest.mark.parametrize("gone", ["price", "connection"])
def test_what_was_begun_and_killed_is_read_whatever_has_come_since(
    ledger: Ledger, gone: str
) -> None:
    platform = ledger.platform
    asked = answering(ledger, UNREADABLE, judged(10))
    grader = registered(ledger, onParseFailure="reask")
    accepted, run = begin(platform, grader, COMPLETION)
    ask_models(ledger)

    def dies(*_: Any) -> None:
        raise KilledError

    with patch.object(RowRepository, "note_reask", dies), pytest.raises(KilledError):
        platform.grade(run)
    connection = f"/api/v1/llm-connections/{grader['rubric']['connectionId']}"
    if gone == "price":
        ask_models(ledger)
        assert len(asked) == 2
        assert platform.call("PATCH", connection, {"prices": {}}).status == 200
    else:
        ask_models(ledger)
        assert platform.call("DELETE", connection).status == 200
    left = platform.grade(run)
    platform.grade(left)
    (verdict,) = verdicts(platform, accepted)
    assert (verdict["state"], verdict["score"]["value"]) == ("scored", 1.0)
    assert sorted(one["sk"]["S"] for one in rows()) == ["deadline", "deadline", "state", "state"]


@pytest.mark.parametrize("gone", ["price", "connection"])
def test_what_was_counted_and_never_stored_is_counted_off(ledger: Ledger, gone: str) -> None:
    platform = ledger.platform
    answering(ledger, UNREADABLE, judged(10))
    grader = registered(ledger, onParseFailure="reask")
    accepted, run = begin(platform, grader, COMPLETION)
    ask_models(ledger)

    def dies(*_: Any, **__: Any) -> None:
        raise KilledError

    with patch.object(EnqueuingService, "_store", dies), pytest.raises(KilledError):
        platform.grade(run)
    connection = f"/api/v1/llm-connections/{grader['rubric']['connectionId']}"
    if gone == "price":
        assert platform.call("PATCH", connection, {"prices": {}}).status == 200
    else:
        assert platform.call("DELETE", connection).status == 200
    for _ in range(2):
        with later(timedelta(seconds=ledger.passed + 31)):
            platform.grade(run)
        (verdict,) = verdicts(platform, accepted)
        assert verdict["reasonCode"] == "model_answer_unreadable"
    assert open_rows() == 0


def open_rows() -> int:
    """How many rows the tables say are under way."""
    items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    return sum(int(one["rows"]["N"]) for one in items if one["pk"]["S"].startswith("open#"))
