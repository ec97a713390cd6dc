"""Which rating counts as true."""

from collections import Counter

import pytest

from autotune_platform.statistics.truth import (
    DOES_NOT_APPLY,
    GroundTruth,
    Settled,
    ground_truth,
)

KEY = b"secret"
NA = DOES_NOT_APPLY


@pytest.mark.parametrize(
    ("ratings", "adjudicated", "expected"),
    [
        ([], None, (None, Settled.NO_RATING)),
        ([2], None, (2, Settled.ONE_RATING)),
        ([0], None, (0, Settled.ONE_RATING)),
        ([NA], None, (NA, Settled.ONE_RATING)),
        ([2, 2], None, (2, Settled.MEDIAN)),
        ([-3, 3, 1], None, (1, Settled.MEDIAN)),
        ([1, 3], None, (None, Settled.TO_ADJUDICATE)),
        ([3, 1], 0, (0, Settled.ADJUDICATED)),
        ([2, 2, 2], NA, (NA, Settled.ADJUDICATED)),
        ([1, NA], None, (None, Settled.TO_ADJUDICATE)),
        ([1, NA, NA], None, (NA, Settled.MEDIAN)),
        ([1, 1, NA], None, (1, Settled.MEDIAN)),
        ([1, 3, NA], None, (None, Settled.TO_ADJUDICATE)),
        ([-3, 1, 1, 3], None, (1, Settled.MEDIAN)),
        ([-3, -1, 1, 3], None, (None, Settled.TO_ADJUDICATE)),
        ([1, 2, NA, NA], None, (None, Settled.TO_ADJUDICATE)),
    ],
)
def test_truth_is_adjudicated_else_the_median_else_the_one(ratings, adjudicated, expected):
    truth = ground_truth(ratings, adjudicated=adjudicated, key=KEY, sample_id="smp_1")
    assert (truth.rating, truth.how) == expected
    assert ground_truth(ratings[::-1], adjudicated=adjudicated, key=KEY, sample_id="smp_1") == truth


def test_a_gap_of_one_goes_up_as_often_as_down_and_always_the_same_way():
    ids = [f"smp_{number}" for number in range(4000)]
    settled = [ground_truth([1, 2], key=KEY, sample_id=each) for each in ids]
    counts = Counter(truth.rating for truth in settled)
    assert {truth.how for truth in settled} == {Settled.KEYED_HASH}
    assert counts[1] + counts[2] == len(ids)
    assert abs(counts[2] - 2000) < 3 * 4000**0.5 / 2
    assert settled == [ground_truth([2, 1], key=KEY, sample_id=each) for each in ids]


def test_which_way_it_goes_needs_the_key():
    ids = [f"smp_{number}" for number in range(1000)]
    ways = [
        [ground_truth([1, 2], key=key, sample_id=each).level for each in ids]
        for key in (KEY, b"another")
    ]
    same = sum(a == b for a, b in zip(*ways, strict=True))
    assert abs(same - 500) < 3 * 1000**0.5 / 2


def test_that_it_does_not_apply_is_no_level():
    assert GroundTruth(DOES_NOT_APPLY, Settled.MEDIAN).level is None
    assert GroundTruth(0, Settled.MEDIAN).level == 0
