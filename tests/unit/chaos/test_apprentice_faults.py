"""Functions are killed as fast as something gets done between, and no faster."""

import time
from typing import Any

import pytest

from tests.chaos import apprentice_faults
from tests.chaos.apprentice_faults import Mishaps
from tests.chaos.student import STRIKES, MortalStudent


class Stack:
    """Has no workers of its own."""

    directory = None


class Student:
    """Is as well as it is."""

    def __getattr__(self, _name: str) -> Any:
        return lambda *_: None


def test_whoever_gets_nothing_done_is_not_killed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    done = [0]
    monkeypatch.setattr(apprentice_faults, "KILLED_EVERY", (0.01, 0.02))
    monkeypatch.setattr(apprentice_faults, "LOOKS_EVERY_SECONDS", 0.01)
    monkeypatch.setattr(
        apprentice_faults,
        "workers_below",
        lambda _: [(name, None) for name in apprentice_faults.KILLED],
    )
    monkeypatch.setattr(
        apprentice_faults, "kill", lambda name, _process, killed: killed.update([name])
    )
    mishaps = Mishaps(
        Stack(),  # type: ignore[arg-type]
        Student(),  # type: ignore[arg-type]
        list,
        progress=lambda: done[0],
        seed=1,
    )
    mishaps.start()
    try:
        for times in range(4):
            deadline = time.monotonic() + 20
            while mishaps.killed.total() < times and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(0.3)  # for more than one that could be killed
            assert mishaps.killed.total() == times
            done[0] += 1
    finally:
        mishaps.stop()


def test_all_has_struck_once_the_small_model_was_hurt_in_each_way() -> None:
    student = MortalStudent()
    mishaps = Mishaps(Stack(), student, list, progress=int, seed=1)  # type: ignore[arg-type]
    mishaps.killed["WorkRuns"] += 1
    found = []
    for one in sorted(STRIKES):
        student.struck[one] += 1
        found.append(mishaps.all_struck)
    assert found == [False] * (len(STRIKES) - 1) + [True]
    mishaps.killed.clear()
    assert not mishaps.all_struck
