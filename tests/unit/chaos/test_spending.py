"""In ``spending`` midnight passes while calls are under way, on machines of any speed."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from tests.chaos import spending
from tests.chaos.beside import Beside
from tests.chaos.spending import Storm
from tests.chaos.spending_world import Size

MIDNIGHT = datetime(2027, 2, 1, tzinfo=UTC)


class Clock:
    """Stands still, but for whoever turns it."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def turn_to(self, moment: datetime) -> None:
        assert moment >= self._now, "it goes back"
        self._now = moment


@pytest.mark.parametrize(
    ("left", "billed", "turns"),
    [
        pytest.param(spending.BEGINS_BEFORE, 70, True, id="many calls are on the bill"),
        pytest.param(timedelta(seconds=29), 3, True, id="few are, and midnight is near"),
        pytest.param(spending.BEGINS_BEFORE, 69, False, id="few are, and there is time"),
    ],
)
def test_midnight_passes_before_it_comes_by_itself(
    left: timedelta, billed: int, turns: bool
) -> None:
    storm: Any = object.__new__(Storm)
    clock, asked = Clock(MIDNIGHT - left), list[str]()
    storm.clock, storm.midnight, storm.size = clock, MIDNIGHT, Size(500)
    storm.payee = SimpleNamespace(teacher=SimpleNamespace(asked=asked, billed=lambda: len(asked)))
    storm._beside, storm._faults = Beside(), Counter()
    storm._open_calls = lambda: ["a call"]
    storm._beside.start(storm._turn)
    try:
        asked += ["a call"] * billed
        for thread in storm._beside._threads:
            thread.join(60 if turns else 0.3)
        assert (clock.now() == MIDNIGHT) == turns
    finally:
        storm._beside.stop()
    assert (storm._faults[spending.UNDER_WAY] == 1) == turns
