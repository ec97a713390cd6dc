"""How often changes of real judges would be accepted, by true effect and number of labels."""

from collections.abc import Iterator

import numpy as np

from autotune_platform.statistics.distributions import t_quantile
from autotune_platform.statistics.looks import alpha_of_look, change_in_kappa
from tests.simulations.rates import Rate
from tests.support.summary_levels.reading import summary_levels

FIVE_PERCENT = 0.05
LARGE, SMALL = ("altrts", "mcq"), ("rts words", "mcq")
"""Prompts whose κ of coherence differs by 0.29, and by 0.10."""
NEARLY_EQUAL = ("mcq", "altmcq")


def all_acceptances(runs: int, seed: int = 1) -> list[Rate]:
    """Simulates changes on labels that are drawn from the 1,200 without replacement."""
    random = np.random.default_rng(seed)
    return list(_acceptances(runs, random))


def _acceptances(runs: int, random: np.random.Generator) -> Iterator[Rate]:
    first = alpha_of_look(1)
    for pair, n, alpha in (
        (LARGE, 100, FIVE_PERCENT),
        (SMALL, 100, FIVE_PERCENT),
        (LARGE, 50, first),
        (LARGE, 100, first),
    ):
        what = f"found at {alpha}, {pair[0]} to {pair[1]}, n = {n}"
        yield accepted(what, pair, n, alpha, runs, random, nominal=None)
    for pair in (LARGE, NEARLY_EQUAL):
        what = f"equals accepted, {pair[0]} and {pair[1]} mixed at random, n = 100"
        yield accepted(
            what, pair, 100, FIVE_PERCENT, runs, random, nominal=FIVE_PERCENT, mixed=True
        )
    worse = LARGE[::-1]
    what = f"worse accepted, {worse[0]} to {worse[1]}, n = 100"
    yield accepted(what, worse, 100, FIVE_PERCENT, runs, random, nominal=FIVE_PERCENT)


def accepted(
    what: str,
    pair: tuple[str, str],
    n: int,
    alpha: float,
    runs: int,
    random: np.random.Generator,
    *,
    nominal: float | None,
    mixed: bool = False,
) -> Rate:
    """Counts changes that are better at a level.

    Args:
        what: What is counted.
        pair: Prompts before and after.
        n: Labels.
        alpha: Level of the one-sided test.
        runs: How many draws.
        random: Where they come from.
        nominal: The promised rate.
        mixed: Whether each sample's two levels are swapped by chance, so that both are alike.
    """
    levels = summary_levels("coherence")
    before, after = (levels.judged(prompt) for prompt in pair)
    count = 0
    for _ in range(runs):
        rows = random.permutation(levels.truth.size)[:n]
        old, new = before[rows], after[rows]
        if mixed:
            swapped = random.uniform(size=n) < 0.5
            old, new = np.where(swapped, new, old), np.where(swapped, old, new)
        change = change_in_kappa(levels.truth[rows], old, new, levels.groups[rows], look=1)
        if change.delta is not None and change.se is not None:
            count += change.delta > t_quantile(1 - alpha, change.groups - 1) * change.se
    return Rate(what, nominal, count, runs)
