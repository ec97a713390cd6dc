"""How many inputs are also put to the paid model, and which.

The rate follows from the window; which runs it takes follows from the run's id and a key alone, so
that neither content nor luck of a retry decides.
"""

import hmac
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Literal

from autotune_platform.apprentice.window import WindowFigures

Decay = Literal["exponential", "linear", "step"]

LEAST_FLOOR = 0.001
_DIGEST_BITS = 256
_MOST_STEPS = 20


class SamplingSettingsError(ValueError):
    """A setting of sampling is outside its limits; the message names it."""


class Draw(StrEnum):
    """What is drawn for a run. Each draw is independent of the other.

    No label is the beginning of another one: an id cannot make one draw of the other.
    """

    SAMPLE = "sample"
    CANARY = "canary"


class Reason(StrEnum):
    """Why the rate is what it is."""

    NOT_GRADUATED = "not_graduated"
    STALE = "stale"
    BELOW_COACHING = "below_coaching"
    NEAR_ALARM = "near_alarm"
    COVERAGE = "coverage"
    DECAY = "decay"
    FLOOR = "floor"


@dataclass(frozen=True)
class Step:
    """From a lower bound of agreement on, this rate.

    Attributes:
        from_bound: the least lower bound, from 0 to 1.
        rate: the share of inputs, from 0 to 1.
    """

    from_bound: float
    rate: float


@dataclass(frozen=True)
class SamplingSettings:
    """How the rate falls as agreement is known to be higher.

    Attributes:
        decay: ``exponential`` or ``linear`` in the share of the way from ``coaching`` to 1, or
            ``step``.
        k: how fast it falls exponentially.
        steps: of ``step``, by rising bound; rates do not rise. Below the first one all is sampled.
        min_floor: the least rate, from 0.001 to 1.

    Raises:
        SamplingSettingsError: one of them is outside its limits.
    """

    decay: Decay
    k: float = 4.0
    steps: Sequence[Step] = ()
    min_floor: float = 0.02

    def __post_init__(self) -> None:
        if self.decay not in ("exponential", "linear", "step"):
            raise SamplingSettingsError(f"decay: exponential, linear or step, not {self.decay!r}")
        if not 0 < self.k <= 1_000:
            raise SamplingSettingsError(f"k: above 0, and 1000 at most, not {self.k}")
        if not LEAST_FLOOR <= self.min_floor <= 1:
            raise SamplingSettingsError(f"min_floor: from 0.001 to 1, not {self.min_floor}")
        if (self.decay == "step") != bool(self.steps) or len(self.steps) > _MOST_STEPS:
            raise SamplingSettingsError(
                f"steps: from 1 to {_MOST_STEPS} where decay is step, else none"
            )
        if not all(0 <= step.from_bound <= 1 and 0 <= step.rate <= 1 for step in self.steps):
            raise SamplingSettingsError("steps: bounds and rates from 0 to 1")
        for before, after in pairwise(self.steps):
            if after.from_bound <= before.from_bound or after.rate > before.rate:
                raise SamplingSettingsError("steps: bounds rise, and rates do not")


@dataclass(frozen=True)
class SamplingRate:
    """The share of inputs that is also put to the paid model.

    Attributes:
        rate: from 0.001 to 1.
        reason: why.
        bound: the lower bound of agreement; None without pairs.
    """

    rate: float
    reason: Reason
    bound: float | None


def sampling_rate(
    window: WindowFigures,
    settings: SamplingSettings,
    *,
    coaching: float,
    alpha: float,
    is_serving: bool,
    alarm_level: float,
    false_alarm_pairs: int,
    is_settling: bool = False,
) -> SamplingRate:
    """Return the rate for a version.

    Args:
        window: of the version's pairs.
        coaching: the agreement below which all is sampled.
        alpha: the bound is below the mean agreement with a probability of 1 - alpha.
        is_serving: whether the version answers callers, which is phase 3.
        alarm_level: M of its evidence; from the square root of ``false_alarm_pairs`` on, half-way
            to an alarm, all is sampled.
        is_settling: whether it is sure of fewer inputs than it was, and its agreement on what it
            is sure of has not been seen anew.
    """
    mean = window.mean
    bound = None if mean is None else wilson_bound(mean, window.pairs, alpha)
    reason = None
    if not is_serving:
        reason = Reason.NOT_GRADUATED
    elif window.is_stale or bound is None:
        reason = Reason.STALE
    elif bound < coaching:
        reason = Reason.BELOW_COACHING
    elif alarm_level >= math.sqrt(false_alarm_pairs):
        reason = Reason.NEAR_ALARM
    elif is_settling:
        reason = Reason.COVERAGE
    if reason is not None or bound is None:
        return SamplingRate(1.0, reason or Reason.STALE, bound)
    rate = decayed(bound, settings, coaching=coaching)
    if rate <= settings.min_floor:
        return SamplingRate(settings.min_floor, Reason.FLOOR, bound)
    return SamplingRate(rate, Reason.DECAY, bound)


def decayed(bound: float, settings: SamplingSettings, *, coaching: float) -> float:
    """Return the rate at a lower bound of agreement, before the floor."""
    if settings.decay == "step":
        return next(
            (step.rate for step in reversed(settings.steps) if bound >= step.from_bound), 1.0
        )
    share = min(max((bound - coaching) / (1 - coaching), 0.0), 1.0)
    return 1 - share if settings.decay == "linear" else math.exp(-settings.k * share)


def wilson_bound(mean: float, pairs: int, alpha: float) -> float:
    """Return Wilson's one-sided lower bound of a share (E. B. Wilson, JASA 22, 1927).

    For scores that are fractions it is a heuristic, on the safe side: none vary more than scores of
    0 and 1 with their mean. It is not valid for who looks again and again.

    Args:
        mean: from 0 to 1.
        pairs: at least 1.
        alpha: between 0 and 0.5.
    """
    z2 = _normal_quantile(1 - alpha) ** 2
    spread = math.sqrt(z2 * (mean * (1 - mean) / pairs + z2 / (4 * pairs * pairs)))
    return max(0.0, (mean + z2 / (2 * pairs) - spread) / (1 + z2 / pairs))


def is_drawn(draw: Draw, key: bytes, run_id: str, rate: float) -> bool:
    """Return whether a run is drawn: with this probability, and the same each time it is asked.

    The comparison is exact, so that a rate of 1 draws each run, and one of 0 none. A higher rate
    draws all runs that a lower one draws.

    Args:
        draw: what for.
        key: a secret; who knows it could choose ids that are never checked.
        run_id: of the run.
        rate: from 0 to 1.

    Raises:
        ValueError: the rate is no such number, or the key is empty.
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate: from 0 to 1, not {rate}")
    if not key:
        raise ValueError("key: may not be empty")
    digest = hmac.digest(key, f"{draw}{run_id}".encode(), "sha256")
    numerator, denominator = float(rate).as_integer_ratio()
    return int.from_bytes(digest, "big") * denominator < numerator << _DIGEST_BITS


def _normal_quantile(probability: float) -> float:
    """Return the normal distribution's quantile for a probability from 0.5 on, by halving."""
    low, high = 0.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        if math.erfc(middle / math.sqrt(2)) / 2 > 1 - probability:
            low = middle
        else:
            high = middle
    return low
