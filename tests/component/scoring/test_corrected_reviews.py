"""A run waits until answers are final, and looks again in time without looking all the time."""

from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.runtime import clients
from autotune_platform.storage.registry import RECORD
from autotune_platform.storage.table import Table
from functions.scoring import grade_chunk
from tests.component.scoring.conftest import Trio
from tests.support.clock import TurnedClock


@pytest.fixture
def sent_tokens(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Task tokens that were sent; moto knows none of them."""
    sent: list[str] = []
    monkeypatch.setattr(
        clients.stepfunctions(),
        "send_task_success",
        lambda *, taskToken, output: sent.append(taskToken),  # noqa: N803
    )
    return sent


def answer(trio: Trio, review_id: str, value: float, step: str = "answer") -> Any:
    path = f"/api/v1/reviews/{review_id}/{step}"
    answered = trio.platform.call("POST", path, {"value": value})
    assert answered.status == 200, answered.text
    return answered.json["review"]


def test_a_run_looks_again_when_the_first_answer_is_final(
    trio: Trio, sent_tokens: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Table("registry", clients.dynamodb()).update(trio.ids[0], RECORD, {"kind": "human"})
    policy = {"correctWithinMinutes": 10, "secondOpinionShare": 1}
    accepted, runs = trio.start(trio.platform.new_task(trio.ids[0], review=policy), {}, {})
    (run,) = runs.values()
    left = trio.platform.grade(run)
    assert (left["waiting"], left["wait_seconds"] > 86_400) == (2, True)
    trio.platform.await_answers(left, "long")
    reviews = {
        one["completionId"]: one["id"]
        for one in trio.platform.call("GET", "/api/v1/reviews").json["reviews"]
    }
    first, second = (reviews[id_] for id_ in accepted["completionIds"])

    # Whoever would wait for days for the other one looks after ten minutes instead.
    answer(trio, first, 0.25)
    assert sent_tokens == ["long"]
    left = trio.platform.grade(left)
    assert (left["waiting"], 590 < left["wait_seconds"] <= 600) == (2, True)
    trio.platform.await_answers(left, "short")
    path = f"/api/v1/completions/{accepted['completionIds'][0]}/explanation"
    explained = trio.platform.call("GET", path).json["review"]
    assert (explained["reviewId"], explained["correctableUntil"] is None) == (first, False)
    # It looks in time for this one, too.
    answer(trio, second, 0.5)
    answer(trio, first, 0.75, "correct")
    assert sent_tokens == ["long"]
    assert [one["state"] for one in trio.verdicts(accepted)] == ["pending", "pending"]

    parts = grade_chunk.parts()
    for one in (parts.grading, parts.resolver):
        monkeypatch.setattr(one, "clock", TurnedClock(timedelta(minutes=11)))
    left = trio.platform.grade(left)
    assert (left["waiting"], left["remaining"]) == (0, 0)
    assert [one["score"]["value"] for one in trio.verdicts(accepted)] == [0.75, 0.5]
    # Now that both are final, another person is asked about each.
    asked = trio.platform.call("GET", "/api/v1/reviews").json["reviews"]
    assert [one["reason"] for one in asked] == ["second_opinion"] * 2
