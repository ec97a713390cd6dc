"""What else must hold before a better κ may count, and what follows of all of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from autotune_platform.statistics.distributions import binomial_cdf, t_quantile
from autotune_platform.statistics.intervals import (
    LEAST_EFFECTIVE_GROUPS,
    Groups,
    effective_groups,
    jackknife_se,
)
from autotune_platform.statistics.kappa import Levels, as_levels, group_numbers, has_all
from autotune_platform.statistics.labels import Sufficiency, sufficiency
from autotune_platform.statistics.looks import Change, change_in_kappa

MOST_POINTS_LESS_SCORED = 2
"""Points of a hundred: without it a judge would win that abstains where it is hard."""
BIAS_ALPHA = 0.05
INAPPLICABLE_ALPHA = 0.05
CLEARLY_BAD = -2
"""From this level down, what becomes positive needs a person's consent."""


class Outcome(StrEnum):
    """What may become of an edit, by the numbers."""

    ACCEPTABLE = "acceptable"
    NEEDS_CONSENT = "needs_consent"
    """Acceptable once a person consents to what is newly called positive, or newly scored where
    people say that the question does not apply."""
    REFUSED = "refused"
    """κ falls, or a guard does not hold."""
    NO_EVIDENCE = "no_evidence"
    """The difference may be chance."""
    INSUFFICIENT = "insufficient"
    """Labels are too few to claim anything."""


class Refusal(StrEnum):
    """What an edit is refused for."""

    AGREES_LESS = "agrees_less"
    SCORES_LESS = "scores_less"
    BIAS_GROWS = "bias_grows"
    SCORES_INAPPLICABLE = "scores_inapplicable"


@dataclass(frozen=True, slots=True)
class ShareScored:
    """How many of the samples got a level, before and after.

    Attributes:
        n: Samples.
        old: Of them scored before.
        new: Of them scored after.
    """

    n: int
    old: int
    new: int

    @property
    def holds(self) -> bool:
        """Return whether the share falls by two points at most."""
        return (self.old - self.new) * 100 <= MOST_POINTS_LESS_SCORED * self.n


@dataclass(frozen=True, slots=True)
class InapplicableScored:
    """How many got a level of the samples of which people say that the question does not apply.

    κ knows nothing of these: a judge that scores all of them would look as good as before.

    Attributes:
        n: Samples.
        old: Of them scored before.
        new: Of them scored after.
        p: Probability that they grow in so many groups, of those where they change, by chance.
    """

    n: int
    old: int
    new: int
    p: float

    @property
    def holds(self) -> bool:
        """Return whether they do not grow significantly."""
        return self.p > INAPPLICABLE_ALPHA

    @property
    def asks(self) -> bool:
        """Return whether there are more of them than before."""
        return self.new > self.old


@dataclass(frozen=True, slots=True)
class BiasChange:
    """How the mean signed error moves away from 0 or towards it.

    Attributes:
        old: Mean of level - truth before; None without pairs.
        new: The same after.
        growth: |new| - |old|.
        low: Lower end of the growth, one-sided; above 0 it is more than chance explains.
    """

    old: float | None
    new: float | None
    growth: float | None
    low: float | None

    @property
    def holds(self) -> bool:
        """Return whether |bias| does not grow significantly."""
        return self.low is None or self.low <= 0


@dataclass(frozen=True, slots=True)
class Assessment:
    """What an edit's replay shows.

    Attributes:
        outcome: What may become of it.
        refusals: What it is refused for.
        change: How κ changes.
        labels: Whether there are enough of them.
        scored: How many samples got a level.
        inapplicable: How many of those got one that have none.
        bias: How bias changes.
        newly_positive: Rows of samples at -3 or -2 that it newly calls positive, in their order.
    """

    outcome: Outcome
    refusals: tuple[Refusal, ...]
    change: Change
    labels: Sufficiency
    scored: ShareScored
    inapplicable: InapplicableScored
    bias: BiasChange
    newly_positive: npt.NDArray[np.int64]


