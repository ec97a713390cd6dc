"""Looks at a provider's job are counted as the product makes them."""

from datetime import timedelta

import pytest

from autotune_platform.ledger.timings import Timings
from benchmarks.llm_cost import Looks, looks_within


@pytest.mark.parametrize(
    ("hours", "most", "looks"), [(0.1, 1_800, 5), (1, 1_800, 28), (24, 1_800, 83), (24, 900, 124)]
)
def test_a_job_is_looked_at_the_more_seldom_the_older_it_is(
    hours: float, most: int, looks: int
) -> None:
    timings = Timings(poll_most_seconds=most)
    assert looks_within(timedelta(hours=hours), timings) == looks


def test_no_wait_is_longer_than_a_tenth_of_the_age_beyond_the_first_ones() -> None:
    timings = Timings()
    ages = [timedelta(minutes=minutes) for minutes in range(10, 72 * 60)]
    waits = [timings.poll_after(age) for age in ages]
    assert waits == sorted(waits)
    assert all(wait <= age.total_seconds() / 10 for wait, age in zip(waits, ages, strict=True))


def test_looks_are_paid_by_the_job() -> None:
    looks = Looks(usd_each=0.0001, measured=10, in_a_day=83)
    assert looks.usd_per_million(10_000) == pytest.approx(0.83)
    assert looks.usd_per_million(2_000) == pytest.approx(4.15)
