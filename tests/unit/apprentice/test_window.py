"""The last pairs: mean, slope, drift, shift and staleness as the design has them."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.apprentice.pairs import Pair
from autotune_platform.apprentice.window import (
    WindowFigures,
    WindowSettings,
    WindowSettingsError,
    figures,
)

DAY = 86_400.0
SETTINGS = WindowSettings(size=20)


def shown(
    scores: list[float], settings: WindowSettings = SETTINGS, *, now: float = 0.0
) -> WindowFigures:
    made = [
        Pair(sequence=place, score=score, is_drawn=True, at=0.0)
        for place, score in enumerate(scores, start=1)
    ]
    return figures(made, now, settings)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=150))
def test_mean_and_slope_are_those_of_numpy(scores: list[float]) -> None:
    found = shown(scores, WindowSettings(size=100))
    window = scores[-100:]
    assert found.pairs == len(window)
    assert found.mean == pytest.approx(np.mean(window))
    slope = np.polyfit(np.arange(len(window)), window, 1)[0] * 100
    assert found.slope == pytest.approx(slope, abs=1e-8)


def test_of_nothing_there_is_nothing() -> None:
    found = shown([])
    assert found == WindowFigures(
        pairs=0,
        mean=None,
        slope=None,
        trend="stable",
        has_drift=False,
        has_shift=False,
        is_stale=True,
    )
    assert shown([0.5]).slope is None
    assert shown([0.5]).mean == 0.5


@pytest.mark.parametrize(
    ("slope", "trend"),
    [
        (0.011, "improving"),
        (0.009, "stable"),
        (0.0, "stable"),
        (-0.009, "stable"),
        (-0.011, "declining"),
    ],
)
def test_a_trend_begins_at_a_hundredth_in_a_hundred_pairs(slope: float, trend: str) -> None:
    scores = [0.8 + slope / 100 * place for place in range(100)]
    found = shown(scores, WindowSettings(size=100))
    assert found.trend == trend
    assert found.slope == pytest.approx(slope)


def test_three_half_overlapping_windows_in_a_row_that_fall_are_a_drift() -> None:
    """Ends of windows are half a window apart: 20 pairs and three times ten."""
    falling = [0.9] * 20 + [0.88] * 10 + [0.86] * 10 + [0.84] * 10
    assert shown(falling).has_drift
    assert not shown(falling).has_shift
    assert not shown(falling[1:]).has_drift, "one window is missing"
    kept = [0.9] * 20 + [0.88] * 10 + [0.88] * 10 + [0.88] * 10
    assert not shown(kept).has_drift, "the last one does not fall"
    risen = [0.9] * 20 + [0.84] * 10 + [0.86] * 10 + [0.8] * 10
    assert shown(risen).has_drift, "what counts are windows, and not their halves"
    assert SETTINGS.pairs_needed == len(falling)
    assert shown([0.1] * 50 + falling).has_drift, "older pairs have no say"


def test_a_window_that_falls_by_more_than_the_sensitivity_is_a_shift() -> None:
    by = WindowSettings(size=20, sensitivity=0.25)
    assert shown([1.0] * 20 + [0.25] * 10, by).has_shift
    assert not shown([1.0] * 20 + [0.5] * 10, by).has_shift, "exactly that much is none"
    assert not shown([0.25] * 20 + [1.0] * 10, by).has_shift, "it rose"
    assert not shown([0.0] * 20, by).has_shift, "there is none before it"


def test_only_drawn_pairs_are_in_it() -> None:
    made = [
        Pair(sequence=place, score=float(place % 2), is_drawn=place % 2 == 1, at=0.0)
        for place in range(1, 101)
    ]
    found = figures(made, 0.0, SETTINGS)
    assert (found.pairs, found.mean) == (20, 1.0)


def test_pairs_leave_when_they_are_too_old_and_twenty_have_to_be_left() -> None:
    week = 7 * DAY
    made = [
        Pair(sequence=place, score=0.5 if place <= 10 else 1.0, is_drawn=True, at=float(place))
        for place in range(1, 31)
    ]
    settings = WindowSettings(size=100)
    assert figures(made, week + 1, settings).pairs == 30, "exactly that old is not older"
    assert figures(made, week + 2, settings).pairs == 29
    found = figures(made, week + 11, settings)
    assert (found.pairs, found.mean, found.is_stale) == (20, 1.0, False)
    found = figures(made, week + 12, settings)
    assert (found.pairs, found.is_stale) == (19, True)
    assert figures(made, 3 * week, settings).mean is None


def test_a_pair_of_a_clock_that_is_ahead_is_not_old() -> None:
    made = [Pair(sequence=1, score=1.0, is_drawn=True, at=DAY)]
    assert figures(made, 0.0, SETTINGS).pairs == 1


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"size": 19}, "window_size"),
        ({"size": 10_001}, "window_size"),
        ({"sensitivity": 0.0}, "trend_sensitivity"),
        ({"sensitivity": math.nan}, "trend_sensitivity"),
        ({"max_age_seconds": 0.0}, "max_window_age"),
        ({"max_age_seconds": math.inf}, "max_window_age"),
    ],
)
def test_settings_outside_their_limits_are_refused_by_name(
    fields: dict[str, float], named: str
) -> None:
    with pytest.raises(WindowSettingsError, match=f"^{named}:"):
        WindowSettings(**fields)  # type: ignore[arg-type]


def test_a_fall_of_agreement_is_a_shift_before_long() -> None:
    chance = random.Random(2)
    scores = [float(chance.random() < 0.95) for _ in range(300)]
    assert not shown(scores, WindowSettings()).has_shift
    scores += [float(chance.random() < 0.45) for _ in range(50)]
    found = shown(scores, WindowSettings())
    assert found.has_shift
    assert found.trend == "declining"
