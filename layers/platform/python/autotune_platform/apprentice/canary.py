"""A version's canary: it answers a growing share of callers, and each step takes pairs of its own.

How many steps it passed is a part of what is folded, so it is the same whenever that is rebuilt.
Which share a step has is in the configuration.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from autotune_platform.apprentice.pairs import Pair

STEP_PAIRS: Final = 30
"""Pairs of runs that chance put into the canary, until its next step.

In nine cases of ten an alarm comes within so many where agreement falls from .95 to .45.
"""

LONGEST_STEP_SECONDS: Final = 24 * 3_600.0
"""After so long one such pair is enough: few runs would have a canary last for months."""

BY_HAND: Final = (0.05,)
"""The share of a version's canary where the configuration has no ``training``."""


@dataclass(frozen=True, slots=True)
class Canary:
    """How far a version has come since it graduated.

    Attributes:
        steps: how many it passed.
        pairs: of the present one.
        since: when that began, Unix seconds.
    """

    steps: int = 0
    pairs: int = 0
    since: float = 0.0

    @classmethod
    def begun(cls, pair: Pair) -> Self:
        """Return the canary of a version that graduated by a pair."""
        return cls(since=pair.at)

    def fold(self, pair: Pair) -> Self:
        """Return it with one more pair that counts, and raised no alarm."""
        if not pair.in_canary:
            return self
        pairs = self.pairs + 1
        if pairs < STEP_PAIRS and pair.at - self.since < LONGEST_STEP_SECONDS:
            return replace(self, pairs=pairs)
        return type(self)(self.steps + 1, 0, pair.at)


NO_CANARY: Final = Canary()


@dataclass(frozen=True)
class Shares:
    """What a configuration says of canaries.

    Attributes:
        each: shares of the traffic, one after the other.
        is_automatic: whether the last one is followed by serving; else a person promotes.
    """

    each: Sequence[float] = BY_HAND
    is_automatic: bool = False

    def of(self, canary: Canary) -> float:
        """Return the share that a version in its canary answers."""
        return self.each[min(canary.steps, len(self.each) - 1)]

    def have_passed(self, canary: Canary) -> bool:
        """Return whether a version has passed all steps."""
        return self.is_automatic and canary.steps >= len(self.each)
