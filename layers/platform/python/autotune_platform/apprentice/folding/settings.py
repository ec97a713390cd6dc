"""What a configuration says of evidence, as the parts that compute with it take it."""

from collections.abc import Mapping
from typing import Any

from autotune.protocol.apprentice_tasks import seconds_of
from autotune_platform.apprentice.canary import Shares
from autotune_platform.apprentice.coverage import CoverageRules
from autotune_platform.apprentice.evidence import Rules
from autotune_platform.apprentice.sampling import SamplingSettings, Step
from autotune_platform.apprentice.versions.models import ModelVersion, VersionGate
from autotune_platform.apprentice.window import WindowSettings


def rules_of(document: Mapping[str, Any], *, attempt: int, needs_gate: bool = False) -> Rules:
    """Return by what a version is judged.

    Args:
        document: a configuration as it was put, with all defaults.
        attempt: the how many-th version it is under its definition, from 1.
        needs_gate: whether the version answers behind its gate alone.
    """
    thresholds, confidence = document["thresholds"], document["confidence"]
    return Rules(
        graduation=thresholds["phase2ToPhase3"],
        coaching=thresholds["coachingTrigger"],
        emergency=thresholds["emergencyThreshold"],
        alpha=confidence["alpha"],
        false_alarm_pairs=confidence["falseAlarmPairs"],
        attempt=attempt,
        is_gated=needs_gate or is_gated(document),
    )


def window_of(document: Mapping[str, Any], *, needs_gate: bool = False) -> WindowSettings:
    """Return what a configuration says of a version's window; see ``rules_of``."""
    confidence = document["confidence"]
    return WindowSettings(
        size=confidence["windowSize"],
        sensitivity=confidence["trendSensitivity"],
        max_age_seconds=seconds_of(confidence["maxWindowAge"]),
        is_gated=needs_gate or is_gated(document),
    )


def is_gated(document: Mapping[str, Any]) -> bool:
    """Return whether a configuration lets only answers through that a version is sure of."""
    gate: str = document["local"]["gate"]
    return gate == "confidence"


def gate_of(document: Mapping[str, Any], version: ModelVersion) -> VersionGate | None:
    """Return the gate that a version's answers have to pass; None where there is none."""
    return version.gate if version.needs_gate or is_gated(document) else None


def coverage_of(document: Mapping[str, Any]) -> CoverageRules:
    """Return by what a configuration has it watched how many those are.

    Each input says so, and of a version that is trusted only ``minFloor`` are pairs. So that a
    false alarm is as seldom in time as one of pairs, it takes as many times more to raise one.
    """
    confidence = document["confidence"]
    return CoverageRules(
        level=confidence["falseAlarmPairs"] / document["sampling"]["minFloor"],
        settling_pairs=confidence["windowSize"],
    )


def sampling_of(document: Mapping[str, Any]) -> SamplingSettings:
    """Return what a configuration says of sampling."""
    sampling = document["sampling"]
    return SamplingSettings(
        decay=sampling["decay"],
        k=sampling["k"],
        steps=[Step(from_bound=step["at"], rate=step["rate"]) for step in sampling["steps"]],
        min_floor=sampling["minFloor"],
    )


def canary_of(document: Mapping[str, Any]) -> Shares:
    """Return what a configuration says of canaries: without training a person promotes."""
    training = document.get("training")
    return Shares(training["canary"], is_automatic=True) if training else Shares()


def examples_needed(document: Mapping[str, Any]) -> int:
    """Return how many examples there have to be before any version is asked."""
    needed: int = document["thresholds"]["phase1ToPhase2"]
    return needed
