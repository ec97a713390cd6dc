"""Whether a trained version may be put beside callers: what held-out examples say of it.

Who passes is not believed yet: a shadow and a canary on real traffic follow. This keeps those short
that would fail there, and says why.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from autotune_platform.apprentice.evidence import Rules
from autotune_platform.apprentice.validation.comparing import Comparison, Difference, compare
from autotune_platform.apprentice.validation.gating import Gate, SaidWith, gate_of
from autotune_platform.apprentice.validation.measuring import (
    Measured,
    could_pass,
    fewest_scores,
    measured,
    most_telling,
    weighed,
)

LEAST_VALID = 0.98
"""Share of outputs that the schema has to admit. Each that it does not is paid for again, as the
paid model is asked in its place."""
_SLOW_QUANTILE = 0.95


class Objection(Enum):
    """What speaks against a version."""

    TOO_FEW = auto()
    """The hold-out is so small that no version could pass."""
    AGREEMENT = auto()
    """Its mean agreement is not shown to be above the threshold; behind a gate, that of no
    confidence is."""
    WORSE = auto()
    """It is not shown to be as good as the version before it, but for the margin."""
    INVALID = auto()
    """The schema admits too few of its outputs."""
    SLOW = auto()
    """More than one answer in twenty takes longer than callers wait for it."""


@dataclass(frozen=True)
class HeldOutAnswer:
    """What a version answered to an example that it never saw.

    Attributes:
        group: inputs of one group resemble each other, or are the same.
        propensity: how probable it was that the example was made, above 0 and at most 1.
        score: agreement with the paid model's answer, 0 to 1.
        before: the same of the version that serves; None where there is none, or it had no answer.
        is_valid: whether the schema admits the output.
        milliseconds: how long it took.
        confidence: how sure the version was, 0 to 1; None where its backend does not say.
    """

    group: str
    propensity: float
    score: float
    before: float | None
    is_valid: bool
    milliseconds: int
    confidence: float | None = None


@dataclass(frozen=True)
class Bar:
    """What a version has to reach.

    Attributes:
        rules: whose ``graduation`` is the threshold; ``attempt`` and ``alpha`` make its level.
        margin: how much worse than the version before it may be, between 0 and 1.
        timeout_ms: how long its answers are waited for.
        is_gated: whether only answers that are sure enough have to agree, since no others will go
            to callers.
    """

    rules: Rules
    margin: float
    timeout_ms: int
    is_gated: bool = False

    @property
    def level(self) -> float:
        """What U has to reach."""
        return self.rules.level(0)

    @property
    def fewest_groups(self) -> int:
        """How many groups of one weight it takes, were all answers right."""
        return fewest_scores(threshold=self.rules.graduation, level=self.level)

    def is_in_reach(self, propensities: Iterable[float]) -> bool:
        """Return whether any version could pass on groups of these propensities."""
        weights = _deciding(propensities)
        return could_pass(weights, threshold=self.rules.graduation, level=self.level)

    def worth(self, propensities: Iterable[float]) -> int:
        """Return how many groups of one weight say as much as groups of these propensities.

        It is at least ``fewest_groups`` where a version could pass on them, and less where none
        could.
        """
        weights = _deciding(propensities)
        told, fewest = math.floor(math.fsum(weights)), self.fewest_groups
        is_enough = could_pass(weights, threshold=self.rules.graduation, level=self.level)
        return max(told, fewest) if is_enough else min(told, fewest - 1)


@dataclass(frozen=True)
class Judgement:
    """What held-out examples say of a version.

    Attributes:
        examples: how many there are.
        groups: how many groups of inputs decide; those that chance drew too seldom do not.
        fewest_groups: how many it takes at least.
        agreement: the test of its mean agreement; None without any example.
        comparison: the one with the version before it; None where there is none to compare with.
        valid: share of its outputs that the schema admits.
        slow_ms: 95 % of its answers took at most so long.
        gate: from which confidence on its answers are shown to agree; None where from none.
        objections: what speaks against it, in this order; none where it passed.
    """

    examples: int
    groups: int
    fewest_groups: int
    agreement: Measured | None
    comparison: Comparison | None
    valid: float
    slow_ms: int
    gate: Gate | None
    objections: tuple[Objection, ...]

    @property
    def has_passed(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.objections


def judge(
    answers: Sequence[HeldOutAnswer], bar: Bar, candidates: Sequence[float] = ()
) -> Judgement:
    """Return what held-out examples say of a version.

    Args:
        candidates: confidences that a gate may ask for, falling, from other rows than these; none
            where the version does not say how sure it is.
    """
    groups = _groups(answers)
    least = most_telling(_propensity(group) for group in groups)
    groups = [group for group in groups if _propensity(group) >= least]
    weights = weighed(1 / _propensity(group) for group in groups)
    agreement = measured(
        [
            (_mean([one.score for one in group]), w)
            for group, w in zip(groups, weights, strict=True)
        ],
        threshold=bar.rules.graduation,
        level=bar.level,
    )
    comparison = compare(_differences(groups), margin=bar.margin, alpha=bar.rules.alpha)
    valid = _mean([float(one.is_valid) for one in answers]) if answers else 0.0
    slow_ms = _quantile([one.milliseconds for one in answers])
    gate = gate_of(_sure(groups), candidates, target=bar.rules.graduation, level=bar.level)
    is_shown = gate is not None if bar.is_gated else agreement is not None and agreement.is_above
    found = {
        Objection.TOO_FEW: not bar.is_in_reach(_propensity(group) for group in groups),
        Objection.AGREEMENT: not is_shown,
        Objection.WORSE: comparison is not None and not comparison.is_no_worse,
        Objection.INVALID: valid < LEAST_VALID,
        Objection.SLOW: slow_ms > bar.timeout_ms,
    }
    return Judgement(
        examples=len(answers),
        groups=len(groups),
        fewest_groups=bar.fewest_groups,
        agreement=agreement,
        comparison=comparison,
        valid=valid,
        slow_ms=slow_ms,
        gate=gate,
        objections=tuple(objection for objection, speaks in found.items() if speaks),
    )


def _deciding(propensities: Iterable[float]) -> list[float]:
    """Return the weights of those groups that decide."""
    known = list(propensities)
    least = most_telling(known)
    return weighed(1 / one for one in known if one >= least)


def _groups(answers: Iterable[HeldOutAnswer]) -> list[list[HeldOutAnswer]]:
    groups: dict[str, list[HeldOutAnswer]] = defaultdict(list)
    for one in answers:
        groups[one.group].append(one)
    return [groups[name] for name in sorted(groups)]


def _sure(groups: Iterable[Sequence[HeldOutAnswer]]) -> list[SaidWith]:
    """Return one answer of each group, the first: a gate lets answers through one by one."""
    return [
        SaidWith(group[0].confidence, group[0].score, _propensity(group))
        for group in groups
        if group[0].confidence is not None
    ]


def _propensity(group: Iterable[HeldOutAnswer]) -> float:
    """How probable it was that a group has any example: as its likeliest one, at least."""
    return max(one.propensity for one in group)


def _differences(groups: Iterable[Sequence[HeldOutAnswer]]) -> list[Difference]:
    differences = []
    for group in groups:
        both = [one.score - one.before for one in group if one.before is not None]
        if both:
            differences.append(Difference(_mean(both), 1 / _propensity(group)))
    return differences


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _quantile(values: Iterable[int]) -> int:
    """Return the value that 95 % of all are at or below; 0 of none."""
    ordered = sorted(values)
    return ordered[math.ceil(_SLOW_QUANTILE * len(ordered)) - 1] if ordered else 0
