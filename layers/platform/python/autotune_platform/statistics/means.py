"""The mean of what people would say of all samples, from a judge's levels and few labels.

PPI++ (Angelopoulos, Duchi and Zrnic 2023, "PPI++: Efficient Prediction-Powered Inference",
arXiv:2311.01453) for a mean: the judge's mean on unlabelled samples, corrected by its error on
labelled ones, with a weight λ that falls to 0 where the judge is of no help. Quantiles are
Student's t, and variances have n - 1, which few labels need. This n is how many groups of equal
weight would say as much: a few labels that stand for most samples, or one large conversation, say
most, and intervals that count all groups alike are too narrow.

Where the judge gave no level, it is taken to have said the mean of those that it gave, of labelled
and other samples alike: the method holds for any prediction. Leaving such samples out would give
the mean of those that the judge found easy. Samples to which the question does not apply are in
neither mean; the mean is a ratio, of the sum of levels to how many have one.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from autotune_platform.statistics.distributions import t_quantile
from autotune_platform.statistics.intervals import (
    CONFIDENCE,
    LEAST_EFFECTIVE_GROUPS,
    Groups,
    Interval,
    NoInterval,
    effective_groups,
)
from autotune_platform.statistics.kappa import Floats, Levels, as_levels
from autotune_platform.statistics.labels import LEAST_LABELS, Sufficiency, sufficiency


class Shown(StrEnum):
    """Which estimate is to be used."""

    CORRECTED = "corrected"
    LABELS_ONLY = "labels_only"
    """Where it is narrower, or the only one."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean on the scale of levels, and its interval; None of no sample."""

    mean: float | None
    interval: Interval


@dataclass(frozen=True, slots=True)
class Labelled:
    """Samples with a label.

    Attributes:
        truth: Shape (n,); NaN where the question does not apply.
        judged: Levels of one version of the judge, shape (n,); NaN where it gave none.
        groups: Keys, shape (n,); each sample is a group of its own where there are none.
        weights: 1 / probability of being drawn, shape (n,); the same for all where there are none.
    """

    truth: Levels
    judged: Levels
    groups: Groups | None = None
    weights: Levels | None = None


@dataclass(frozen=True, slots=True)
class Unlabelled:
    """Other samples, of which there is what the judge says alone.

    Attributes:
        judged: Shape (N,); NaN where it gave no level.
        groups: Keys, shape (N,), of the same kind as those of labelled samples.
        is_all: Whether the labelled ones are among them, as they have to be where weights differ:
            those that are left do not stand for all then.
    """

    judged: Levels
    groups: Groups | None = None
    is_all: bool = False


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """The mean of what people would say, three ways.

    Attributes:
        naive: Mean of the judge's levels, of all samples: as biased as the judge.
        corrected: The judge's mean, corrected by labels.
        labels_only: Mean of the labels.
        power: λ, from 0 (the judge does not help) to 1.
        shown: Which of the last two is narrower.
        labels: Whether labels suffice for any claim.
    """

    naive: float | None
    corrected: Estimate
    labels_only: Estimate
    power: float
    shown: Shown
    labels: Sufficiency


@dataclass(frozen=True, slots=True)
class _Data:
    y: Floats  # 0 where the question does not apply
    applies: Floats  # 1 or 0
    f: Floats
    w: Floats  # sums to 1
    u: Floats
    naive: float | None
    is_all: bool
    l_groups: npt.NDArray[np.int64]
    u_groups: npt.NDArray[np.int64]
    count: int

    @property
    def effective(self) -> float:
        """Return Kish's effective number of labels, which is n where weights are the same."""
        return 1 / float(self.w @ self.w)

    @property
    def share(self) -> float:
        """Return the share of labelled samples to which the question applies."""
        return float(self.w @ self.applies)

    @property
    def label_mean(self) -> float:
        """Return the mean of the labels."""
        return float(self.w @ self.y) / self.share

    @property
    def label_groups(self) -> int:
        """Return how many groups have a level of people."""
        return len(np.unique(self.l_groups[self.applies > 0]))

    @property
    def effective_labels(self) -> float:
        """Return how many labels of equal weight would say as much as those with a level."""
        return _rounded(effective_groups(self.w[self.applies > 0]))

    @property
    def is_uneven(self) -> bool:
        """Return whether labels have weights by which too few of them say most."""
        has_weights = bool(np.ptp(self.w) > 0) if self.w.size else False
        return has_weights and self.effective_labels < LEAST_LABELS

    @property
    def effective_label_groups(self) -> float:
        """Return how many groups of equal weight would say as much as those with a level."""
        return _rounded(effective_groups(np.bincount(self.l_groups, weights=self.w * self.applies)))


