"""Callers while versions come and go: each is answered, and soon by whoever may."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import pytest
from cachetools import TTLCache

from autotune_platform.apprentice.standing import KNOWN_SECONDS, KNOWN_TASKS
from functions.apprentice import runs_api, work_runs
from tests.support.lambdas import forget_processes
from tests.support.phased_runs import DAY, NONE_CHECKED, OTHER, Phased

TASK = "/api/v1/apprentice/tasks/intents"
RULES = {
    "phase1ToPhase2": 50,
    "phase2ToPhase3": 0.6,
    "coachingTrigger": 0.5,
    "emergencyThreshold": 0.1,
}


def put(phased: Phased, **fields: Any) -> None:
    phased.task.put(
        budgets=DAY,
        sampling=NONE_CHECKED,
        thresholds=RULES,
        confidence={"falseAlarmPairs": 100},
        **fields,
    )


def graduate(phased: Phased, version: int, **fields: Any) -> None:
    """Have a version graduate; with ``canary_at`` it serves."""
    phased.task.add_version(version)
    at = datetime.now(UTC) - timedelta(minutes=5)
    made = [phased.task.answered(1.0, version=version, created_at=at) for _ in range(80)]
    phased.task.store(made)
    phased.task.follow()
    if fields:
        phased.task.add_version(version, **fields)
    forget_processes()


class Clock:
    """The time by which processes forget what they know of tasks."""

    def __init__(self) -> None:
        self.now = 0.0
        for process in (runs_api, work_runs):
            known: Any = TTLCache(KNOWN_TASKS, KNOWN_SECONDS, timer=lambda: self.now)
            object.__setattr__(process.parts().standings, "known", known)


class Held(dict[str, Any]):
    """What the small model says; once armed, a version is held until it is let go."""

    def __init__(self) -> None:
        self.model: str | None = None
        self.is_asked, self.is_free = Event(), Event()

    def get(self, model: str, default: Any = None) -> Any:
        if model == self.model:
            self.is_asked.set()
            assert self.is_free.wait(20)
        return super().get(model, default)


def test_a_rollback_loses_no_run_and_holds_within_a_minute(phased: Phased) -> None:
    put(phased)
    for number in (1, 2):
        graduate(phased, number, canary_at=80)
    clock = Clock()
    phased.small.says = held = Held()
    answered: list[dict[str, Any]] = []
    goes_on, is_over = Event(), Event()

    def call() -> None:
        while not is_over.is_set():
            answered.append(phased.ran()["routing"])
            goes_on.set()

    def more(count: int) -> None:
        for _ in range(count):
            goes_on.clear()
            assert goes_on.wait(20)

    with ThreadPoolExecutor(1) as callers:
        calls = callers.submit(call)
        try:
            more(3)
            held.model = "small-2"
            assert held.is_asked.wait(20)
            rolled = phased.runs.platform.call("POST", f"{TASK}/versions/2/rollback")
            held.is_free.set()
            assert (rolled.status, rolled.json["version"]["number"]) == (200, 1)
            more(3)
            clock.now += KNOWN_SECONDS + 1
            more(1)  # the one that was under way
            begun = len(answered)
            more(4)
        finally:
            held.is_free.set()
            is_over.set()
        calls.result()

    assert {one["answers"] for one in answered} == {"local"}
    assert [one["localVersion"] for one in answered[:4]] == [2] * 4
    assert {one["localVersion"] for one in answered[begun:]} == {1}
    phased.task.follow()
    today = phased.status["today"]
    assert today["local"] == len(answered)
    assert (today["failed"], today["refused"], today["pending"]) == (0, 0, 0)


def test_a_canary_has_its_share_and_goes_back_by_itself_when_it_turns_bad(phased: Phased) -> None:
    training = {"backend": "linear", "fineTuneBatchSize": 50, "canary": [0.5, 1]}
    put(phased, training=training)
    graduate(phased, 1, canary_at=80)
    graduate(phased, 2)
    phased.small.says["small-2"] = OTHER

    runs: list[dict[str, Any]] = []
    while phased.status["canary"] is not None:
        assert len(runs) < 120, "it never goes back"
        runs += [phased.ran() for _ in range(6)]
        phased.runs.work()
        phased.task.follow()
        phased.runs.work()
        phased.task.follow()
        forget_processes()

    asked = [(one["routing"]["localVersion"], one["routing"]["inCanary"]) for one in runs]
    assert set(asked) == {(1, False), (2, True)}
    assert all(one["state"] == "answered" for one in runs)
    bad = [one for one in runs if one["output"] == {"intent": "close_door"}]
    assert len(bad) == asked.count((2, True))
    assert all(phased.runs.read(one["id"])["routing"]["check"] == "done" for one in bad)
    status = phased.status
    assert (status["phase"], status["serving"], status["canary"]) == (3, 1, None)
    assert phased.ran()["routing"]["localVersion"] == 1


def test_the_first_version_takes_its_share_and_the_paid_model_the_rest(phased: Phased) -> None:
    training = {"backend": "linear", "fineTuneBatchSize": 50, "canary": [0.5, 1]}
    put(phased, training=training)
    graduate(phased, 1)

    routings = [phased.ran()["routing"] for _ in range(24)]

    ways = {(one["phase"], one["inCanary"], one["answers"]) for one in routings}
    assert ways == {(3, True, "local"), (2, False, "remote")}
    assert all(one["isDrawn"] for one in routings)


@pytest.mark.parametrize("has_incumbent", [True, False])
def test_a_person_may_end_a_canary(phased: Phased, has_incumbent: bool) -> None:
    put(phased)
    if has_incumbent:
        graduate(phased, 1, canary_at=80)
    graduate(phased, 2)
    assert phased.status["canary"] == 2

    first = phased.runs.platform.call("POST", f"{TASK}/versions/2/rollback")
    again = phased.runs.platform.call("POST", f"{TASK}/versions/2/rollback")

    assert (first.status, again.status) == (200, 200)
    expected = (1, "hosted") if has_incumbent else (2, "retired")
    for answer in (first, again):
        shown = answer.json["version"]
        assert (shown["number"], shown["state"]) == expected
    status = phased.status
    assert (status["canary"], status["serving"]) == (None, 1 if has_incumbent else None)
