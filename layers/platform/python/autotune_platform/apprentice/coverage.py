"""Whether a version behind a gate is still as sure of inputs as its hold-out promised.

A gate hides a shift: inputs of another kind are not answered wrongly, they go to the paid model. So
the share that the gate lets through is watched with the alarm's own test (``betting.Detector``), of
a 1 for an input of which the version was sure and a 0 for another. Each input says it, and costs
nothing: these are no pairs, and what they say decides nothing about who answers. It has all answers
checked until as many new pairs as a window has say how right the version is by now.
"""

import json
import math
from dataclasses import asdict, dataclass, replace
from typing import Self

from autotune_platform.apprentice.betting import AT_REST, Detector, Levels, mean_level

MARGIN = 0.10
"""So much lower the share may be at any time: traffic is not the same at all hours."""
_ERRORS = 2
LEAST_COVERAGE = 0.02
"""Below this a share cannot fall by anything that could be noticed."""


@dataclass(frozen=True)
class CoverageRules:
    """By what it is watched.

    Attributes:
        level: what M has to reach.
        settling_pairs: so many new pairs end what an alarm began.
    """

    level: float
    settling_pairs: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """What inputs showed of a version's gate.

    Attributes:
        least: the share that is watched.
        inputs: how many there were since ``least`` was set, or since the alarm.
        sure: of how many of them the version was sure.
        levels: M of the alarm.
        alarms: how many there were.
        alarmed_at: when the last one was, Unix seconds.
        settles_at: how many pairs the version is to have before the share that is seen by then is
            taken for what is usual; None where no alarm is on.
    """

    least: float
    inputs: int = 0
    sure: int = 0
    levels: Levels = AT_REST
    alarms: int = 0
    alarmed_at: float | None = None
    settles_at: int | None = None

    @property
    def share(self) -> float | None:
        """The share of inputs of which the version was sure; None without any."""
        return self.sure / self.inputs if self.inputs else None

    @property
    def level(self) -> float:
        """M: how much speaks for an alarm."""
        return mean_level(self.levels)

    @property
    def is_settling(self) -> bool:
        """Whether all answers are to be checked because of an alarm."""
        return self.settles_at is not None

    def fold(self, *, is_sure: bool, pairs: int, at: float, rules: CoverageRules) -> Self:
        """Return what is known after one more input.

        Args:
            is_sure: whether the version was sure of it.
            pairs: how many pairs the version has by then that count.
            at: when it was answered, Unix seconds.
        """
        counted = replace(self, inputs=self.inputs + 1, sure=self.sure + is_sure)
        if counted.settles_at is not None:
            return counted if pairs < counted.settles_at else counted.settled()
        levels = Detector(self.least).after(self.levels, float(is_sure))
        if mean_level(levels) < rules.level:
            return replace(counted, levels=levels)
        return replace(
            self,
            inputs=0,
            sure=0,
            levels=AT_REST,
            alarms=self.alarms + 1,
            alarmed_at=at,
            settles_at=pairs + rules.settling_pairs,
        )

    def settled(self) -> Self:
        """Return the same with what was seen since the alarm as what is usual.

        A share that is higher by chance raises no expectations.
        """
        least = least_promised(self.sure / self.inputs, self.inputs)
        return replace(
            self, least=min(self.least, least), inputs=0, sure=0, levels=AT_REST, settles_at=None
        )

    def to_json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(asdict(self), allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what ``to_json`` wrote."""
        state = json.loads(text)
        return cls(**{**state, "levels": tuple(state["levels"])})


def least_promised(share: float, inputs: float) -> float:
    """Return the share below which inputs are others than those that a share was seen of.

    Args:
        share: of inputs of which a version was sure.
        inputs: how many there were; of unequal weights, as many as would say as much.
    """
    error = math.sqrt(share * (1 - share) / inputs)
    return max(LEAST_COVERAGE, share - _ERRORS * error - MARGIN)
