"""What is learned of a run: how far a version's answer agrees with the paid model's."""

from collections.abc import Mapping
from typing import Any

from autotune_platform.apprentice.evaluators import (
    ExactMatch,
    StructuredMatch,
    UnusableTruthError,
)
from autotune_platform.apprentice.routing import Decision
from autotune_platform.apprentice.runs.models import Run, RunPair


def pairs_of(
    run: Run, decision: Decision, document: Mapping[str, Any], truth: str
) -> tuple[RunPair, ...]:
    """Return the pairs of a run that the paid model answered.

    Where a version is in shadow, every input is compared, so that chance alone chose this one, too.

    Args:
        decision: on what is known of the run; it says what is compared.
        document: the configuration that the run goes by.
        truth: the paid model's answer.
    """
    compared = (
        (decision.pair, run.local_version, run.local_output),
        (decision.shadow_pair, run.shadow_version, run.shadow_output),
    )
    pairs = []
    for is_compared, version, output in compared:
        if is_compared and version is not None:
            score = score_of(document, output or "", truth)
            if score is not None:
                pairs.append(RunPair(version=version, score=score, is_drawn=True))
    return tuple(pairs)


def score_of(document: Mapping[str, Any], local: str, truth: str) -> float | None:
    """Return how far two answers agree, from 0 to 1.

    Returns:
        None where the task's evaluator is none that is computed here, or the truth is unusable.
    """
    evaluator = document["evaluator"]
    try:
        if evaluator["type"] == "structured_match":
            match = StructuredMatch(evaluator["matchFields"], document["outputSchema"])
            return match.evaluate(local, truth).score
        if evaluator["type"] == "exact_match":
            return ExactMatch().evaluate(local, truth).score
    except UnusableTruthError:
        return None
    return None