def corrected_mean(
    labelled: Labelled,
    unlabelled: Unlabelled,
    *,
    confidence: float = CONFIDENCE,
    without_truth: int = 0,
) -> CorrectedMean:
    """Return the mean of what people would say of samples like these.

    θ = λ · mean_U f + mean_L(y - λ f), se² = λ² var_U(f) / N + var_L(y - λ f) / n, with Student's
    t of one degree of freedom less than there are effective groups with labels, (Σ w_g)² / Σ w_g².
    Where groups repeat, variances are of the groups' sums, and a group in both parts counts with
    both together. Below two effective groups there is no interval, nor where labels have weights
    and say less than 50 of equal weight would: of skewed levels a nominal 90 % would hold 68 %.

    Args:
        labelled: All random labels of the held-out half, whatever the judge said.
        unlabelled: Samples that are in no row of `labelled`, or all (`Unlabelled.is_all`).
        confidence: Nominal coverage, two-sided.
        without_truth: Drawn samples that have none: people are apart, or left them.
    """
    data = _read(labelled, unlabelled)
    drawn = data.y.size + without_truth
    labels = sufficiency(
        data.y[data.applies > 0],
        without_truth=without_truth,
        drawn=drawn,
        effective=data.effective_labels,
    )
    power = _power(data)
    labels_only = _estimate(data, 0.0, confidence)
    corrected = _estimate(data, power, confidence) if power else labels_only
    return CorrectedMean(
        data.naive, corrected, labels_only, power, _narrower(corrected, labels_only), labels
    )


