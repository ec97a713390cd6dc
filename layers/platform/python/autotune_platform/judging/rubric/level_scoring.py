"""Scoring completions by a rubric of levels: what is asked, and what an answer is worth.

A level counts as a score where its judge is calibrated: where the version, the provider, the
parameters and the model that answered are those which were measured. What is known before anybody
is asked costs nothing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from autotune.protocol.completions import ReasonCode
from autotune.protocol.grading import GraderScore
from autotune.protocol.levels import (
    LEVELS,
    UNMEASURED_CONFIDENCE,
    Calibration,
    Uncalibrated,
)
from autotune.protocol.limits import MAX_LEVELS_TEXT_CHARACTERS, MAX_REASONING_CHARACTERS
from autotune.protocol.rubrics import RubricLevels
from autotune_platform.completions.models import Completion
from autotune_platform.gateway.models import Grader
from autotune_platform.graders.calibrating import calibration_of, is_suspended, uncalibrated_rule
from autotune_platform.judging.rubric.conversations import SampleTexts
from autotune_platform.judging.rubric.levels import LevelReading
from autotune_platform.judging.rubric.system_prompts import is_written_under
from autotune_platform.ledger.models import Connection
from autotune_platform.runtime.bounded_json import parse_strictly
from autotune_platform.verdicts.judgements import Judgement

ASKED: Final = "autotune_levels"
"""The variable that says how the answer counts; no text names it, so that it is not sent."""

_MOST_VALUES = 1_000


@dataclass(frozen=True)
class Counting:
    """How a rubric grader's answers count.

    Attributes:
        grader: the grader, as it is registered now.
        calibration: what was measured of it at its connection's provider; None where that is not
            enough, or nothing.
    """

    grader: Grader
    calibration: Calibration | None

    @classmethod
    def of(cls, grader: Grader, connection: Connection) -> "Counting":
        """Return how the answers of a grader count that is asked at a connection."""
        found = calibration_of(grader)
        is_same = found is not None and found.provider == connection.provider
        return cls(grader, found if is_same else None)

    def is_allowed(self, completion: Completion) -> bool:
        """Return whether a completion may be scored, as far as it is known before an answer."""
        return self.calibration is not None or self._rule(completion) == "allow"

    @property
    def reason(self) -> ReasonCode:
        """Why a completion is not scored where nothing that counts was measured."""
        return "calibration_suspended" if is_suspended(self.grader) else "uncalibrated"

    def as_variable(self, completion: Completion) -> str:
        """Return all of it as a variable of the question."""
        found = self.calibration
        return json.dumps(
            {
                "uncalibrated": self._rule(completion),
                "calibration": found and found.model_dump(mode="json", by_alias=True),
            }
        )

    def _rule(self, completion: Completion) -> Uncalibrated:
        return uncalibrated_rule(completion.uncalibrated, self.grader)


def unfit(rubric: RubricLevels, texts: SampleTexts) -> Judgement | None:
    """Return the judgement on texts that the rubric is not asked about; None where it is."""
    if texts.characters > MAX_LEVELS_TEXT_CHARACTERS:
        return Judgement(abstained=True, reason_code="input_too_long")
    is_other = (
        texts.system is not None
        and rubric.system_prompt is not None
        and not is_written_under(rubric.system_prompt, texts.system)
    )
    if is_other:
        return Judgement(abstained=True, reason_code="other_system_prompt")
    return None


def level_judgement(
    reading: LevelReading,
    variables: Mapping[str, str],
    *,
    version: str | None,
    latency_ms: int,
    request_id: str,
) -> Judgement:
    """Return what an answer says of its completion, counted as it was when it was asked.

    Args:
        variables: those of the question.
    """
    rule, calibration = _counted(variables)
    measured = calibration is not None and calibration.model == reading.answered_model
    score: GraderScore | None = None
    reason = reading.reason
    if reading.status != "failed" and not measured and rule != "allow":
        # Another model says just as little of where a rubric applies as of which level fits.
        reason = "uncalibrated" if calibration is None else "uncalibrated_model"
    elif reading.level is not None:
        score = GraderScore(
            value=(reading.level - LEVELS[0]) / (LEVELS[-1] - LEVELS[0]),
            confidence=calibration.confidence(reading.level)
            if calibration is not None and measured
            else UNMEASURED_CONFIDENCE,
            reasoning=_shown(reading),
        )
    return Judgement(
        score=score,
        abstained=score is None and reading.status != "failed",
        reason_code=reason,
        reported_version=version,
        grader_latency_ms=latency_ms,
        source_request_id=request_id,
    )


def _counted(variables: Mapping[str, str]) -> tuple[Uncalibrated, Calibration | None]:
    """Return what the task said of judges that are not calibrated, and what was measured."""
    counted = parse_strictly(variables[ASKED].encode(), most_values=_MOST_VALUES)
    found = counted["calibration"]
    rule: Uncalibrated = counted["uncalibrated"]
    return rule, None if found is None else Calibration.model_validate(found)


def _shown(reading: LevelReading) -> str | None:
    """Return the explanation, and the reasoning below it as far as there is room."""
    parts = [part for part in (reading.explanation, reading.reasoning) if part]
    return "\n\n".join(parts)[:MAX_REASONING_CHARACTERS] or None
