"""``python -m tests.chaos``: how it ends."""

import io
import sys

import pytest
from rich.console import Console

from tests.chaos import __main__ as chaos
from tests.chaos.invariants import Finding, every_fault_happened

WELL = Finding("all is well", 3, [])
LOST = Finding("nothing is lost", 7, ["completion 5 is lost"])
KIND = every_fault_happened({"functions killed": 0})


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Return what is printed."""
    written = io.StringIO()
    monkeypatch.setattr(chaos, "console", Console(file=written, width=130))
    return written


def test_what_was_violated_is_told_again_at_the_end(
    monkeypatch: pytest.MonkeyPatch, told: io.StringIO
) -> None:
    suites = {"outage": lambda _: [LOST], "starved": lambda _: [WELL]}
    monkeypatch.setattr(chaos, "_SMALL_SUITES", suites)
    monkeypatch.setattr(sys, "argv", ["chaos", "outage", "starved"])

    assert chaos.main() == 1
    assert told.getvalue().splitlines()[-2:] == [
        "suite outage:",
        "violated: nothing is lost: completion 5 is lost",
    ]

    monkeypatch.setattr(sys, "argv", ["chaos", "starved"])
    assert chaos.main() == 0


@pytest.mark.parametrize(
    ("runs", "taken", "violated"),
    [
        pytest.param([[WELL]], 1, [], id="well"),
        pytest.param([[KIND, WELL], [WELL]], 2, [], id="too kind, once"),
        pytest.param([[KIND]] * 3, 3, [KIND], id="too kind, each time"),
        pytest.param([[KIND, LOST]], 1, [KIND, LOST], id="too kind, and something is lost"),
        pytest.param([[KIND], [LOST]], 2, [LOST], id="something is lost the second time"),
    ],
)
def test_only_a_run_that_was_too_kind_is_run_again(
    runs: list[list[Finding]], taken: int, violated: list[Finding], told: io.StringIO
) -> None:
    left = iter(runs)

    assert chaos.violations_of("outage", lambda: next(left)) == violated
    assert len(list(left)) == len(runs) - taken
    assert told.getvalue().count("runs again") == taken - 1
