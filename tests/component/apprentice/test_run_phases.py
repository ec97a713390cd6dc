"""Runs of later phases: both models are asked, then the small one alone, and is checked."""

import io
import json
from datetime import timedelta
from typing import Any

import pytest

from autotune_platform.apprentice.local.contract import Reason, Unavailable
from tests.support.apprentice_runs import ANSWER, INPUT, WORKER
from tests.support.killing import Killer
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.ledger import later
from tests.support.phased_runs import ALL_CHECKED, DAY, NONE_CHECKED, OTHER, Phased


def test_in_phase_2_both_are_asked_and_their_answers_are_a_pair(phased: Phased) -> None:
    phased.shadowed()

    run = phased.ran()

    routing = run["routing"]
    assert (run["output"], routing["phase"], routing["answers"]) == (
        {"intent": "open_door"},
        2,
        "remote",
    )
    assert (routing["local"], routing["isDrawn"]) == ("answered", True)
    assert routing["pairs"] == [{"version": 1, "score": 1, "isDrawn": True, "isSure": True}]
    ((model, question, timeout_ms),) = phased.small.asked
    assert (model, timeout_ms) == ("small-1", 2000)
    (asked,) = phased.runs.asked
    assert (question.system, (question.user,)) == (asked.system, asked.texts)
    assert question.output_schema["required"] == ["intent"]
    assert phased.paid == 1


@pytest.mark.parametrize(
    ("said", "local", "pairs"),
    [
        (OTHER, "answered", [0]),
        (f"```json\n{ANSWER}\n```", "answered", [1]),
        ("no JSON", "unparseable", [0]),
        ('{"intent":"' + "a" * 100_000 + '"}', "unparseable", [0]),
        (Unavailable(Reason.TIMED_OUT, "too slow"), "unavailable", []),
    ],
)
def test_in_phase_2_the_paid_model_answers_whatever_the_small_one_does(
    phased: Phased, said: Any, local: str, pairs: list[int]
) -> None:
    phased.shadowed()
    phased.small.says["small-1"] = said

    run = phased.ran()

    assert (run["output"], run["routing"]["local"]) == ({"intent": "open_door"}, local)
    has_no_answer = local == "unavailable" or len(str(said)) > 100_000
    assert (run["routing"]["localFault"] is not None) == has_no_answer
    assert [one["score"] for one in run["routing"]["pairs"]] == pairs


def test_a_run_says_why_a_version_has_no_answer(phased: Phased) -> None:
    phased.served()
    phased.task.add_version(2)
    forget_processes()
    phased.small.says["small-1"] = Unavailable(Reason.ANOTHER_VERSION, "for a test")
    phased.small.says["small-2"] = Unavailable(Reason.NOT_READY, "for a test")

    routing = phased.ran()["routing"]

    assert (routing["answers"], routing["local"]) == ("remote", "unavailable")
    assert (routing["localFault"], routing["shadowFault"]) == ("another_version", "not_ready")


def test_in_phase_2_a_paid_model_that_fails_makes_no_pair(phased: Phased) -> None:
    phased.shadowed()
    phased.runs.say("no JSON")

    answer = phased.runs.start(wait=20)

    assert (answer.status, answer.json["code"]) == (503, "remote_unavailable")
    stored = phased.stored(answer.json["detail"].split()[1].rstrip(":"))
    assert (stored.state, stored.local, stored.pairs) == ("failed", "answered", ())


def test_in_phase_3_an_answer_within_a_fence_is_the_object_that_it_is(phased: Phased) -> None:
    phased.served()
    phased.small.says["small-1"] = f"```json\n{OTHER}\n```"

    run = phased.ran()

    assert (run["output"], run["routing"]["answers"]) == ({"intent": "close_door"}, "local")
    assert phased.runs.read(run["id"]) == run


def test_in_phase_3_the_version_answers_alone(phased: Phased) -> None:
    phased.served()
    phased.small.says["small-1"] = OTHER

    run = phased.ran()

    routing = run["routing"]
    assert (run["output"], routing["phase"], routing["answers"]) == (
        {"intent": "close_door"},
        3,
        "local",
    )
    assert (routing["check"], routing["requestIds"], routing["pairs"]) == ("none", [], [])
    assert phased.paid == 0
    assert phased.runs.read(run["id"]) == run


@pytest.mark.parametrize("said", ["no JSON", Unavailable(Reason.NOT_READY, "it sleeps")])
def test_in_phase_3_a_version_that_fails_has_the_paid_model_asked(
    phased: Phased, said: Any
) -> None:
    phased.served()
    phased.small.says["small-1"] = said

    run = phased.ran()

    assert (run["output"], run["routing"]["answers"]) == ({"intent": "open_door"}, "remote")
    assert (run["routing"]["pairs"], run["routing"]["check"]) == ([], "none")
    assert phased.paid == 1


def test_nobody_waits_for_a_spot_check(phased: Phased) -> None:
    phased.served(sampling=ALL_CHECKED)
    phased.small.says["small-1"] = OTHER

    run = phased.ran()

    assert (run["output"], run["routing"]["check"]) == ({"intent": "close_door"}, "due")
    assert phased.paid == 0
    assert phased.runs.work(run["id"], run["id"]) == []
    checked = phased.runs.read(run["id"])
    assert (checked["state"], checked["output"]) == ("answered", {"intent": "close_door"})
    assert checked["routing"]["check"] == "done"
    assert checked["routing"]["pairs"] == [
        {"version": 1, "score": 0, "isDrawn": True, "isSure": True}
    ]
    assert checked["routing"]["costNanoUsd"] == phased.runs.bill["total_nano_usd"] > 0
    assert phased.paid == 1
    assert len(phased.small.asked) == 1


