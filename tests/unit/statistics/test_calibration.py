"""Whether a judge may score alone, and whether it is still what it was."""

import numpy as np
import pytest
from scipy import stats

from autotune_platform.statistics.agreement import agreement
from autotune_platform.statistics.calibration import Uncalibrated, calibration
from autotune_platform.statistics.drift import drift
from autotune_platform.statistics.intervals import kappa_with_interval, mean_interval
from autotune_platform.statistics.kappa import Undefined
from autotune_platform.statistics.repeatability import repeatability

N = 200
GROUPS = np.arange(N)


@pytest.fixture
def truth():
    return np.random.default_rng(19).integers(-3, 4, N).astype(float)


@pytest.fixture
def good(truth):
    return np.clip(truth + np.random.default_rng(20).choice([-2, -1, 0, 0, 1], N), -3, 3)


def test_a_judge_whose_lower_bound_reaches_the_threshold_is_calibrated(truth, good):
    found = calibration(truth, good, GROUPS)
    assert found.is_calibrated
    low = found.agreement.interval.low
    assert calibration(truth, good, GROUPS, threshold=low).is_calibrated
    higher = calibration(truth, good, GROUPS, threshold=low + 1e-9)
    assert higher.because is Uncalibrated.BELOW_THRESHOLD


@pytest.mark.parametrize(
    ("rows", "because"),
    [(49, Uncalibrated.INSUFFICIENT_LABELS), (0, Uncalibrated.INSUFFICIENT_LABELS)],
)
def test_few_labels_calibrate_nothing(truth, good, rows, because):
    assert calibration(truth[:rows], good[:rows], GROUPS[:rows]).because is because


def test_without_an_interval_there_is_no_calibration(truth):
    assert calibration(truth, truth, GROUPS).because is Uncalibrated.NO_INTERVAL
    one_group = calibration(truth, -truth, np.zeros(N))
    assert one_group.because is Uncalibrated.NO_INTERVAL


def test_confidence_is_the_share_of_hits_at_the_judges_level():
    truth = [3, 2, 1, 0, -3, 2, None]
    judged = [3, 3, 3, 3, -3, None, 2]
    found = calibration(truth, judged, list(range(7)))
    at_three = found.levels[-1]
    assert (at_three.level, at_three.n, at_three.hits) == (3, 4, 2)
    assert found.confidence(3) == pytest.approx(3 / 6)
    assert found.confidence(-3) == pytest.approx(2 / 3)
    assert found.confidence(0) == 0.5  # nothing is known


def pairs(truth, judged):
    return [(int(label), int(level)) for label, level in zip(truth, judged, strict=True)]


def test_few_hits_among_fresh_labels_are_drift(truth, good):
    known = calibration(truth, good, GROUPS).confidence
    fresh = truth[:20]
    assert not drift(known, pairs(fresh, good[:20])).has_drifted
    other = drift(known, pairs(fresh, np.clip(-fresh, -3, 3)))
    assert other.has_drifted
    assert other.probability == pytest.approx(
        stats.binom.cdf(other.hits, 20, other.predicted), rel=1e-9
    )
    few = drift(known, pairs(fresh[:19], -fresh[:19]))
    assert (few.probability, few.has_drifted) == (None, False)
    none = drift(known, [])
    assert (none.n, none.predicted, none.probability) == (0, None, None)


def test_a_judge_that_is_as_it_was_is_rarely_taken_to_have_drifted(truth, good):
    known = calibration(truth, good, GROUPS).confidence
    random = np.random.default_rng(21)
    alarms = 0
    for _ in range(2000):
        rows = random.integers(0, N, 20)
        alarms += drift(known, pairs(truth[rows], good[rows])).has_drifted
    assert alarms / 2000 <= 0.01 + 3 * (0.01 * 0.99 / 2000) ** 0.5


def test_all_figures_of_a_version_are_of_the_same_pairs(truth, good):
    judged = good.copy()
    judged[:10] = np.nan
    labels = truth.copy()
    labels[10:30] = np.nan
    found = agreement(labels, judged, GROUPS)
    assert found.agreement == kappa_with_interval(labels, judged, GROUPS)
    assert (found.labelled, found.bias.n, found.labels.n) == (180, 170, 170)
    assert found.coverage == pytest.approx(170 / 180)
    assert (found.bias.mean, found.bias.interval) == mean_interval(judged - labels)
    assert sum(each.n for each in found.bias_by_level) == 170
    at_top = found.bias_by_level[-1]
    assert at_top.level == 3
    assert at_top.mean == pytest.approx((3 - labels[(judged == 3) & ~np.isnan(labels)]).mean())
    assert found.percent_agreement == pytest.approx((judged == labels)[30:].mean())


def test_of_no_sample_all_figures_are_missing_with_a_reason():
    found = agreement([], [], [])
    assert found.agreement.kappa.undefined_because is Undefined.NO_PAIRS
    assert (found.coverage, found.bias.mean, found.percent_agreement) == (None, None, None)


def test_a_judge_that_is_asked_again_is_compared_with_itself():
    found = repeatability([1, 2, 3, None, 0], [1, 3, 1, 1, None])
    assert (found.n, found.both, found.one) == (5, 3, 2)
    assert (found.identical, found.within_one) == pytest.approx((1 / 3, 2 / 3))
    assert found.mean_distance == 1
    assert found.kappa.n == 3
    nothing = repeatability([None], [None])
    assert (nothing.both, nothing.one, nothing.identical) == (0, 0, None)
