"""When versions of an apprentice graduate, and when alarms are raised, by their true agreement.

Scores are 0 or 1. Many runs are computed side by side, by the same multiplications as the product's
own fold; ``by_the_fold`` plays runs through that, and has to come to the same pairs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from autotune_platform.apprentice.betting import ALARM_BETS, GRADUATION_BETS
from autotune_platform.apprentice.evidence import Evidence, Rules
from autotune_platform.apprentice.pairs import Pair
from tests.simulations.rates import Rate

PAIRS = 2_000
RULES = Rules(graduation=0.9, coaching=0.8, emergency=0.6)
BEFORE_SHIFT = 500
"""Pairs at an agreement of .95, before it falls."""


@dataclass(frozen=True)
class Delay:
    """After how many pairs something happened, of all runs.

    Attributes:
        what: What happened.
        promised: Its quantiles as the design states them, by probability.
        pairs: How many it took in each run; infinite where it never happened.
        tolerance: By how much a quantile may be off, as a share of it.
    """

    what: str
    promised: dict[float, int]
    pairs: np.ndarray
    tolerance: float

    def quantile(self, probability: float) -> float:
        return float(np.quantile(self.pairs, probability, method="lower"))

    def __str__(self) -> str:
        quantiles = (
            f"{probability:.0%}: {self.quantile(probability):.0f} pairs (design {stated})"
            for probability, stated in self.promised.items()
        )
        return f"{self.what}, {', '.join(quantiles)}"


def drawn(
    runs: int, agreement: float, random: np.random.Generator, pairs: int = PAIRS
) -> np.ndarray:
    """Draws scores of 0 and 1 as booleans: a row a run, a column a pair."""
    return random.random((runs, pairs)) < agreement


def shifted(runs: int, agreement: float, random: np.random.Generator) -> np.ndarray:
    """Draws scores with a mean of .95 at first, and another one after ``BEFORE_SHIFT``."""
    return np.hstack(
        [drawn(runs, 0.95, random, BEFORE_SHIFT), drawn(runs, agreement, random, PAIRS)]
    )


def graduations(scores: np.ndarray, rules: Rules = RULES) -> np.ndarray:
    """The pair at which each run first graduates, were there no alarms; infinite for never."""
    bets = np.array(GRADUATION_BETS) / rules.graduation
    wealth = np.ones((len(scores), bets.size))
    at = np.full(len(scores), np.inf)
    for place, column in enumerate(scores.T, start=1):
        wealth *= 1 + bets * (column - rules.graduation)[:, None]
        at[np.isinf(at) & (wealth.mean(axis=1) >= rules.level(0))] = place
    return at


def alarms(scores: np.ndarray, rules: Rules = RULES, *, since: int = 0) -> np.ndarray:
    """The first pair after ``since`` at which an alarm is raised, counted from there."""
    bets = np.array(ALARM_BETS) / (1 - rules.coaching)
    levels = np.zeros((len(scores), bets.size))
    at = np.full(len(scores), np.inf)
    for place, column in enumerate(scores.T, start=1):
        levels = (1 + levels) * (1 - bets * (column - rules.coaching)[:, None])
        fires = levels.mean(axis=1) >= rules.false_alarm_pairs
        levels[fires] = 0
        if place > since:
            at[np.isinf(at) & fires] = place - since
    return at


def by_the_fold(scores: np.ndarray, rules: Rules = RULES) -> tuple[np.ndarray, np.ndarray]:
    """The same for each run by the product: the first graduation, and the first alarm."""
    graduated, alarmed = [], []
    for run in scores:
        evidence, first, alarm = Evidence(), np.inf, np.inf
        for sequence, score in enumerate(run, start=1):
            pair = Pair(sequence=sequence, score=float(score), is_drawn=True, at=float(sequence))
            evidence = evidence.fold(pair, rules)
            if np.isinf(first) and evidence.graduated_at is not None:
                first = evidence.graduated_at
            if np.isinf(alarm) and evidence.alarmed_at is not None:
                alarm = evidence.alarmed_at
        graduated.append(first)
        alarmed.append(alarm)
    return np.array(graduated), np.array(alarmed)


def evidence_rates(runs: int, seed: int = 1) -> Iterator[Rate]:
    """How many runs graduate, or raise an alarm, within ``PAIRS``."""
    random = np.random.default_rng(seed)
    for agreement, promised in ((0.86, 0.001), (0.90, 0.0145), (0.93, 0.95)):
        count = int(np.isfinite(graduations(drawn(runs, agreement, random))).sum())
        yield Rate(f"graduate by {PAIRS:,} pairs at a mean of {agreement}", promised, count, runs)
    for agreement, promised in ((0.80, 0.80), (0.85, 0.10), (0.90, 0.008)):
        count = int(np.isfinite(alarms(drawn(runs, agreement, random))).sum())
        yield Rate(f"alarm by {PAIRS:,} pairs at a mean of {agreement}", promised, count, runs)


def evidence_delays(runs: int, seed: int = 1) -> Iterator[Delay]:
    """How long graduations and alarms take."""
    random = np.random.default_rng(seed)
    for agreement, median in ((0.93, 791), (0.95, 246), (0.98, 79)):
        at = graduations(drawn(runs, agreement, random))
        yield Delay(f"graduates at a mean of {agreement}", {0.5: median}, at, 0.15)
    for agreement, quantiles in ((0.45, {0.5: 17, 0.9: 30}), (0.70, {0.5: 101})):
        at = alarms(shifted(runs, agreement, random), since=BEFORE_SHIFT)
        yield Delay(f"alarm after a shift from .95 to {agreement}", quantiles, at, 0.15)


def by_the_fold_too(seed: int = 1, runs: int = 20) -> Rate:
    """How many runs come to the same pairs by the product's fold; all of them have to."""
    random = np.random.default_rng(seed)
    same = 0
    for agreement in (0.80, 0.90, 0.95):
        scores = drawn(runs, agreement, random)
        graduated, alarmed = by_the_fold(scores)
        same += int(((graduated == graduations(scores)) & (alarmed == alarms(scores))).sum())
    return Rate("runs that the product's fold decides at the same pairs", 1.0, same, 3 * runs)
