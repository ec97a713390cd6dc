"""Looks at labels of edits of the prompt: nobody gains by the moment, or by many edits."""

from datetime import UTC, datetime

import numpy as np
import pytest
from scipy import stats

from autotune_platform.decks.prompting.models import PromptLooks, stage_of
from autotune_platform.statistics.looks import confidence_of_look

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NOTHING = PromptLooks(organization_id="org")


@pytest.mark.parametrize(
    ("labelled", "of_all", "reached"),
    [
        (49, 200, (0, 0)),
        (50, 200, (1, 50)),
        (99, 200, (1, 50)),
        (100, 200, (2, 100)),
        (200, 200, (3, 200)),
        (79, 80, (1, 50)),
        (80, 80, (2, 80)),
        (40, 40, (1, 40)),
        (0, 0, (0, 0)),
    ],
)
def test_figures_are_of_planned_numbers_of_labels_alone(labelled, of_all, reached):
    assert stage_of(labelled, planned=50, of_all=of_all) == reached


def test_an_edit_spends_a_look_when_its_responses_are_made_and_each_further_one_when_shown():
    looks = NOTHING.begun("a", NOW)
    assert looks.begun("a", NOW) is looks, "once"
    number, looks = looks.measured("a", NOW, stage=1)
    assert number == 1
    number, looks = looks.measured("a", NOW, stage=1)
    assert number == 2, "the same labels, judged since, are looked at again"
    number, looks = looks.measured("a", NOW, stage=2)
    assert number == 3


def test_a_planned_number_that_is_passed_over_is_a_look():
    number, looks = NOTHING.begun("a", NOW).measured("a", NOW, stage=3)
    assert number == 3
    assert looks.measured("a", NOW, stage=4)[0] == 4
    assert looks.measured("a", NOW, stage=5)[0] == 5


def test_looks_are_counted_by_deck():
    looks = NOTHING.begun("a", NOW).begun("b", NOW).begun("c", NOW)
    assert [looks.measured(one, NOW, stage=1)[0] for one in "abc"] == [1, 2, 3]
    number, looks = looks.measured("a", NOW, stage=2)
    assert number == 4
    assert looks.begun("d", NOW).measured("d", NOW, stage=1)[0] == 5


def test_whoever_reads_labels_and_stops_at_a_good_moment_gains_nothing():
    """Two prompts without a difference, 200 labels of each; a reader measures when it looks good.

    Measured at any number of labels, each time at the level of the first look, it would be 8 to 10
    of 100 rather than 2.5.
    """
    random = np.random.default_rng(5)
    runs, most = 4_000, 200
    difference = random.integers(-3, 4, (runs, most)) - random.integers(-3, 4, (runs, most))
    counts = np.arange(1, most + 1)
    sums = difference.cumsum(axis=1)
    variance = ((difference**2).cumsum(axis=1) - sums**2 / counts) / np.maximum(counts - 1, 1)
    t = (sums / counts) / np.sqrt(variance / counts + 1e-12)
    freely = (t[:, 49:] > stats.t.ppf(0.975, counts[49:] - 1)).any(axis=1).mean()
    assert freely > 0.07

    better = np.zeros(runs, dtype=bool)
    for labelled in range(50, most + 1):
        stage, used = stage_of(labelled, planned=50, of_all=most)
        # The best for the reader: all others were passed over, because they would say nothing.
        number, _ = NOTHING.begun("a", NOW).measured("a", NOW, stage=stage)
        level = (1 + confidence_of_look(number)) / 2
        better |= t[:, used - 1] > stats.t.ppf(level, used - 1)
    assert better.mean() <= 0.05