def test_a_check_that_fails_is_no_pair_and_leaves_the_answer(phased: Phased) -> None:
    phased.served(sampling=ALL_CHECKED)
    run = phased.ran()
    phased.runs.say("no JSON")

    phased.runs.work(run["id"])

    checked = phased.runs.read(run["id"])
    assert (checked["state"], checked["output"]) == ("answered", run["output"])
    assert (checked["routing"]["check"], checked["routing"]["pairs"]) == ("failed", [])


def test_a_version_in_shadow_is_asked_with_the_check(phased: Phased) -> None:
    phased.served()
    phased.task.add_version(2)
    forget_processes()
    phased.small.says["small-2"] = OTHER

    run = phased.ran()
    assert (run["routing"]["check"], run["routing"]["shadowVersion"]) == ("due", 2)
    phased.runs.work(run["id"])

    routing = phased.runs.read(run["id"])["routing"]
    assert (routing["check"], routing["shadow"]) == ("done", "answered")
    assert routing["pairs"] == [
        {"version": 1, "score": 1, "isDrawn": True, "isSure": True},
        {"version": 2, "score": 0, "isDrawn": True, "isSure": True},
    ]
    assert [model for model, _, _ in phased.small.asked] == ["small-1", "small-2"]


def exhaust(phased: Phased) -> None:
    body = {"dayUsd": "0.000001"}
    assert phased.runs.platform.call("PUT", "/api/v1/llm-budget", body).status == 200
    forget_processes()


@pytest.mark.parametrize("phase", [2, 3])
def test_without_money_nobody_answers_where_that_is_wanted(phased: Phased, phase: int) -> None:
    strict = {"budgets": {**DAY, "whenExhausted": "fail"}, "sampling": ALL_CHECKED}
    (phased.shadowed if phase == 2 else phased.served)(**strict)
    exhaust(phased)

    answer = phased.runs.start(wait=20)

    assert (answer.status, answer.json["code"]) == (402, "budget_exhausted")
    assert answer.json["budget"]["scope"] == "organization"


def test_a_strict_task_has_drawn_runs_checked_before_anybody_is_answered(phased: Phased) -> None:
    phased.served(budgets={**DAY, "whenExhausted": "fail"}, sampling=ALL_CHECKED)
    phased.small.says["small-1"] = OTHER

    run = phased.ran()

    assert (run["output"], run["routing"]["answers"]) == ({"intent": "close_door"}, "local")
    assert (run["routing"]["check"], phased.paid) == ("done", 1)
    assert run["routing"]["pairs"] == [{"version": 1, "score": 0, "isDrawn": True, "isSure": True}]
    phased.task.follow()
    assert phased.status["today"]["checksDone"] == 1


def test_a_strict_task_says_that_a_check_failed(
    phased: Phased, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    phased.served(budgets={**DAY, "whenExhausted": "fail"}, sampling=ALL_CHECKED)
    phased.runs.ledger.fake.world.traps.arm("chat_500", times=None)

    run = phased.ran()

    assert (run["routing"]["answers"], run["routing"]["check"]) == ("local", "failed")
    phased.task.follow()
    assert phased.status["today"]["checksFailed"] == 1
    assert [one["kind"] for one in phased.status["alerts"]] == ["unchecked"]


def test_a_check_without_money_is_skipped_and_said(phased: Phased) -> None:
    phased.served(sampling=ALL_CHECKED)
    run = phased.ran()
    exhaust(phased)

    phased.runs.work(run["id"])

    routing = phased.runs.read(run["id"])["routing"]
    assert (routing["check"], routing["unmonitored"], routing["answers"]) == (
        "skipped",
        True,
        "local",
    )
    assert phased.paid == 0


def test_draws_and_roles_stay_with_a_run_that_was_begun(phased: Phased) -> None:
    phased.served(sampling=ALL_CHECKED)
    run = phased.ran(key="k")
    phased.task.put(budgets=DAY, sampling=NONE_CHECKED)
    forget_processes()

    with later(timedelta(seconds=60)):
        phased.runs.work(run["id"])
        again = phased.ran(key="k")

    assert (again["routing"]["check"], again["routing"]["isDrawn"]) == ("done", True)


def test_a_version_that_was_retired_meanwhile_is_not_asked(phased: Phased) -> None:
    phased.served()
    run_id = phased.runs.start(INPUT).json["run"]["id"]
    phased.task.add_version(1, canary_at=200, state="retired")
    forget_processes()

    phased.runs.work(run_id)

    routing = phased.runs.read(run_id)["routing"]
    assert (routing["phase"], routing["answers"]) == (1, "remote")
    assert phased.small.asked == []


def test_a_version_that_answers_takes_one_call_of_aws(phased: Phased) -> None:
    phased.served()
    phased.ran()
    killer = Killer()
    called = []

    def counted(event: dict[str, Any]) -> dict[str, Any]:
        killer.called.clear()
        answer = handler(WORKER)(event, LambdaContext(300))
        called.extend(killer.called)
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}

    phased.runs.worker.instead = counted
    phased.ran()

    assert called == ["PutItem"]
