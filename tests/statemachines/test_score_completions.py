"""The run of a chunk: rounds until nothing is left, and a failed end when we cannot go on."""

import json
from pathlib import Path
from typing import Any

import pytest

from autotune_platform.runs.progress import ROUNDS_OF_AN_EXECUTION
from autotune_platform.runtime.errors import UnavailableError
from tests.statemachines.conftest import StateMachines

FILE = "score_completions.asl.json"
START = {"completion_ids": ["cmp_1"], "remaining": 1, "sleep_seconds": 0, "attempt": 0}

_EVENTS_OF_A_RETRY = 3
_MOST_EVENTS = 25_000


def left(
    remaining: int, sleep_seconds: int = 0, waiting: int = 0, wait_seconds: int = 60
) -> dict[str, Any]:
    counts = {"remaining": remaining, "sleep_seconds": sleep_seconds, "waiting": waiting}
    return {"return": {**counts, "wait_seconds": wait_seconds if waiting else 0}}


def test_a_chunk_that_is_graded_at_once_takes_three_states(machines: StateMachines) -> None:
    run = machines.run(FILE, START, GradeChunk=[left(0)], FailRun=[left(0)])
    assert (run.status, run.entered) == ("SUCCEEDED", ["GradeChunk", "IsAnythingLeft", "Graded"])


def test_what_is_left_is_graded_again_after_its_back_off(machines: StateMachines) -> None:
    run = machines.run(FILE, START, GradeChunk=[left(3, 9), left(2), left(0)], FailRun=[left(0)])
    assert run.status == "SUCCEEDED"
    assert run.entered == [
        *["GradeChunk", "IsAnythingLeft", "BackOff"],
        *["GradeChunk", "IsAnythingLeft"],
        *["GradeChunk", "IsAnythingLeft", "Graded"],
    ]


def test_passing_trouble_of_ours_is_tried_again(machines: StateMachines) -> None:
    script = [{"raise": "throttled"}, {"raise": "throttled"}, left(0)]
    run = machines.run(FILE, START, GradeChunk=script, FailRun=[left(0)])
    assert (run.status, run.entered[-1]) == ("SUCCEEDED", "Graded")


@pytest.mark.parametrize(
    "error",
    [
        "Lambda.TooManyRequestsException",
        "Lambda.ServiceException",
        "Lambda.AWSLambdaException",
        "Lambda.SdkClientException",
        "ThrottlingException",
        "ProvisionedThroughputExceededException",
        UnavailableError.__name__,
    ],
)
def test_too_little_capacity_is_outlasted(error: str) -> None:
    """Read, not run: MiniStack names every error of a function ``Runtime.HandlerError``."""
    retriers = json.loads(Path("statemachines", FILE).read_text())["States"]["GradeChunk"]["Retry"]
    first = next(one for one in retriers if {error, "States.ALL"} & set(one["ErrorEquals"]))
    # Pauses grow to five minutes, and are half of that on average.
    assert first["MaxDelaySeconds"] / 2 * first["MaxAttempts"] > 6.5 * 86_400
    assert first["MaxAttempts"] * _EVENTS_OF_A_RETRY < _MOST_EVENTS / 2


def test_lasting_trouble_of_ours_fails_the_run(machines: StateMachines) -> None:
    run = machines.run(FILE, START, GradeChunk=[{"raise": "broken"}], FailRun=[left(0)])
    assert (run.status, run.error) == ("FAILED", "GradingFailed")
    assert run.entered == ["GradeChunk", "FailRun", "GradingFailed"]


def test_a_run_fails_even_where_its_end_cannot_be_recorded(machines: StateMachines) -> None:
    broken = [{"raise": "broken"}]
    run = machines.run(FILE, START, GradeChunk=broken, FailRun=broken)
    assert (run.status, run.error) == ("FAILED", "GradingFailed")


ANSWERED: dict[str, Any] = {"succeed": "{}"}
NO_ANSWER: dict[str, Any] = {"return": {}}


def test_a_run_waits_for_a_word_and_looks_again(machines: StateMachines) -> None:
    run = machines.run(
        FILE,
        START,
        GradeChunk=[left(0, waiting=2), left(0, waiting=1, wait_seconds=1), left(0)],
        AwaitAnswers=[ANSWERED, NO_ANSWER],
        FailRun=[left(0)],
    )
    assert run.status == "SUCCEEDED"
    assert run.entered == [
        *["GradeChunk", "IsAnythingLeft", "AwaitAnswers"],
        *["GradeChunk", "IsAnythingLeft", "AwaitAnswers"],
        *["GradeChunk", "IsAnythingLeft", "Graded"],
    ]


