"""How often changes of judges would be accepted, by true effect, number and groups of labels."""

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
UNEVEN = {
    "one group of 60, 40 of one": [60, *[1] * 40],
    "two groups of 40, 20 of one": [40, 40, *[1] * 20],
    "groups of 30, 15, 10 and so on": [max(1, 30 // place) for place in range(1, 41)],
}
LATE_LOOK = 3


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
            count += change.delta > t_quantile(1 - alpha, change.effective_groups - 1) * change.se
    return Rate(what, nominal, count, runs)


def uneven_groups(runs: int, seed: int = 1) -> list[Rate]:
    """Simulates equal judges that groups of unlike sizes pull one way or the other."""
    random = np.random.default_rng(seed)
    return [
        _equals_of_uneven_groups(what, np.array(sizes), look, runs, random)
        for what, sizes in UNEVEN.items()
        for look in (1, LATE_LOOK)
    ]


def _equals_of_uneven_groups(
    what: str, sizes: np.ndarray, look: int, runs: int, random: np.random.Generator
) -> Rate:
    groups = np.repeat(np.arange(sizes.size), sizes)
    count = 0
    for _ in range(runs):
        latent = random.normal(0, 1, sizes.size)[groups] + random.normal(0, 1.2, groups.size)
        truth, old, new = (
            np.clip(np.round(levels), -3, 3)
            for levels in (latent, *(_pulled(latent, groups, random) for _ in range(2)))
        )
        count += change_in_kappa(truth, old, new, groups, look=look).is_better
    return Rate(f"equals accepted at look {look}, {what}", alpha_of_look(look), count, runs)


def _pulled(latent: np.ndarray, groups: np.ndarray, random: np.random.Generator) -> np.ndarray:
    pull = random.normal(0.4, 0.7, groups.max() + 1)[groups]
    return latent + pull + random.normal(0, 0.9, groups.size)
