"""What a version's pairs say of it: a fold over them, one after the other.

The pairs are what is stored. Evidence is a cache of them, and rebuilding it from the first pair
gives the same state to the last bit (``betting``), also if it was written as JSON in between.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from autotune_platform.apprentice.betting import (
    ALARM_BETS,
    AT_REST,
    GRADUATION_BETS,
    NO_WEALTH_YET,
    Detector,
    Graduation,
    Levels,
    MeanWealth,
    Wealth,
    mean_level,
)
from autotune_platform.apprentice.canary import NO_CANARY, Canary
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.runtime.bounded_json import parse_strictly

LEAST_THRESHOLD, GREATEST_THRESHOLD = 0.001, 0.999
FEWEST_FALSE_ALARM_PAIRS = 100
"""M of pairs that all agree rests at 5.7: an alarm at a level near that would be one of nothing."""
MOST_FALSE_ALARM_PAIRS = 1_000_000_000
_MOST_VALUES = 200


class RulesError(ValueError):
    """Rules of evidence contradict each other; the message names the field and its limit."""


class MissingPairError(ValueError):
    """Pairs before this one have not been folded."""


class UnusableEvidenceError(ValueError):
    """Stored evidence is not of these rules, or cannot be read: it has to be rebuilt."""


@dataclass(frozen=True)
class Rules:
    """By what a version is judged. Other rules are other evidence.

    Attributes:
        graduation: the mean agreement above which a version may serve.
        coaching: the one below which an alarm is to be raised.
        emergency: the one below which the version is to be retired.
        alpha: how probable it may be that a version graduates which does not deserve it.
        false_alarm_pairs: the mean number of pairs until a false alarm, at least.
        attempt: the how many-th version it is that is tried under its definition, from 1.
        is_gated: whether only answers count of which the version was sure.

    Raises:
        RulesError: they are not in this order, or outside what is admitted.
    """

    graduation: float
    coaching: float
    emergency: float
    alpha: float = 0.05
    false_alarm_pairs: int = 1000
    attempt: int = 1
    is_gated: bool = False
    bets: Graduation = field(init=False, repr=False, compare=False)
    alarm: Detector = field(init=False, repr=False, compare=False)
    last_alarm: Detector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not LEAST_THRESHOLD <= self.emergency < self.coaching < self.graduation:
            raise RulesError(
                f"thresholds: {LEAST_THRESHOLD} ≤ emergency < coaching < graduation, "
                f"not {self.emergency}, {self.coaching}, {self.graduation}"
            )
        if not self.graduation <= GREATEST_THRESHOLD:
            raise RulesError(f"graduation: at most {GREATEST_THRESHOLD}, not {self.graduation}")
        if not 1e-6 <= self.alpha <= 0.5:
            raise RulesError(f"alpha: from 0.000001 to 0.5, not {self.alpha}")
        if not FEWEST_FALSE_ALARM_PAIRS <= self.false_alarm_pairs <= MOST_FALSE_ALARM_PAIRS:
            raise RulesError(
                f"false_alarm_pairs: from {FEWEST_FALSE_ALARM_PAIRS} "
                f"to {MOST_FALSE_ALARM_PAIRS}, not {self.false_alarm_pairs}"
            )
        if not 1 <= self.attempt <= 1_000_000:
            raise RulesError(f"attempt: from 1 to 1000000, not {self.attempt}")
        object.__setattr__(self, "bets", Graduation(self.graduation))
        object.__setattr__(self, "alarm", Detector(self.coaching))
        object.__setattr__(self, "last_alarm", Detector(self.emergency))

    def level(self, alarms: int) -> float:
        """Return what U has to reach.

        The first time it is ``k (k + 1) / α`` for the k-th version, so that all versions together
        have α. After each alarm U begins anew, which is one more chance for a version that does not
        deserve it: the j-th of these has a share of 2 / ((j + 1)(j + 2)), so that they cost α once
        more, however many there are.
        """
        k, j = self.attempt, alarms
        return k * (k + 1) * (j + 1) * (j + 2) / (2 * self.alpha)

    def key(self) -> list[float]:
        """Return what evidence of these rules is known by."""
        return [
            self.graduation,
            self.coaching,
            self.emergency,
            self.alpha,
            self.false_alarm_pairs,
            self.attempt,
            *([1.0] if self.is_gated else []),
        ]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a version after some pairs.

    Attributes:
        sequence: the last pair that was folded; 0 at first.
        pairs: how many of them count: those that chance drew, behind a gate of sure answers alone.
        wealth: of the bets on graduation, since the last alarm.
        graduated_at: the pair at which U reached its level; None where it did not since the last
            alarm.
        canary: how far it has come since it graduated.
        levels: M of the alarm, since the last alarm.
        alarms: how many there were.
        alarmed_at: the pair of the last one.
        emergency_levels: M of the emergency.
        emergency_at: the pair at which that fired. Pairs after it change nothing any more.
    """

    sequence: int = 0
    pairs: int = 0
    wealth: Wealth = NO_WEALTH_YET
    graduated_at: int | None = None
    canary: Canary = NO_CANARY
    levels: Levels = AT_REST
    alarms: int = 0
    alarmed_at: int | None = None
    emergency_levels: Levels = AT_REST
    emergency_at: int | None = None

    @property
    def mean_wealth(self) -> MeanWealth:
        """U: how much speaks for the version."""
        return MeanWealth(self.wealth)

    @property
    def alarm_level(self) -> float:
        """M: how much speaks for an alarm; ``false_alarm_pairs`` raises it."""
        return mean_level(self.levels)

    def fold(self, pair: Pair, rules: Rules) -> Self:
        """Return the evidence with one more pair. One that was folded before changes nothing.

        Raises:
            MissingPairError: a pair between the last one and this has not been folded.
        """
        if pair.sequence <= self.sequence:
            return self
        if pair.sequence != self.sequence + 1:
            raise MissingPairError(f"pair {pair.sequence} came after pair {self.sequence}")
        counts = pair.counts(is_gated=rules.is_gated)
        if not counts or self.emergency_at is not None:
            return replace(self, sequence=pair.sequence, pairs=self.pairs + counts)
        wealth = rules.bets.after(self.wealth, pair.score)
        levels = rules.alarm.after(self.levels, pair.score)
        emergency_levels = rules.last_alarm.after(self.emergency_levels, pair.score)
        has_alarm = mean_level(levels) >= rules.false_alarm_pairs
        is_emergency = mean_level(emergency_levels) >= rules.false_alarm_pairs
        graduated_at, alarmed_at, canary = self.graduated_at, self.alarmed_at, self.canary
        if has_alarm:
            wealth, levels, canary = NO_WEALTH_YET, AT_REST, NO_CANARY
            graduated_at, alarmed_at = None, pair.sequence
        elif graduated_at is not None:
            canary = canary.fold(pair)
        elif MeanWealth(wealth).reaches(rules.level(self.alarms)):
            graduated_at, canary = pair.sequence, Canary.begun(pair)
        return type(self)(
            sequence=pair.sequence,
            pairs=self.pairs + 1,
            wealth=wealth,
            graduated_at=graduated_at,
            canary=canary,
            levels=levels,
            alarms=self.alarms + has_alarm,
            alarmed_at=alarmed_at,
            emergency_levels=emergency_levels,
            emergency_at=pair.sequence if is_emergency else None,
        )

    def to_json(self, rules: Rules) -> str:
        """Return all of it as JSON, with the rules by which it was folded.

        Python writes a float with as many digits as it takes to read the same one back.
        """
        state = {**asdict(self), "rules": rules.key()}
        return json.dumps(state, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, rules: Rules) -> Self:
        """Return what ``to_json`` wrote.

        Raises:
            UnusableEvidenceError: it was folded by other rules, or is damaged.
        """
        try:
            state = parse_strictly(text.encode(), most_values=_MOST_VALUES)
            if not isinstance(state, dict) or state.pop("rules", None) != rules.key():
                raise UnusableEvidenceError("evidence of other rules")
            return cls._of(state)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, UnusableEvidenceError):
                raise
            raise UnusableEvidenceError("evidence that cannot be read") from error

    @classmethod
    def _of(cls, state: Mapping[str, Any]) -> Self:
        graduated_at, alarmed_at, emergency_at = (
            None if state[name] is None else _count(state[name])
            for name in ("graduated_at", "alarmed_at", "emergency_at")
        )
        wealth = tuple((_fraction(part), _whole(power)) for part, power in state["wealth"])
        levels, emergency_levels = (
            tuple(map(_level, state[name])) for name in ("levels", "emergency_levels")
        )
        if len(wealth) != len(GRADUATION_BETS) or {len(levels), len(emergency_levels)} != {
            len(ALARM_BETS)
        }:
            raise ValueError("another number of bets")
        return cls(
            sequence=_count(state["sequence"]),
            pairs=_count(state["pairs"]),
            wealth=wealth,
            graduated_at=graduated_at,
            canary=_canary(state["canary"]),
            levels=levels,
            alarms=_count(state["alarms"]),
            alarmed_at=alarmed_at,
            emergency_levels=emergency_levels,
            emergency_at=emergency_at,
        )


def folded(pairs: Iterable[Pair], rules: Rules) -> Evidence:
    """Return the evidence of all pairs of a version, in the order of their sequence.

    Raises:
        MissingPairError: there is a gap, or the first one is missing.
    """
    evidence = Evidence()
    for pair in pairs:
        evidence = evidence.fold(pair, rules)
    return evidence


def _whole(value: object) -> int:
    if type(value) is not int:
        raise TypeError("no whole number")
    return value


def _count(value: object) -> int:
    count = _whole(value)
    if count < 0:
        raise ValueError("below 0")
    return count


def _canary(state: Mapping[str, Any]) -> Canary:
    since = state["since"]
    if type(since) not in (int, float) or not math.isfinite(since):
        raise ValueError("no time")
    return Canary(_count(state["steps"]), _count(state["pairs"]), since)


def _fraction(value: object) -> float:
    if type(value) is not float or not 0.5 <= value < 1:
        raise ValueError("no fraction")
    return value


def _level(value: object) -> float:
    if type(value) is not float or not math.isfinite(value) or value < 0:
        raise ValueError("no level")
    return value
