"""Inputs that other tests asked are there again as if they were asked, and only where they may."""

import pytest

from tests.support.trainings import TASK, Trainings
from tests.support.trainings import trainings as make_trainings


@pytest.fixture
def trainings(runs, monkeypatch):
    with make_trainings(runs, monkeypatch) as made:
        yield made


@pytest.fixture(scope="module")
def asked_before():
    """Whether this file asked already: what is shared by its tests keeps them in one process."""
    return []


def asked(trainings: Trainings) -> int:
    """How often the paid model was."""
    executions: int = trainings.runs.bill["executions"]
    return executions


def examples(trainings: Trainings) -> int:
    counted: int = trainings.platform.call("GET", f"{TASK}/status").json["status"]["examples"]
    return counted


@pytest.mark.parametrize("time", ["first", "again"])
def test_a_task_has_its_examples_and_goes_on(trainings, asked_before, time):
    trainings.ask(7, seed=9)
    assert asked(trainings) == (0 if asked_before else 7)
    asked_before.append(time)
    assert examples(trainings) == 7
    before = asked(trainings)
    trainings.runs.start({"text": "please show me nothing"}, wait=20)
    assert asked(trainings) == before + 1, "the provider is asked where it is now"


def test_another_task_is_asked_anew(trainings):
    trainings.put(description="Tells what nobody asked before.")
    trainings.ask(7, seed=9)
    assert (asked(trainings), examples(trainings)) == (7, 7)


def test_what_a_test_made_before_is_not_lost(trainings):
    key = trainings.platform.new_key("admin")
    trainings.ask(7, seed=9)
    assert asked(trainings) == 7
    assert trainings.platform.me(key)["role"] == "admin"


def test_answers_of_another_model_are_its_own(trainings):
    trainings.runs.say('{"intent":"cancel"}')
    trainings.ask(7, seed=9)
    assert asked(trainings) == 7
