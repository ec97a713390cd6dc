"""A judge with a planted bias, and a proposer with a good, a useless, a harmful and a copying edit.

Only levels are simulated. The judge is two levels too high on long samples, which the good edit
removes. The useless one changes nothing but the judge's luck, the harmful one adds a bias on short
samples, and the copying one knows the development half by heart and is as before on the other.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from autotune_platform.statistics.guards import Outcome, assess
from autotune_platform.statistics.looks import alpha_of_look
from tests.simulations.rates import Rate

GROUPS, EACH = 100, 2
"""Of the held-out half: two hundred random labels."""
BIAS, NOISE = 2.0, 1.0
CANDIDATES = 8
ACCEPTED = (Outcome.ACCEPTABLE, Outcome.NEEDS_CONSENT)
"""The person consents."""


class Kind(StrEnum):
    GOOD = "good"
    USELESS = "useless"
    HARMFUL = "harmful"
    COPYING = "copying"


@dataclass
class Judge:
    """What a rubric's wording makes the judge do."""

    random: np.random.Generator
    is_cured: bool = False
    is_harmed: bool = False

    def levels(self, truth: np.ndarray, is_long: np.ndarray) -> np.ndarray:
        bias = np.where(is_long & (not self.is_cured), BIAS, 0)
        bias = bias - np.where(~is_long & self.is_harmed, BIAS, 0)
        noise = self.random.normal(0, NOISE, truth.size)
        return np.clip(np.round(truth + bias + noise), -3, 3)


@dataclass
class Histories:
    """What became of edits.

    Attributes:
        tried: Looks of each kind, with their levels.
        accepted: How many of each kind were accepted.
        any_bad: Histories in which any but the good edit was accepted.
        runs: Histories.
    """

    tried: dict[Kind, list[float]] = field(default_factory=lambda: {kind: [] for kind in Kind})
    accepted: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(Kind, 0))
    any_bad: int = 0
    runs: int = 0

    def rates(self) -> list[Rate]:
        """One of each kind, with the mean level of its looks, and one of all bad ones together."""
        of_kinds = [
            Rate(
                f"{kind} edits accepted, the judge with {NOISE} of noise",
                0.95 if kind is Kind.GOOD else float(np.mean(alphas)),
                self.accepted[kind],
                len(alphas),
            )
            for kind, alphas in self.tried.items()
        ]
        return [
            *of_kinds,
            Rate("histories with any bad edit accepted", 0.05, self.any_bad, self.runs),
        ]


def histories(runs: int, seed: int = 1) -> Histories:
    """Simulates histories: the four edits in random order, each one more look at the same labels.

    An accepted edit is what the next one starts from.
    """
    random = np.random.default_rng(seed)
    found = Histories(runs=runs)
    for _ in range(runs):
        found.any_bad += _history(random, found)
    return found


def _history(random: np.random.Generator, found: Histories) -> bool:
    truth, is_long, groups = held_out(random)
    judge, has_bad = Judge(random), False
    current = judge.levels(truth, is_long)
    for look, name in enumerate(random.permutation([str(kind) for kind in Kind]), start=1):
        kind = Kind(name)
        edited = Judge(
            random,
            is_cured=judge.is_cured or kind is Kind.GOOD,
            is_harmed=judge.is_harmed or kind is Kind.HARMFUL,
        )
        levels = edited.levels(truth, is_long)
        found.tried[kind].append(alpha_of_look(look))
        if assess(truth, current, levels, groups, look=look).outcome in ACCEPTED:
            found.accepted[kind] += 1
            has_bad = has_bad or kind is not Kind.GOOD
            judge, current = edited, levels
    return has_bad


def held_out(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Makes labels: truth, whether the sample is long, and its group."""
    groups = np.repeat(np.arange(GROUPS), EACH)
    latent = random.normal(0, 1, GROUPS)[groups] + random.normal(0, 1.4, groups.size)
    return np.clip(np.round(latent), -3, 3), random.uniform(size=groups.size) < 0.5, groups


def best_of_noise(runs: int, seed: int = 1) -> tuple[Rate, Rate]:
    """Simulates eight edits that do nothing, of which the best on the development half is taken.

    Returns:
        How often it looked better there, and how often the held-out half accepted it.
    """
    random = np.random.default_rng(seed)
    better = accepted = 0
    for _ in range(runs):
        halves = [held_out(random) for _ in range(2)]
        judge = Judge(random)
        old = [judge.levels(truth, is_long) for truth, is_long, _ in halves]
        truth, is_long, groups = halves[0]
        assessed = [
            assess(truth, old[0], judge.levels(truth, is_long), groups, look=1).change.delta
            for _ in range(CANDIDATES)
        ]
        better += max(delta for delta in assessed if delta is not None) > 0
        # Which one it is does not matter: on the other half they are all alike.
        truth, is_long, groups = halves[1]
        chosen = judge.levels(truth, is_long)
        accepted += assess(truth, old[1], chosen, groups, look=1).outcome in ACCEPTED
    return (
        Rate(
            "best of eight edits of pure noise looks better, development half", None, better, runs
        ),
        Rate("and is accepted on the held-out half", alpha_of_look(1), accepted, runs),
    )
