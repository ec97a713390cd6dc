"""Edits of the planted rubric, thousands of times: the good one is accepted, others are not.

In each simulation, people have labelled a hundred samples of their own, and five edits are measured
on these one after the other, in a random order, each at its own look.
"""

import random
from collections import Counter
from math import sqrt

import numpy as np

from autotune_platform.statistics.guards import Outcome, assess
from autotune_platform.statistics.looks import ALL_LOOKS_ALPHA, alpha_of_look
from tests.judges.planted import Planted, verdict
from tests.judges.planted_samples import RUBRIC, labelled, samples
from tests.judges.proposals import edit, patched

SIMULATIONS = 700
"""``make simulate`` runs thousands, of levels alone; these are of rubrics and texts."""

LABELS = 100
BAD = ("useless", "harmful", "copying", "abstaining")
KINDS = (*BAD, "good")
ACCEPTED = frozenset([Outcome.ACCEPTABLE, Outcome.NEEDS_CONSENT])

POOL = list(samples(10_000, seed=21))
SHOWN = [one.text for one in samples(10, seed=22)]
RUBRICS = {kind: patched(RUBRIC, edit(kind, RUBRIC, SHOWN)) for kind in KINDS}


def as_levels(values):
    return np.array([np.nan if value is None else value for value in values])


def test_the_good_edit_is_accepted_and_others_no_oftener_than_chance_allows():
    accepted, spent, any_bad = Counter(), Counter(), 0
    for number in range(SIMULATIONS):
        draw = random.Random(number)
        chosen = draw.sample(POOL, LABELS)
        truth = as_levels(labelled(one, "rater", seed=number) for one in chosen)
        judge = Planted(seed=number)
        levels = {
            kind: as_levels(verdict(rubric, one.text, judge) for one in chosen)
            for kind, rubric in {**RUBRICS, "before": RUBRIC}.items()
        }
        taken = set()
        for look, kind in enumerate(draw.sample(KINDS, len(KINDS)), start=1):
            groups = np.arange(LABELS)
            found = assess(truth, levels["before"], levels[kind], groups, look=look)
            spent[kind] += alpha_of_look(look)
            if found.outcome in ACCEPTED:
                taken.add(kind)
        accepted.update(taken)
        any_bad += not taken.isdisjoint(BAD)
    for kind in KINDS:
        nominal = spent[kind] / SIMULATIONS
        share = accepted[kind] / SIMULATIONS
        print(f"{kind}: accepted {share:.4f}, nominal {nominal:.4f}")
        if kind == "good":
            assert share >= 0.95
        else:
            assert share <= nominal + 3 * sqrt(nominal * (1 - nominal) / SIMULATIONS)
    print(f"any that is not good: {any_bad / SIMULATIONS:.4f}, nominal {ALL_LOOKS_ALPHA}")
    assert any_bad / SIMULATIONS <= ALL_LOOKS_ALPHA
    # Chance does let some through: the simulation can tell.
    assert accepted["useless"] > 0
