"""Watching how many inputs a version is sure of: delays and false alarms, by the product's fold.

Seeds are fixed, so that a failure is a change of the code and no chance. Longer simulations are in
docs/statistics.md.
"""

import random
from dataclasses import replace

import pytest

from autotune_platform.apprentice.betting import AT_REST
from autotune_platform.apprentice.coverage import (
    LEAST_COVERAGE,
    Coverage,
    CoverageRules,
    least_promised,
)
from autotune_platform.apprentice.folding.settings import coverage_of

PROMISED, HELD_OUT = 0.9, 400
# As in a configuration that says nothing else: 1,000 pairs, and one input in fifty is one.
RULES = CoverageRules(level=50_000, settling_pairs=100)


def seen(coverage, sure, chance, inputs, *, pairs=0):
    """Fold inputs of which the version is sure with a probability; end at an alarm."""
    before = coverage.alarms
    for number in range(1, inputs + 1):
        is_sure = chance.random() < sure
        coverage = coverage.fold(is_sure=is_sure, pairs=pairs, at=float(number), rules=RULES)
        if coverage.alarms != before:
            return coverage, number
    return coverage, None


def delays(sure, *, streams, inputs, seed):
    """Inputs from a shift until the alarm; None where it came before the shift."""
    chance = random.Random(seed)
    found = []
    for _ in range(streams):
        coverage = Coverage(least_promised(PROMISED, HELD_OUT))
        coverage, early = seen(coverage, PROMISED, chance, 300)
        found.append(None if early else seen(coverage, sure, chance, inputs)[1])
    return found


def test_five_unseen_domains_raise_the_alarm_within_some_dozens_of_inputs():
    """The design's shift: a gate's coverage falls from .90 to .53."""
    found = sorted(delays(0.53, streams=100, inputs=400, seed=1))
    assert found[50] == pytest.approx(64, rel=0.25)
    assert found[90] == pytest.approx(106, rel=0.35)


def test_a_smaller_fall_takes_longer_and_one_within_the_margin_is_none():
    found = sorted(delays(0.7, streams=40, inputs=2_000, seed=2))
    assert 350 < found[20] < 750
    assert delays(0.82, streams=10, inputs=3_000, seed=3) == [None] * 10


def test_no_alarm_comes_while_nothing_changed():
    """Whatever a hold-out of 400 said by chance of what the share is."""
    chance = random.Random(4)
    for sure in (0.9, 0.5):
        for _ in range(10):
            said = sum(chance.random() < sure for _ in range(HELD_OUT)) / HELD_OUT
            _, at = seen(Coverage(least_promised(said, HELD_OUT)), sure, chance, 4_000)
            assert at is None


def test_without_a_margin_it_would_be_raised():
    """So the test above can fail: the share that was promised by chance is too high at times."""
    chance = random.Random(5)
    raised = [seen(Coverage(0.93), 0.88, chance, 4_000)[1] for _ in range(10)]
    assert sum(at is not None for at in raised) >= 9


def test_the_share_that_is_watched_is_below_what_was_seen_by_errors_and_a_margin():
    assert least_promised(0.9, 400) == pytest.approx(0.9 - 2 * 0.015 - 0.1)
    assert least_promised(1.0, 50) == pytest.approx(0.9)
    assert least_promised(0.05, 400) == LEAST_COVERAGE
    assert least_promised(0.9, 100) < least_promised(0.9, 1_000)


def test_after_an_alarm_all_is_checked_until_there_are_new_pairs():
    chance = random.Random(6)
    coverage, at = seen(Coverage(0.77), 0.4, chance, 500, pairs=1_000)
    assert (coverage.is_settling, coverage.settles_at, coverage.alarmed_at) == (True, 1_100, at)
    assert (coverage.inputs, coverage.levels) == (0, AT_REST)

    coverage, again = seen(coverage, 0.4, chance, 300, pairs=1_099)
    assert (coverage.is_settling, again) == (True, None)
    assert coverage.share == pytest.approx(0.4, abs=0.1)

    # What was seen meanwhile is what is usual: it raises no alarm any more, and a new fall does.
    usual = least_promised(coverage.share, 300)
    coverage, _ = seen(coverage, 0.4, chance, 1, pairs=1_100)
    assert not coverage.is_settling
    assert coverage.least == pytest.approx(usual, abs=0.01)
    coverage, again = seen(coverage, 0.4, chance, 4_000, pairs=1_100)
    assert again is None
    coverage, again = seen(coverage, 0.05, chance, 400, pairs=1_100)
    assert (coverage.alarms, again is None) == (2, False)


def test_inputs_that_a_version_is_surer_of_for_a_while_raise_no_expectations():
    settling = Coverage(0.3, inputs=200, sure=199, alarms=1, settles_at=10)
    after = settling.fold(is_sure=True, pairs=10, at=0, rules=RULES)
    assert after.least == 0.3


def test_what_is_stored_is_read_back():
    chance = random.Random(7)
    coverage, _ = seen(Coverage(0.77), 0.7, chance, 37)
    assert Coverage.from_json(coverage.to_json()) == coverage
    settling = replace(coverage, alarmed_at=1.5, settles_at=40, alarms=2)
    assert Coverage.from_json(settling.to_json()) == settling


def test_a_false_alarm_is_as_seldom_in_time_as_one_of_pairs():
    document = {
        "confidence": {"falseAlarmPairs": 1_000, "windowSize": 100},
        "sampling": {"minFloor": 0.02},
    }
    assert coverage_of(document) == RULES
