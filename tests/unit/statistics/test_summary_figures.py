"""The figures that real judges have on real summaries, from levels without texts."""

import numpy as np
import pytest

from autotune_platform.statistics.alpha import human_ceiling
from autotune_platform.statistics.calibration import Uncalibrated, calibration
from autotune_platform.statistics.guards import Outcome, Refusal, assess
from autotune_platform.statistics.intervals import kappa_with_interval
from autotune_platform.statistics.means import Labelled, Shown, Unlabelled, corrected_mean
from tests.support.summary_levels import EXPERTS, GPT_4
from tests.support.summary_levels.reading import summary_levels

DRAWS = 500
PROMPTS = ("rts", "altrts", "mcq", "altmcq")


@pytest.mark.parametrize(
    ("criterion", "prompt", "kappa", "n"),
    [
        ("coherence", "altrts", 0.108, 1200),
        ("coherence", "mcq", 0.395, 1200),
        ("coherence", "altmcq", 0.397, 1200),
        ("coherence", "rts words", 0.291, 1200),
        ("coherence", "rts", 0.380, 1041),  # without numbers in words
        ("relevance", "rts", 0.419, 1195),
        ("relevance", "altmcq", 0.194, 1200),
    ],
)
def test_kappa_of_real_judges(criterion, prompt, kappa, n):
    levels = summary_levels(criterion)
    found = kappa_with_interval(levels.truth, levels.judged(prompt), levels.groups)
    assert f"{found.kappa.value:.3f}" == f"{kappa:.3f}"
    assert found.kappa.n == n
    assert found.interval.low < found.kappa.value < found.interval.high
    assert found.interval.groups == 100


@pytest.mark.parametrize(
    ("criterion", "old", "new", "outcome", "refusals", "asked"),
    [
        ("coherence", "altrts", "mcq", Outcome.NEEDS_CONSENT, (), 17),
        ("relevance", "rts", "altmcq", Outcome.REFUSED, (Refusal.AGREES_LESS,), 10),
        ("coherence", "mcq", "altmcq", Outcome.NO_EVIDENCE, (), 5),
    ],
)
def test_what_becomes_of_real_edits(criterion, old, new, outcome, refusals, asked):
    levels = summary_levels(criterion)
    found = assess(levels.truth, levels.judged(old), levels.judged(new), levels.groups, look=1)
    assert (found.outcome, found.refusals) == (outcome, refusals)
    assert found.newly_positive.size == asked
    assert set(levels.truth[found.newly_positive]) == {-2}


def test_percent_agreement_rises_while_kappa_falls():
    levels = summary_levels("relevance")
    equal = [np.mean(levels.truth == levels.judged(prompt)) for prompt in ("rts", "altmcq")]
    assert [round(share, 2) for share in equal] == [0.33, 0.44]


def test_no_real_judge_reaches_the_threshold():
    lows = {}
    for criterion in ("coherence", "relevance"):
        levels = summary_levels(criterion)
        for prompt in PROMPTS:
            found = calibration(levels.truth, levels.judged(prompt), levels.groups)
            assert found.because is Uncalibrated.BELOW_THRESHOLD
            lows[criterion, prompt] = found.agreement.interval.low
    best = max(lows, key=lows.get)
    assert best == ("relevance", "rts")
    assert f"{lows[best]:.3f}" == "0.364"


@pytest.mark.parametrize(("criterion", "alpha"), [("coherence", 0.576), ("relevance", 0.493)])
def test_people_agree_more_than_any_judge_does_with_them(criterion, alpha):
    levels = summary_levels(criterion)
    ceiling = human_ceiling(
        [dict(zip(EXPERTS, column, strict=True)) for column in zip(*levels.experts, strict=True)],
        key=b"key",
        sample_ids=[str(row) for row in range(levels.truth.size)],
    )
    assert f"{ceiling.alpha.value:.3f}" == f"{alpha:.3f}"
    assert ceiling.raters == 3
    judges = [
        kappa_with_interval(levels.truth, levels.judged(prompt), levels.groups).kappa.value
        for prompt in PROMPTS
    ]
    assert min(each.value for each in ceiling.left_out.values()) > max(judges)


def test_a_corrected_mean_covers_the_truth_and_is_narrower_than_labels_alone():
    levels = summary_levels("relevance")
    truth, judged = levels.truth, levels.judged("rts", GPT_4)
    assert f"{np.mean(judged - truth):.2f}" == "0.89"  # what the correction is for
    random = np.random.default_rng(10)
    covered, narrower, widths = 0, 0, []
    for _ in range(DRAWS):
        rows = random.permutation(truth.size)
        chosen, rest = rows[:100], rows[100:]
        found = corrected_mean(
            Labelled(truth[chosen], judged[chosen], levels.groups[chosen]),
            Unlabelled(judged[rest], levels.groups[rest]),
        )
        interval, plain = found.corrected.interval, found.labels_only.interval
        covered += interval.low <= truth.mean() <= interval.high
        narrower += found.shown is Shown.CORRECTED
        widths.append((interval.high - interval.low) / (plain.high - plain.low))
    print(f"covers {covered / DRAWS:.3f}, nominal 0.90; width {np.mean(widths):.3f} of labels only")
    assert covered / DRAWS >= 0.87
    assert np.mean(widths) < 1
    assert narrower / DRAWS > 0.9
