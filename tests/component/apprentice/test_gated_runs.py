"""Behind a gate a version answers what it is sure of, and the paid model the rest."""

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from autotune_platform.apprentice.local.contract import LocalAnswer
from tests.support.apprentice_runs import ANSWER, WORKER, Runs
from tests.support.killing import Killer
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.phased_runs import ALL_CHECKED, DAY, NO_ROOM, NONE_CHECKED, OTHER, Phased, Small
from tests.support.task_chats import TaskChats

LINEAR = {"backend": "linear", "gate": "confidence"}


class Gated(Phased):
    """A task whose version answers behind a gate."""

    def serves(self, **fields: Any) -> None:
        """Bring the task to phase 3, by a version of gate .8."""
        self.task.put(**{"budgets": DAY, "sampling": NONE_CHECKED, "local": LINEAR, **fields})
        self.hosts()
        self._learn(200, score=1.0)
        self.hosts(canary_at=200)
        forget_processes()

    def hosts(self, number: int = 1, **fields: Any) -> None:
        gate = {"confidence": 0.8, "coverage": 0.9, "least_coverage": 0.75}
        self.task.add_version(number, backend="linear", gate=gate, **fields)

    def says(self, confidence: float, text: str = ANSWER) -> None:
        self.small.says["small-1"] = LocalAnswer(text, "small-1", confidence, 5)

    @property
    def version(self) -> dict[str, Any]:
        found: dict[str, Any] = self.status["versions"][-1]
        return found


@pytest.fixture
def gated(runs: Runs, small: Small) -> Iterator[Gated]:
    return Gated(runs, small)


def escalated(gated: Gated) -> int:
    """How many examples are of an escalated run."""
    answer = gated.runs.platform.call("GET", "/api/v1/apprentice/tasks/intents/examples/counts")
    found: int = answer.json["counts"]["selections"]["escalated"]
    return found


def test_what_a_version_is_unsure_of_goes_to_the_paid_model(gated: Gated) -> None:
    gated.serves()
    gated.says(0.79, OTHER)

    run = gated.ran()

    routing = run["routing"]
    assert run["output"] == json.loads(ANSWER)
    assert (routing["answers"], routing["escalated"]) == ("remote", True)
    assert (routing["local"], routing["localConfidence"]) == ("unsure", 0.79)
    assert (routing["pairs"], routing["check"], gated.paid) == ([], "none", 1)
    gated.task.follow()
    today = gated.status["today"]
    assert (today["escalated"], today["gateSure"], today["gateUnsure"]) == (1, 0, 1)
    whole = today["local"] + today["remote"] + today["refused"] + today["failed"]
    assert today["begun"] == whole + today["pending"]
    assert gated.version["pairs"] == 200
    assert escalated(gated) == 1


def test_who_calls_by_token_sees_nothing_of_it(gated: Gated) -> None:
    gated.serves()
    chats = TaskChats(gated.runs)
    gated.says(0.9)
    sure = chats.ask("Let me in!")
    gated.says(0.2)
    unsure = chats.ask("Let me out!")

    assert gated.paid == 1
    for answer in (sure, unsure):
        assert answer.status == 200, answer.text
        assert not {"escalated", "unsure", "confidence"} & set(answer.text.lower().split('"'))
    assert shape(sure.json) == shape(unsure.json)
    assert sure.json["choices"] == unsure.json["choices"]
    assert sure.headers.keys() == unsure.headers.keys()


