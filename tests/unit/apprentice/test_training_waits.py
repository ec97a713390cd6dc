"""An execution that waits for jobs has fewer events than an execution may have."""

import json

from autotune_platform.apprentice.hosting.lacking import AT_MOST, GIVE_UP_AFTER, pause_of
from autotune_platform.apprentice.training import elsewhere
from autotune_platform.apprentice.training.jobs import WAIT_FOR_SPOT_S
from autotune_platform.apprentice.training.waits import wait_seconds
from infra.config import REPOSITORY_ROOT

MOST_EVENTS = 25_000
LONGEST_JOB_S = 432_000
"""The highest ``maxRuntimeS``."""
_EVENTS = {"Task": 5, "Choice": 2, "Wait": 2}
"""A task is entered, scheduled, started, succeeds and is left; others are entered and left."""


def machine():
    return json.loads((REPOSITORY_ROOT / "statemachines" / "train_student.asl.json").read_text())


def looks_until(age_seconds):
    looks, age = 0, 0
    while age < age_seconds:
        looks, age = looks + 1, age + wait_seconds(age)
    return looks


def test_the_longest_training_has_few_enough_events():
    definition = machine()
    states = definition["States"]
    around = [
        states[name]["Type"]
        for name in ("TrainOnSageMaker", "IsAnythingLeftAfterTrainOnSageMaker", "WaitForJob")
    ]
    a_look = sum(_EVENTS[kind] for kind in around)
    once = sum(_EVENTS.get(state["Type"], 2) for state in states.values())
    hosts = [
        states[name]["Type"]
        for name in ("DeployStudent", "IsAnythingLeftAfterDeployStudent", "WaitForHost")
    ]
    assert a_look == sum(_EVENTS[kind] for kind in hosts) == 9
    # A host is looked at by its own age, beginning with short waits.
    hosting = AT_MOST.total_seconds()
    looks = looks_until(definition["TimeoutSeconds"] - hosting) + looks_until(hosting)
    assert looks_until(hosting) < 400
    assert once + a_look * looks < MOST_EVENTS * 0.9


def test_the_longest_training_is_over_before_its_execution_is():
    # A day without capacity, a job, the one that goes on from its checkpoints, and its host.
    longest = elsewhere.GIVE_UP_AFTER.total_seconds() + 2 * (LONGEST_JOB_S + WAIT_FOR_SPOT_S)
    assert longest + AT_MOST.total_seconds() + 3_600 < machine()["TimeoutSeconds"]


def test_waits_grow_with_age_and_are_bounded():
    assert [wait_seconds(age) for age in (0, 1_800, 7_200, 86_400)] == [30, 30, 120, 600]


def test_pauses_without_an_instance_grow_to_two_hours():
    minutes = [pause_of(rounds).total_seconds() / 60 for rounds in range(1, 8)]
    assert minutes == [10, 20, 40, 80, 120, 120, 120]
    # Beyond the day: the pause that was begun, and half an hour for each of ten types.
    assert pause_of(100) <= AT_MOST - GIVE_UP_AFTER