def test_what_is_left_is_graded_before_anything_is_waited_for(machines: StateMachines) -> None:
    run = machines.run(
        FILE,
        START,
        GradeChunk=[left(1, 5, waiting=1), left(2, waiting=1), left(0, waiting=1), left(0)],
        AwaitAnswers=[ANSWERED],
        FailRun=[left(0)],
    )
    assert run.status == "SUCCEEDED"
    assert [state for state in run.entered if state in {"BackOff", "AwaitAnswers"}] == [
        *["BackOff", "AwaitAnswers"]
    ]
    assert run.entered.count("GradeChunk") == 4


def test_a_wait_keeps_the_state_of_the_run(machines: StateMachines) -> None:
    run = machines.run(
        FILE,
        START,
        GradeChunk=[left(0, waiting=1), left(0)],
        AwaitAnswers=[{"succeed": '{"completion_ids": []}'}],
        FailRun=[left(0)],
    )
    assert run.output["completion_ids"] == ["cmp_1"]


def test_a_wait_that_cannot_begin_fails_the_run(machines: StateMachines) -> None:
    run = machines.run(
        FILE,
        START,
        GradeChunk=[left(0, waiting=1)],
        AwaitAnswers=[{"fail": "RuntimeError"}],
        FailRun=[left(0)],
    )
    assert (run.status, run.error) == ("FAILED", "GradingFailed")
    assert run.entered[-2:] == ["FailRun", "GradingFailed"]


def test_a_run_goes_on_in_another_execution_before_its_history_is_full(
    machines: StateMachines,
) -> None:
    full = left(3, 9)
    full["return"]["is_history_full"] = True
    run = machines.run(FILE, START, GradeChunk=[left(3, 9), full], ContinueRun=[left(0)])
    assert run.status == "SUCCEEDED"
    assert run.entered == [
        *["GradeChunk", "IsAnythingLeft", "BackOff"],
        *["GradeChunk", "IsAnythingLeft", "LastBackOff", "ContinueRun", "Continued"],
    ]
    # The next execution has the run as it was.
    assert run.output["completion_ids"] == START["completion_ids"]


def test_a_run_that_is_through_needs_no_other_execution(machines: StateMachines) -> None:
    over = left(0)
    over["return"]["is_history_full"] = True
    run = machines.run(FILE, START, GradeChunk=[over])
    assert run.entered == ["GradeChunk", "IsAnythingLeft", "Graded"]


def test_a_run_that_cannot_go_on_elsewhere_fails(machines: StateMachines) -> None:
    full = left(0, waiting=1)
    full["return"]["is_history_full"] = True
    run = machines.run(
        FILE, START, GradeChunk=[full], ContinueRun=[{"raise": "broken"}], FailRun=[left(0)]
    )
    assert (run.status, run.error) == ("FAILED", "GradingFailed")


def test_a_history_has_room_for_all_rounds_of_an_execution() -> None:
    states = json.loads(Path("statemachines", FILE).read_text())["States"]
    retries = max(one["MaxAttempts"] for one in states["GradeChunk"]["Retry"])
    # A round that ends in a wait for a signal: five events of a task, two of a choice, six of a
    # task with a token.
    most = ROUNDS_OF_AN_EXECUTION * 13 + retries * _EVENTS_OF_A_RETRY
    assert most < _MOST_EVENTS


def test_a_run_is_parked_until_it_is_woken_or_looks_by_itself(machines: StateMachines) -> None:
    parked, last = left(2, 400), left(2, 1)
    for one in (parked, last):
        one["return"]["is_parked"] = True
    again = left(1)
    again["return"]["is_parked"] = False
    run = machines.run(
        FILE,
        START,
        GradeChunk=[parked, last, again, left(0)],
        AwaitAnswers=[ANSWERED, NO_ANSWER],
        FailRun=[left(0)],
    )
    assert run.status == "SUCCEEDED"
    assert run.entered == [
        *["GradeChunk", "IsAnythingLeft", "Park"] * 2,
        *["GradeChunk", "IsAnythingLeft"],
        *["GradeChunk", "IsAnythingLeft", "Graded"],
    ]
