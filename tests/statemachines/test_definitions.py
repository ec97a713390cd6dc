"""What every state machine of ours must be, beyond the syntax that ``make check-asl`` sees."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

FILES = sorted(Path("statemachines").glob("*.asl.json"))
PARKED = {"Park": "AwaitAnswers"}
"""States that wait with a token for as long as a sleep, by the function that begins all waits."""
TERMINAL = {"Succeed", "Fail"}


@pytest.fixture(params=FILES, ids=lambda path: path.name.removesuffix(".asl.json"))
def machine(request: pytest.FixtureRequest) -> dict[str, Any]:
    return json.loads(request.param.read_text())


def test_there_are_state_machines() -> None:
    assert FILES


def test_every_task_has_a_timeout_a_retry_and_a_catch(machine: dict[str, Any]) -> None:
    tasks = {name: s for name, s in machine["States"].items() if s["Type"] == "Task"}
    assert tasks
    for name, task in tasks.items():
        assert "TimeoutSecondsPath" in task or task["TimeoutSeconds"] > 0, name
        assert task["Retry"], name
        assert task["Catch"], name
        assert all(retry["JitterStrategy"] == "FULL" for retry in task["Retry"]), name


def test_the_whole_run_has_a_timeout(machine: dict[str, Any]) -> None:
    assert machine["TimeoutSeconds"] > 0


def test_catch_all_stands_alone_and_last(machine: dict[str, Any]) -> None:
    for name, state in machine["States"].items():
        for handlers in (state.get("Retry", []), state.get("Catch", [])):
            for position, handler in enumerate(handlers):
                if "States.ALL" in handler["ErrorEquals"]:
                    assert handler["ErrorEquals"] == ["States.ALL"], name
                    assert position == len(handlers) - 1, name


def test_a_caught_error_keeps_the_run_in_its_state(machine: dict[str, Any]) -> None:
    for name, state in machine["States"].items():
        for catch in state.get("Catch", []):
            assert catch["ResultPath"] == "$.error", name


def test_resources_are_substitutions_and_no_arns(machine: dict[str, Any]) -> None:
    for name, state in machine["States"].items():
        if state["Type"] == "Task":
            assert re.fullmatch(r"\$\{[A-Z][A-Za-z]+\}", _function(state)), name


def test_a_state_is_named_after_its_function(machine: dict[str, Any]) -> None:
    for name, state in machine["States"].items():
        if state["Type"] != "Task":
            continue
        function = PARKED.get(name, name)
        assert _function(state) == f"${{{function}FunctionArn}}"
        handler = re.sub(r"(?<!^)(?=[A-Z])", "_", function).lower()
        assert list(Path("functions").glob(f"*/{handler}.py")), handler


def test_every_state_is_reached_and_reaches_an_end(machine: dict[str, Any]) -> None:
    states = machine["States"]
    ways = {name: set(_next(state)) for name, state in states.items()}
    assert _closure({machine["StartAt"]}, ways) == set(states)
    ends = {name for name, state in states.items() if state["Type"] in TERMINAL}
    backwards = {name: {origin for origin in ways if name in ways[origin]} for name in states}
    assert _closure(ends, backwards) == set(states)


def test_what_fails_ends_failed(machine: dict[str, Any]) -> None:
    """Following only the error paths of every task, no run ends in ``Succeed``.

    That nobody spoke in time is no error of a state that waits for a word.
    """
    states = machine["States"]
    caught = {
        catch["Next"]
        for state in states.values()
        for catch in state.get("Catch", [])
        if not (_waits(state) and catch["ErrorEquals"] == ["States.Timeout"])
    }
    ways = {name: set(_next(state)) for name, state in states.items()}
    for name in _closure(caught, ways):
        assert states[name]["Type"] != "Succeed", name


def test_a_word_that_does_not_come_is_waited_for_once(machine: dict[str, Any]) -> None:
    for name, state in machine["States"].items():
        if _waits(state):
            # What is parked looks by itself when it would have slept for long enough.
            seconds = "$.sleep_seconds" if name in PARKED else "$.wait_seconds"
            assert state["TimeoutSecondsPath"] == seconds, name
            first = state["Retry"][0]
            assert (first["ErrorEquals"], first["MaxAttempts"]) == (["States.Timeout"], 0), name
            assert state["Catch"][0]["ErrorEquals"] == ["States.Timeout"], name
            assert state["ResultPath"] is None, name


def _waits(state: dict[str, Any]) -> bool:
    return bool(state.get("Resource") == "arn:aws:states:::lambda:invoke.waitForTaskToken")


def _function(state: dict[str, Any]) -> str:
    """Return what a task invokes, at once or to wait for its token."""
    function: str = state["Parameters"]["FunctionName"] if _waits(state) else state["Resource"]
    return function


def _next(state: dict[str, Any]) -> list[str]:
    branches = [*state.get("Choices", []), *state.get("Catch", []), state]
    return [b["Next"] for b in branches if "Next" in b] + (
        [state["Default"]] if "Default" in state else []
    )


def _closure(start: set[str], ways: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = set(start)
    while todo:
        name = todo.pop()
        seen.add(name)
        todo |= ways[name] - seen
    return seen
