"""The mean of paired differences and its interval."""

from random import Random
from statistics import fmean

from autotune_platform.overview.paired import estimate


def test_an_interval_holds_the_true_mean_in_95_of_100_samples() -> None:
    dice = Random(1)
    held = 0
    for _ in range(4_000):
        found = estimate([dice.gauss(0.1, 0.3) for _ in range(6)])
        assert found is not None
        assert found.interval is not None
        held += found.interval[0] <= 0.1 <= found.interval[1]
    assert 0.94 < held / 4_000 < 0.96


def test_few_differences_have_a_mean_and_no_interval() -> None:
    assert estimate([]) is None
    assert estimate([0.25]) == (0.25, None)
    assert estimate([0.5, 0.5]) == (0.5, (0.5, 0.5))
    found = estimate([0.1, 0.2, 0.6])
    assert found is not None
    assert found.mean == fmean([0.1, 0.2, 0.6])