def shape(value: Any) -> Any:
    """Names of all that an answer has, at their places."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    return [shape(one) for one in value] if isinstance(value, list) else type(value).__name__


def test_what_a_version_is_sure_of_it_answers_in_one_call(gated: Gated) -> None:
    gated.serves()
    gated.says(0.8)
    gated.ran()

    assert counted(gated) == ["PutItem"]
    gated.task.follow()
    assert (gated.status["today"]["gateSure"], gated.paid) == (2, 0)


def test_an_escalation_takes_the_calls_of_a_paid_answer(gated: Gated) -> None:
    gated.serves()
    gated.says(0.1)
    gated.ran()

    # The connection, what is reserved and stored before the call, the question, and what is
    # settled and stored after it.
    four = ["GetItem", "TransactWriteItems", "PutItem", "TransactWriteItems"]
    assert counted(gated) == four


def counted(gated: Gated) -> list[str]:
    """The calls of AWS that the worker makes for one more run."""
    killer = Killer()
    called: list[str] = []

    def work(event: dict[str, Any]) -> dict[str, Any]:
        killer.called.clear()
        answer = handler(WORKER)(event, LambdaContext(300))
        called.extend(killer.called)
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}

    gated.runs.worker.instead = work
    gated.ran()
    gated.runs.worker.instead = None
    return called


def test_chance_draws_before_the_gate_is_asked(gated: Gated) -> None:
    """A drawn run is a pair and a random example, whatever the gate says; evidence is of what
    callers have."""
    gated.serves(sampling=ALL_CHECKED)
    gated.says(0.3, OTHER)

    run = gated.ran()

    assert (run["routing"]["isDrawn"], run["routing"]["escalated"]) == (True, True)
    (pair,) = run["routing"]["pairs"]
    assert pair == {"version": 1, "score": 0, "isDrawn": True, "isSure": False}
    gated.task.follow()
    assert gated.version["pairs"] == 200
    assert escalated(gated) == 0


def test_a_version_that_was_judged_behind_its_gate_keeps_it(gated: Gated) -> None:
    gated.serves()
    gated.hosts(needs_gate=True, canary_at=200)
    gated.task.put(budgets=DAY, sampling=NONE_CHECKED, local={"backend": "linear"})
    gated.task.follow()
    forget_processes()
    gated.says(0.79, OTHER)

    run = gated.ran()

    assert run["output"] == json.loads(ANSWER)
    assert (run["routing"]["answers"], run["routing"]["escalated"]) == ("remote", True)
    gated.says(0.8)
    assert gated.ran()["routing"]["answers"] == "local"
    gated.task.follow()
    assert (gated.version["pairs"], gated.version["stage"]) == (200, "serves")
    assert gated.version["coverage"]["inputs"] == 2
    report = gated.runs.platform.call("GET", "/api/v1/apprentice/tasks/intents/report")
    assert report.json["report"]["gate"] is not None
    versions = gated.runs.platform.call("GET", "/api/v1/apprentice/tasks/intents/versions")
    assert versions.json["versions"][0]["needsGate"]


def test_without_the_gate_the_same_pairs_count(gated: Gated) -> None:
    gated.serves(sampling=ALL_CHECKED)
    gated.says(0.3, OTHER)
    gated.ran()
    gated.task.follow()
    assert (gated.version["pairs"], gated.version["agreement"]["mean"]) == (200, 1)

    gated.task.put(budgets=DAY, sampling=ALL_CHECKED, local={"backend": "linear"})
    gated.task.follow()
    forget_processes()

    assert gated.version["pairs"] == 201
    assert gated.version["agreement"]["mean"] == pytest.approx(200 / 201)
    assert gated.version["coverage"] is None
    run = gated.ran()
    gated.runs.work(run["id"])
    checked = gated.runs.read(run["id"])["routing"]
    assert (checked["answers"], checked["escalated"]) == ("local", False)
    assert checked["pairs"] == [{"version": 1, "score": 0, "isDrawn": True, "isSure": False}]


def test_without_money_an_unsure_version_answers_unmonitored(gated: Gated) -> None:
    gated.serves()
    gated.says(0.3, OTHER)
    gated.task.put(budgets=NO_ROOM, sampling=NONE_CHECKED, local=LINEAR)
    forget_processes()

    run = gated.ran()

    routing = run["routing"]
    assert run["output"] == json.loads(OTHER)
    assert (routing["answers"], routing["local"]) == ("local", "unsure")
    assert (routing["unmonitored"], routing["escalated"]) == (True, False)
    gated.task.follow()
    today = gated.status["today"]
    assert (today["local"], today["escalated"], today["unmonitored"]) == (1, 0, 1)


def test_without_money_a_strict_task_refuses_what_its_version_is_unsure_of(gated: Gated) -> None:
    strict = {**NO_ROOM, "whenExhausted": "fail"}
    gated.serves()
    gated.task.put(budgets=strict, sampling=NONE_CHECKED, local=LINEAR)
    forget_processes()
    gated.says(0.3)
    assert gated.runs.start(wait=20).status == 402
    gated.says(0.9)
    assert gated.runs.start(wait=20).status == 200


def test_a_version_without_a_gate_answers_all(gated: Gated) -> None:
    """Its evidence is of all its answers, so that nothing more is promised than was shown."""
    gated.task.put(budgets=DAY, sampling=NONE_CHECKED, local=LINEAR)
    gated.task.add_version(1, backend="linear")
    gated._learn(200, score=1.0)
    gated.task.add_version(1, backend="linear", canary_at=200)
    forget_processes()
    gated.says(0.01)

    assert gated.ran()["routing"]["answers"] == "local"
    assert gated.version["coverage"] is None


def test_an_answer_without_a_confidence_is_unsure(gated: Gated) -> None:
    gated.serves()
    gated.small.says["small-1"] = ANSWER

    routing = gated.ran()["routing"]

    assert (routing["local"], routing["answers"]) == ("unsure", "remote")


def asked(gated: Gated, count: int, *, confidence: float, **fields: Any) -> None:
    """Have so many runs answered that were not drawn, without asking anybody."""
    now = datetime.now(UTC) - timedelta(minutes=1)
    alone = {"is_drawn": False, "remote": None, "answers": "local", "phase": 3, "cost_nano_usd": 0}
    made = {**alone, "local_version": 1, "local_confidence": confidence, "created_at": now}
    gated.task.store(gated.task.answered(**{**made, **fields}) for _ in range(count))
    gated.task.follow()
    forget_processes()


def test_fewer_inputs_that_a_version_is_sure_of_raise_an_alarm_and_are_checked(
    gated: Gated,
) -> None:
    gated.serves(confidence={"falseAlarmPairs": 100, "windowSize": 20})
    asked(gated, 60, confidence=0.9)
    seen = gated.version["coverage"]
    assert (seen["inputs"], seen["share"], seen["promised"], seen["least"]) == (60, 1, 0.9, 0.75)
    assert gated.version["sampling"]["reason"] != "coverage"

    asked(gated, 60, confidence=0.2, local="unsure", answers="remote", remote="answered")

    after = gated.version
    assert (after["stage"], after["coverage"]["alarms"]) == ("serves", 1)
    assert (after["sampling"]["rate"], after["sampling"]["reason"]) == (1, "coverage")
    assert after["coverage"]["checkedUntil"] == 220
    assert [one["kind"] for one in gated.status["alerts"]] == ["coverage"]

    # What it is sure of goes on to agree: the lower share is what is usual from then on.
    gated.says(0.9)
    gated.ran()
    gated._learn(20, score=1.0)
    asked(gated, 10, confidence=0.9)
    after = gated.version
    assert (after["coverage"]["checkedUntil"], after["coverage"]["alarms"]) == (None, 1)
    assert after["coverage"]["least"] < 0.5
    assert after["sampling"]["reason"] != "coverage"
    assert [one["kind"] for one in gated.status["alerts"]] == ["coverage"]


def test_inputs_are_counted_once_whatever_comes_again(gated: Gated) -> None:
    gated.serves()
    asked(gated, 5, confidence=0.9)
    before = gated.version["coverage"], gated.status["today"]
    gated.task.follow()
    gated.task.follow(gated.task.records()[::-1], at_once=1)

    assert (gated.version["coverage"], gated.status["today"]) == before
    assert before[0]["inputs"] == 5


def test_a_report_says_what_the_gate_did(gated: Gated) -> None:
    gated.serves()
    asked(gated, 3, confidence=0.9)
    gated.says(0.2)
    gated.ran()
    gated.task.follow()

    answer = gated.runs.platform.call("GET", "/api/v1/apprentice/tasks/intents/report")
    gate = answer.json["report"]["gate"]

    assert gate["coverage"] == 0.75
    assert gate["escalated"] == pytest.approx(1 / 204)
    assert gate["agreement"] == 1