def assess(truth: Levels, old: Levels, new: Levels, groups: Groups, *, look: int) -> Assessment:
    """Return what an edit's replay on the held-out half shows.

    Evidence comes first: an edit without it is refused for no guard.

    Args:
        truth: Random labels, shape (n,); NaN where people say that the question does not apply.
        old: Levels of the version before, shape (n,).
        new: Levels of the edited version, shape (n,).
        groups: Keys, shape (n,).
        look: How many looks at these labels there are with this one.
    """
    change = change_in_kappa(truth, old, new, groups, look=look)
    labels = sufficiency(as_levels(truth)[has_all(truth, old, new)])
    scored = share_scored(old, new)
    inapplicable = inapplicable_scored(truth, old, new, groups)
    bias = bias_change(truth, old, new, groups)
    positive = newly_positive(truth, old, new)
    guards = {
        Refusal.SCORES_LESS: scored.holds,
        Refusal.BIAS_GROWS: bias.holds,
        Refusal.SCORES_INAPPLICABLE: inapplicable.holds,
    }
    asks = bool(positive.size) or inapplicable.asks
    outcome, refusals = _outcome(change, labels, guards, asks=asks)
    return Assessment(outcome, refusals, change, labels, scored, inapplicable, bias, positive)


def _outcome(
    change: Change, labels: Sufficiency, guards: Mapping[Refusal, bool], *, asks: bool
) -> tuple[Outcome, tuple[Refusal, ...]]:
    if not labels.is_sufficient:
        return Outcome.INSUFFICIENT, ()
    if change.is_worse:
        return Outcome.REFUSED, (Refusal.AGREES_LESS,)
    if not change.is_better:
        return Outcome.NO_EVIDENCE, ()
    refusals = [refusal for refusal, holds in guards.items() if not holds]
    if refusals:
        return Outcome.REFUSED, tuple(refusals)
    return (Outcome.NEEDS_CONSENT if asks else Outcome.ACCEPTABLE), ()


def share_scored(old: Levels, new: Levels) -> ShareScored:
    """Count the samples that got a level before and after.

    Args:
        old: Shape (n,), NaN where the judge gave no level.
        new: The same samples.
    """
    before, after = np.isfinite(as_levels(old)), np.isfinite(as_levels(new))
    return ShareScored(int(before.size), int(before.sum()), int(after.sum()))


def inapplicable_scored(
    truth: Levels, old: Levels, new: Levels, groups: Groups
) -> InapplicableScored:
    """Count the samples without a true level that got one before and after.

    The growth is tested by signs of groups, which is exact however few there are.

    Args:
        truth: Shape (n,), NaN where people say that the question does not apply.
        old: Shape (n,), NaN where the judge gave no level.
        new: The same samples.
        groups: Keys, shape (n,).
    """
    rows = np.isnan(as_levels(truth))
    before, after = (np.isfinite(as_levels(each)[rows]).astype(np.int64) for each in (old, new))
    numbers = group_numbers(np.asarray(groups)[rows])
    growth = np.bincount(numbers, weights=after - before)
    grown, changed = int((growth > 0).sum()), int((growth != 0).sum())
    p = binomial_cdf(changed - grown, changed, 0.5)
    return InapplicableScored(int(rows.sum()), int(before.sum()), int(after.sum()), p)


def bias_change(truth: Levels, old: Levels, new: Levels, groups: Groups) -> BiasChange:
    """Return how |bias| changes on the samples that have all three levels.

    The growth is jackknifed by group, so that samples are compared in pairs.

    Args:
        truth: Shape (n,).
        old: Shape (n,).
        new: Shape (n,).
        groups: Keys, shape (n,).
    """
    all_three = has_all(truth, old, new)
    t, o, w = (as_levels(each)[all_three] for each in (truth, old, new))
    if not t.size:
        return BiasChange(None, None, None, None)
    numbers = group_numbers(np.asarray(groups)[all_three])
    sizes = np.bincount(numbers)
    errors = np.stack([np.bincount(numbers, weights=each - t) for each in (o, w)])
    before, after = (errors.sum(axis=1) / t.size).tolist()
    growth = abs(after) - abs(before)
    effective = effective_groups(sizes)
    if effective < LEAST_EFFECTIVE_GROUPS:
        return BiasChange(before, after, growth, None)
    without = np.abs(errors.sum(axis=1, keepdims=True) - errors) / (t.size - sizes)
    se = float(jackknife_se(without[1] - without[0]))
    reach = t_quantile(1 - BIAS_ALPHA, effective - 1) * se
    return BiasChange(before, after, growth, growth - reach)


def newly_positive(truth: Levels, old: Levels, new: Levels) -> npt.NDArray[np.int64]:
    """Return the rows of samples at -3 or -2 that are called positive and were not before.

    Args:
        truth: Shape (n,).
        old: Shape (n,).
        new: Shape (n,).
    """
    t, o, w = (as_levels(each) for each in (truth, old, new))
    rows: npt.NDArray[np.int64] = np.flatnonzero((t <= CLEARLY_BAD) & (w > 0) & ~(o > 0))
    return rows
