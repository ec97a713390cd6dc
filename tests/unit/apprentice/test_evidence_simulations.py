"""A seeded share of ``make simulate``: rates and delays are those of the design, within errors.

The seed is fixed and the numbers are drawn in one order, so that a failure is a change of the code
and no chance.
"""

import numpy as np
import pytest

from tests.simulations.evidence import (
    RULES,
    alarms,
    by_the_fold,
    by_the_fold_too,
    drawn,
    evidence_delays,
    evidence_rates,
    graduations,
)

RUNS = 400


def test_versions_graduate_and_alarms_are_raised_as_often_as_the_design_says():
    rates = list(evidence_rates(RUNS))
    print(*rates, sep="\n")
    assert len(rates) == 6
    for rate in rates:
        assert rate.observed == pytest.approx(rate.nominal, abs=rate.margin), rate


def test_graduations_and_alarms_take_as_long_as_the_design_says():
    delays = list(evidence_delays(RUNS))
    print(*delays, sep="\n")
    assert len(delays) == 5
    for delay in delays:
        for probability, pairs in delay.promised.items():
            assert delay.quantile(probability) == pytest.approx(pairs, rel=delay.tolerance), delay


def test_what_is_simulated_is_what_the_products_fold_does():
    same = by_the_fold_too(seed=2, runs=8)
    assert same.count == same.runs == 24


def test_simulations_would_notice_another_rule():
    """A window's mean, looked at at each pair, graduates nearly all of what deserves it not."""
    scores = drawn(200, 0.88, np.random.default_rng(1))
    sums = np.cumsum(scores, axis=1)
    means = (sums[:, 100:] - sums[:, :-100]) / 100
    assert (means >= RULES.graduation).any(axis=1).mean() > 0.95


@pytest.mark.parametrize(("stretch", "share"), [(20, 0.001), (50, 0.09), (100, 1.0)])
def test_a_mean_over_time_is_not_what_is_promised(stretch: int, share: float):
    """As docs/statistics.md says: 1 on one kind of inputs and .70 on the other, by turns."""
    is_known = np.arange(2_000) // stretch % 2 == 0
    agrees = np.random.default_rng(5).random((RUNS, 2_000)) < np.where(is_known, 1.0, 0.7)
    found = np.isfinite(graduations(agrees.astype(float))).mean()
    assert found == pytest.approx(share, abs=0.03)


def test_the_mean_time_to_a_false_alarm_is_at_least_what_was_set():
    """At an agreement of exactly ``coaching``, which is the worst that is no reason for one."""
    scores = drawn(300, RULES.coaching, np.random.default_rng(4), 8_000)
    at = np.minimum(alarms(scores), scores.shape[1])  # longer ones count as less than they are
    assert at.mean() > RULES.false_alarm_pairs


def test_alarms_of_the_fold_and_of_the_simulation_are_at_the_same_pairs_after_alarms_too():
    scores = np.hstack([drawn(4, mean, np.random.default_rng(6), 300) for mean in (0.3, 1.0, 0.7)])
    _, alarmed = by_the_fold(scores)
    assert (alarmed == alarms(scores)).all()
    assert (alarmed < 100).all()
