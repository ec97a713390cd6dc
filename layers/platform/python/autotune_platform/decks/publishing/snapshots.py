"""What a version of a deck's grader is in the registry: a rubric that needs no deck."""

from datetime import datetime

from autotune.protocol import levels
from autotune.protocol.levels import params_digest
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.rubrics import RubricConfiguration, RubricLevels
from autotune_platform.checks.rubrics import rubric_version, stored_rubric
from autotune_platform.decks.models import GraderVersion
from autotune_platform.decks.publishing.measuring import Measured
from autotune_platform.gateway.models import Grader


def configuration_of(version: GraderVersion, system_prompt: str) -> RubricConfiguration:
    """Return a version as a grader's configuration, of which nothing was measured."""
    assert version.judge is not None, "an active grader has a judge"
    return RubricConfiguration(
        connection_id=version.judge.connection_id,
        model=version.judge.model,
        params=version.judge.params,
        answer=RubricLevels(type="levels", **dict(version.rubric), system_prompt=system_prompt),
    )


def calibration_of(
    measured: Measured,
    configuration: RubricConfiguration,
    provider: LlmProvider,
    at: datetime,
    *,
    look: int,
    chose_version: int,
) -> levels.Calibration | None:
    """Return what was measured as a calibration of a configuration.

    One that is too low is one as well, which calibrates nothing; where there are too few labels, or
    no interval, there is nothing to say.
    """
    found = measured.found
    kappa, low = found.agreement.kappa, found.agreement.interval.low
    if measured.because not in (None, "below_threshold") or kappa.value is None or low is None:
        return None
    return levels.Calibration(
        grader_version=rubric_version(configuration),
        provider=provider,
        model=measured.model,
        params_digest=params_digest(configuration.params),
        kappa=kappa.value,
        low=low,
        n=kappa.n,
        threshold=found.threshold,
        by_level=[
            levels.CalibratedLevel(level=one.level, n=one.n, hits=one.hits)
            for one in found.levels
            if one.n
        ],
        look=look,
        chose_version=chose_version,
        measured_at=at,
    )


def calibrated(
    configuration: RubricConfiguration, calibration: levels.Calibration | None
) -> RubricConfiguration:
    """Return a configuration with its calibration."""
    answer = configuration.answer.model_copy(update={"calibration": calibration})
    return configuration.model_copy(update={"answer": answer})


def is_same(grader: Grader, name: str, configuration: RubricConfiguration) -> bool:
    """Return whether a registered grader is this, whenever it was measured."""
    if grader.rubric is None or grader.name != name:
        return False
    before = RubricConfiguration.model_validate(grader.rubric)
    return _timeless(before) == _timeless(configuration)


def _timeless(configuration: RubricConfiguration) -> object:
    stored = stored_rubric(configuration)
    stored["answer"].get("calibration", {}).pop("measuredAt", None)
    return stored
