"""Rubrics of seven levels on the wire: what a response is judged by, from -3 to +3."""

import hashlib
from collections.abc import Collection, Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from autotune.protocol import limits
from autotune.protocol.compact_json import compact_sorted
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_limits import ModelName
from autotune.protocol.llm_params import LlmParams
from autotune.protocol.types import Moment, RequestModel, SampleId, Text, at_most

LEVELS: Final = (-3, -2, -1, 0, 1, 2, 3)
"""What a judge may answer, the worst first; 0 is a level as the others are."""

DEFAULT_THRESHOLD: Final = 0.4
"""The least that the lower end of kappa's interval has to be."""

UNMEASURED_CONFIDENCE: Final = 0.5
"""The confidence in a level of which there is no measurement."""

_Kappa = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Level = Annotated[int, Field(ge=-3, le=3, strict=True)]


_Criteria = Annotated[
    Text, StringConstraints(min_length=1, max_length=limits.MAX_LEVELS_CRITERIA_CHARACTERS)
]
_LevelText = Annotated[Text, StringConstraints(max_length=limits.MAX_LEVEL_CHARACTERS)]
_Example = Annotated[Text, StringConstraints(max_length=limits.MAX_LEVELS_EXAMPLE_CHARACTERS)]


class RubricExample(RequestModel):
    """An output, and the level that it has; ``sample_id`` where it is a sample of a deck.

    Samples that are held out may not be examples.
    """

    input: _Example
    output: _Example
    level: Level
    explanation: _Example = ""
    sample_id: SampleId | None = None

    @property
    def is_erased(self) -> bool:
        """Whether its texts went with its sample; no judge is shown it."""
        return self.sample_id is not None and not (self.input or self.output or self.explanation)


class LevelsRubric(RequestModel):
    """How outputs are judged.

    Attributes:
        criteria: what is judged.
        levels: what each level means, from -3 to +3: seven texts.
        not_applicable_when: when there is nothing to judge; such an output abstains.
    """

    criteria: _Criteria
    levels: Annotated[
        list[_LevelText],
        Field(min_length=len(LEVELS), max_length=len(LEVELS)),
        at_most(len(LEVELS)),
    ]
    not_applicable_when: _LevelText | None = None
    examples: Annotated[
        list[RubricExample],
        Field(max_length=limits.MAX_LEVELS_EXAMPLES),
        at_most(limits.MAX_LEVELS_EXAMPLES),
    ] = []

    @model_validator(mode="after")
    def _fits(self) -> Self:
        rubric = self.model_dump(mode="json", by_alias=True, include=set(LevelsRubric.model_fields))
        size = len(compact_sorted(rubric).encode())
        if size > limits.MAX_LEVELS_RUBRIC_BYTES:
            raise ValueError(
                f"expected at most {limits.MAX_LEVELS_RUBRIC_BYTES} bytes of JSON, not {size}"
            )
        return self


def without_examples(
    examples: Sequence[RubricExample], sample_ids: Collection[str] | None
) -> list[RubricExample]:
    """Return examples of which those that were samples have lost their texts.

    Args:
        sample_ids: these samples; None for all.
    """
    return [
        one.model_copy(update={"input": "", "output": "", "explanation": ""})
        if one.sample_id is not None and (sample_ids is None or one.sample_id in sample_ids)
        else one
        for one in examples
    ]


class CalibratedLevel(RequestModel):
    """How often people agreed where a judge said this level.

    Attributes:
        n: held-out samples to which it gave the level.
        hits: those of them to which people gave the level or one beside it.
    """

    level: Level
    n: Annotated[int, Field(ge=0, le=limits.MAX_CALIBRATION_SAMPLES, strict=True)]
    hits: Annotated[int, Field(ge=0, le=limits.MAX_CALIBRATION_SAMPLES, strict=True)]

    @model_validator(mode="after")
    def _is_a_share(self) -> Self:
        if self.hits > self.n:
            raise ValueError("hits must be at most n")
        return self

    @property
    def confidence(self) -> float:
        """Laplace's rule of succession: how likely it is that people agree the next time."""
        return (self.hits + 1) / (self.n + 2)


class CalibrationSuspension(RequestModel):
    """Why a calibration counts no more: fresh labels speak against it.

    Attributes:
        labels: fresh labels that were looked at together.
        hits: those of them that are within one level of the judge's.
        predicted: the share of hits that the calibration predicts, from 0 to 1.
        probability: how likely so few hits are, or fewer, if it held.
    """

    at: Moment
    labels: Annotated[int, Field(ge=1, le=limits.MAX_CALIBRATION_SAMPLES, strict=True)]
    hits: Annotated[int, Field(ge=0, le=limits.MAX_CALIBRATION_SAMPLES, strict=True)]
    predicted: _Share
    probability: _Share


class Calibration(RequestModel):
    """How far a judge agrees with people, measured on samples that are held out.

    It holds for one version of one grader, its provider, its parameters and the model that
    answered, and for nothing else. A grader is calibrated where it holds, ``low`` is at least
    ``threshold``, and it is not suspended.

    Attributes:
        grader_version: the version that was measured, which follows from all that the grader asks.
        provider: of its connection.
        model: the model that answered, as its provider names it.
        params_digest: ``params_digest`` of its parameters.
        kappa: quadratic weighted kappa, from -1 to 1.
        low: the lower end of its interval.
        n: held-out samples that were compared.
        look: which look at the labels it took: ``low`` has the level 0.05 / 2^look. None where that
            was not counted.
        chose_version: how many of the labels are those by which an edit was taken that made this
            version: kappa on them is too high.
        by_level: the levels that the judge gave, each once.
        suspended: why it counts no more; None where it does.
    """

    grader_version: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    provider: LlmProvider
    model: ModelName
    params_digest: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    kappa: _Kappa
    low: _Kappa
    n: Annotated[int, Field(ge=1, le=limits.MAX_CALIBRATION_SAMPLES, strict=True)]
    threshold: _Kappa = DEFAULT_THRESHOLD
    look: Annotated[int, Field(ge=0, le=limits.MAX_CALIBRATION_LOOKS, strict=True)] | None = None
    chose_version: Annotated[int, Field(ge=0, le=limits.MAX_CALIBRATION_SAMPLES, strict=True)] = 0
    by_level: Annotated[list[CalibratedLevel], at_most(len(LEVELS))]
    measured_at: Moment
    suspended: CalibrationSuspension | None = None

    @model_validator(mode="after")
    def _is_of_one_measurement(self) -> Self:
        if len({one.level for one in self.by_level}) < len(self.by_level):
            raise ValueError("byLevel: each level once")
        if self.low > self.kappa:
            raise ValueError("low must be at most kappa")
        if sum(one.n for one in self.by_level) > self.n:
            raise ValueError("byLevel: no more samples than n")
        return self

    def confidence(self, level: int) -> float:
        """Return how likely it is that people are within one level of this one."""
        known = (one.confidence for one in self.by_level if one.level == level)
        return next(known, UNMEASURED_CONFIDENCE)


def params_digest(params: LlmParams) -> str:
    """Return the SHA-256, in hexadecimal, of parameters as compact JSON with sorted names."""
    document = params.model_dump(mode="json", by_alias=True, exclude_none=True)
    return hashlib.sha256(compact_sorted(document).encode()).hexdigest()


Uncalibrated = Literal["refuse", "abstain", "allow"]
"""What becomes of completions whose judge is not calibrated.

``refuse`` takes none, ``abstain`` takes them and leaves them without a score, ``allow`` scores them
with the confidence of a judge that nobody measured, 0.5.
"""
