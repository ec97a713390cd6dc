"""Where a task and its versions stand, as operators see it."""

import math
from datetime import UTC, datetime

from autotune.protocol import apprentice_standings as wire
from autotune_platform.apprentice.agreement import lower_bound, mean
from autotune_platform.apprentice.canary import STEP_PAIRS, Shares
from autotune_platform.apprentice.evidence import Evidence
from autotune_platform.apprentice.folding.settings import coverage_of
from autotune_platform.apprentice.phases import Stage
from autotune_platform.apprentice.reporting.known import KnownTask, VersionFigures

_MOST_EVIDENCE = 1e12
"""What speaks for a version may be more than a float holds; nobody needs more than this."""


def version_standing(task: KnownTask, one: VersionFigures) -> wire.ApprenticeVersionStanding:
    """Return where a version of a task stands."""
    alarm_at = coverage_of(task.document).level
    canaries = task.canaries
    window, evidence, sampling = one.window, one.evidence, one.sampling
    return wire.ApprenticeVersionStanding(
        number=one.number,
        stage=one.stage.value,
        pairs=evidence.pairs,
        agreement=agreement(one),
        window=wire.ApprenticeWindow(
            pairs=window.pairs,
            mean=window.mean,
            bound=sampling.bound,
            slope=window.slope,
            trend=window.trend,
            has_drift=window.has_drift,
            has_shift=window.has_shift,
            is_stale=window.is_stale,
        ),
        sampling=wire.ApprenticeSampling(rate=sampling.rate, reason=sampling.reason.value),
        graduated_at=evidence.graduated_at,
        canary=canary(evidence, canaries) if one.stage is Stage.CANARY else None,
        alarm_level=evidence.alarm_level,
        alarm_at=one.rules.false_alarm_pairs,
        alarms=evidence.alarms,
        alarmed_at=evidence.alarmed_at,
        emergency_at=evidence.emergency_at,
        coverage=coverage(one, alarm_at),
    )


def coverage(one: VersionFigures, alarm_at: float) -> wire.ApprenticeCoverage | None:
    """Return how many inputs a version is sure of; None where it has no gate."""
    gate, seen = one.known.known.gate, one.known.coverage
    if gate is None or seen is None:
        return None
    alarmed_at = seen.alarmed_at
    return wire.ApprenticeCoverage(
        confidence=gate.confidence,
        promised=gate.coverage,
        least=seen.least,
        inputs=seen.inputs,
        share=seen.share,
        alarm_level=seen.level,
        alarm_at=alarm_at,
        alarms=seen.alarms,
        alarmed_at=None if alarmed_at is None else datetime.fromtimestamp(alarmed_at, UTC),
        checked_until=seen.settles_at,
    )


def canary(evidence: Evidence, canaries: Shares) -> wire.ApprenticeCanary:
    """Return how far a version has come that is in its canary."""
    own, steps = evidence.canary, len(canaries.each)
    return wire.ApprenticeCanary(
        share=canaries.of(own),
        step=min(own.steps, steps - 1) + 1,
        steps=steps,
        pairs=own.pairs,
        pairs_needed=STEP_PAIRS,
        since=datetime.fromtimestamp(own.since, UTC),
        is_automatic=canaries.is_automatic,
    )


def agreement(one: VersionFigures) -> wire.ApprenticeAgreement:
    """Return how far a version agrees since its last alarm, with the bound of that."""
    level = one.level
    logarithm = min(one.evidence.mean_wealth.logarithm, math.log(_MOST_EVIDENCE))
    return wire.ApprenticeAgreement(
        pairs=sum(one.scores.values()),
        mean=mean(one.scores),
        bound=lower_bound(one.scores, level),
        confidence=1 - 1 / level,
        evidence=math.exp(logarithm),
        evidence_needed=level,
    )


def thresholds(task: KnownTask) -> wire.ApprenticeThresholds:
    """Return by which agreement what happens."""
    own = task.document["thresholds"]
    return wire.ApprenticeThresholds(
        graduation=own["phase2ToPhase3"],
        coaching=own["coachingTrigger"],
        emergency=own["emergencyThreshold"],
    )
