"""``python -m tests.chaos``: how it ends."""

import io
import sys

import pytest
from rich.console import Console

from tests.chaos import __main__ as chaos
from tests.chaos.invariants import Finding


def test_what_was_violated_is_told_again_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    well = [Finding("all is well", 3, [])]
    ill = [Finding("nothing is lost", 7, ["completion 5 is lost"])]
    told = io.StringIO()
    suites = {"outage": lambda _: ill, "starved": lambda _: well}
    monkeypatch.setattr(chaos, "_SMALL_SUITES", suites)
    monkeypatch.setattr(chaos, "console", Console(file=told, width=130))
    monkeypatch.setattr(sys, "argv", ["chaos", "outage", "starved"])

    assert chaos.main() == 1
    assert told.getvalue().splitlines()[-2:] == [
        "suite outage:",
        "violated: nothing is lost: completion 5 is lost",
    ]

    monkeypatch.setattr(sys, "argv", ["chaos", "starved"])
    assert chaos.main() == 0