def corrected_difference(
    before: tuple[Labelled, Unlabelled],
    after: tuple[Labelled, Unlabelled],
    *,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Return how much a corrected mean changes, after - before, compared in pairs by group.

    It is what a changed system prompt does to the responses: both have labels of their own.

    Args:
        before: Samples of the version before, with groups.
        after: Samples of the version after, with groups of the same keys.
        confidence: Nominal coverage, two-sided.
    """
    keys: dict[object, int] = {}
    parts = [_read(*samples, keys=keys) for samples in (before, after)]
    if any(not data.applies.any() for data in parts):
        return Estimate(None, Interval.missing(NoInterval.UNDEFINED, len(keys)))
    powers = [_power(data) for data in parts]
    means = [_mean(data, power) for data, power in zip(parts, powers, strict=True)]
    with_labels = [data.label_groups for data in parts]
    delta = means[1] - means[0]
    if min(with_labels) < 2:
        return Estimate(delta, Interval.missing(NoInterval.ONE_GROUP, min(with_labels)))
    if any(data.is_uneven for data in parts):
        return Estimate(delta, Interval.missing(NoInterval.UNEVEN_WEIGHTS, min(with_labels)))
    influence = [
        _influence(data, power, len(keys)) for data, power in zip(parts, powers, strict=True)
    ]
    effective = min(data.effective_label_groups for data in parts)
    moved = influence[1] - influence[0]
    return _with_interval(delta, moved, min(with_labels), effective, confidence)


def _read(
    labelled: Labelled, unlabelled: Unlabelled, *, keys: dict[object, int] | None = None
) -> _Data:
    y, f = as_levels(labelled.truth), as_levels(labelled.judged)
    if y.shape != f.shape:
        raise ValueError(f"{y.size} labels and {f.size} levels of the judge")
    u = as_levels(unlabelled.judged)
    w = np.ones(y.shape) if labelled.weights is None else as_levels(labelled.weights)
    if w.shape != y.shape or not (w > 0).all():
        raise ValueError("each labelled sample has a weight above 0")
    numbers = {} if keys is None else keys
    said = u if unlabelled.is_all else np.concatenate([f, u])
    said = said[np.isfinite(said)]
    naive = float(said.mean()) if said.size else None
    return _Data(
        np.nan_to_num(y),
        np.isfinite(y).astype(np.float64),
        np.nan_to_num(f, nan=naive or 0.0),
        w / w.sum() if w.size else w,
        np.nan_to_num(u, nan=naive or 0.0),
        naive,
        unlabelled.is_all,
        _numbered(labelled.groups, y.size, numbers, "l"),
        _numbered(unlabelled.groups, u.size, numbers, "u"),
        len(numbers),
    )


def _numbered(
    groups: Groups | None, rows: int, numbers: dict[object, int], part: str
) -> npt.NDArray[np.int64]:
    keys: list[object] = (
        [(part, place) for place in range(rows)] if groups is None else np.asarray(groups).tolist()
    )
    if len(keys) != rows:
        raise ValueError(f"each of {rows} samples has a group, not {len(keys)}")
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _power(data: _Data) -> float:
    """Return λ = clip(cov_L(y, f) / ((1 + n / N) var_{L and U}(f)), 0, 1).

    Where U holds L as well, mean_U f - mean_L f is n / N smaller, and λ is as much larger.
    """
    if data.applies.sum() < 2 or not data.u.size:
        return 0.0
    everything = data.u if data.is_all else np.concatenate([data.f, data.u])
    variance = float(everything.var(ddof=1))
    if variance == 0:
        return 0.0
    n = data.effective
    centred = (data.y - data.label_mean * data.applies) * (data.f - data.w @ data.f)
    covariance = float(data.w @ centred) * n / (n - 1)
    more = 0.0 if data.is_all else n / data.u.size
    return min(1.0, max(0.0, covariance / ((1 + more) * variance)))


def _mean(data: _Data, power: float) -> float:
    if not power:
        return data.label_mean
    return data.label_mean + power * float(data.u.mean() - data.w @ data.f) / data.share


def _estimate(data: _Data, power: float, confidence: float) -> Estimate:
    if not data.applies.any():
        return Estimate(None, Interval.missing(NoInterval.UNDEFINED, 0))
    mean, groups = _mean(data, power), data.label_groups
    if groups == 1:
        return Estimate(mean, Interval.missing(NoInterval.ONE_GROUP, 1))
    if data.is_uneven:
        return Estimate(mean, Interval.missing(NoInterval.UNEVEN_WEIGHTS, groups))
    influence = _influence(data, power, data.count)
    return _with_interval(mean, influence, groups, data.effective_label_groups, confidence)


def _influence(data: _Data, power: float, count: int) -> Floats:
    """Return what each group moves the mean by, shape (count,); squares sum to se².

    It is what the mean moves by without the group: a large one pulls the mean to itself, so that
    what it says looks less far off than it is (MacKinnon and White 1985, the jackknife HC3).
    """
    rest = data.y - _mean(data, power) * data.applies - power * data.f
    on_labels = np.bincount(data.l_groups, weights=data.w * (rest - data.w @ rest), minlength=count)
    of_levels = np.bincount(data.l_groups, weights=data.w * data.applies, minlength=count)
    influence = _left_out(on_labels.astype(np.float64), of_levels / data.share, data.label_groups)
    if power:
        spread = (data.u - data.u.mean()) / data.u.size
        on_rest = np.bincount(data.u_groups, weights=power * spread, minlength=count)
        every = np.full(data.u.size, 1 / data.u.size)
        of_rest = np.bincount(data.u_groups, weights=every, minlength=count)
        groups = len(np.unique(data.u_groups))
        influence += _left_out(on_rest.astype(np.float64), of_rest.astype(np.float64), groups)
    return influence / data.share


def _rounded(effective: float) -> float:
    """Return it without errors of rounding: equal weights are to count as their number."""
    return round(effective, 9)


def _left_out(influence: Floats, shares: Floats, groups: int) -> Floats:
    """Return what leaving each group out moves, by the share that it has of all."""
    if groups < 2:
        return influence
    moved: Floats = influence / (1 - shares) * math.sqrt((groups - 1) / groups)
    return moved


def _with_interval(
    mean: float, influence: Floats, groups: int, effective: float, confidence: float
) -> Estimate:
    se = math.sqrt(float(influence @ influence))
    if se == 0:
        return Estimate(mean, Interval.missing(NoInterval.NO_VARIATION, groups))
    if effective < LEAST_EFFECTIVE_GROUPS:
        return Estimate(mean, Interval.missing(NoInterval.UNEVEN_GROUPS, groups))
    reach = t_quantile((1 + confidence) / 2, effective - 1) * se
    interval = Interval(mean - reach, mean + reach, se, groups, effective_groups=effective)
    return Estimate(mean, interval)


def _narrower(corrected: Estimate, labels_only: Estimate) -> Shown:
    ses = corrected.interval.se, labels_only.interval.se
    is_narrower = ses[0] is not None and (ses[1] is None or ses[0] < ses[1])
    return Shown.CORRECTED if is_narrower else Shown.LABELS_ONLY
