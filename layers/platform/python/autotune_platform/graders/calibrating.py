"""Whether a rubric grader is calibrated: that it agrees with people was measured."""

from autotune.protocol.levels import Calibration, Uncalibrated, params_digest
from autotune.protocol.rubrics import RubricConfiguration, RubricLevels
from autotune_platform.gateway.models import Grader
from autotune_platform.runtime.errors import GraderNotCalibratedError


def calibration_of(grader: Grader) -> Calibration | None:
    """Return the calibration by which a grader may score; None where it has none that is enough.

    It is held against the grader's version and parameters. Its provider is known with the
    connection, and the model that answers with the answer.
    """
    if grader.rubric is None:
        return None
    configuration = RubricConfiguration.model_validate(grader.rubric)
    answer = configuration.answer
    found = answer.calibration if isinstance(answer, RubricLevels) else None
    if found is None or found.low < found.threshold or found.suspended is not None:
        return None
    is_same = found.grader_version == grader.version and found.params_digest == params_digest(
        configuration.params
    )
    return found if is_same else None


def is_suspended(grader: Grader) -> bool:
    """Return whether fresh labels speak against the calibration that a grader has."""
    answer = (grader.rubric or {}).get("answer", {})
    return (answer.get("calibration") or {}).get("suspended") is not None


def uncalibrated_rule(rule: Uncalibrated | None, grader: Grader) -> Uncalibrated:
    """Return what becomes of completions where a rubric grader is not calibrated.

    Args:
        rule: the task's; without one, a rubric of levels abstains, and one that can never be
            calibrated is allowed.
    """
    if rule is not None:
        return rule
    answer = (grader.rubric or {}).get("answer", {})
    return "abstain" if answer.get("type") == "levels" else "allow"


def require_calibrated(grader: Grader, rule: Uncalibrated | None) -> None:
    """Require that a task which refuses graders that are not calibrated has a calibrated one.

    Only rubric graders can be: others are taken as they are.

    Raises:
        GraderNotCalibratedError: it is a rubric grader, and not calibrated.
    """
    if rule == "refuse" and grader.rubric is not None and calibration_of(grader) is None:
        why = (
            "calibrated no more, since fresh labels spoke against it; have its deck's labelled "
            "samples judged again and publish it"
            if is_suspended(grader)
            else "not calibrated; label samples in its deck"
        )
        raise GraderNotCalibratedError(
            f"grader {grader.id} is {why}, or set the task's uncalibrated to abstain or allow"
        )
