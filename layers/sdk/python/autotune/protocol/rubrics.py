"""Rubric graders on the wire: a language model judges, by a prompt of the grader's own.

The prompt is a template as those of builtin graders are (``autotune.protocol.builtin``). The model
is asked through the ledger, at a connection of the organisation's, and answers with JSON: ``steps``
and then ``result``, the shape that OpenAI's graders ask for. What it says is not calibrated.

A rubric of levels has no prompt of its own (``autotune.protocol.levels``), and may be calibrated.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from autotune.protocol import limits
from autotune.protocol.levels import Calibration, LevelsRubric
from autotune.protocol.llm_limits import ModelName
from autotune.protocol.llm_params import LlmParams
from autotune.protocol.llm_requests import ConnectionId
from autotune.protocol.types import RequestModel, Text, at_most

_Bound = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
_Label = Annotated[
    str, StringConstraints(min_length=1, max_length=limits.MAX_RUBRIC_LABEL_CHARACTERS)
]
_Labels = Annotated[
    list[_Label],
    Field(min_length=1, max_length=limits.MAX_RUBRIC_LABELS),
    at_most(limits.MAX_RUBRIC_LABELS),
]

RubricParseFailure = Literal["keep", "reask"]
"""What is done where an answer cannot be read, or lies outside of its range: it fails, as it does
where nothing is said, or is asked for again, at most twice and paid each time. One that was cut at
``max_tokens`` fails in any case."""

RubricTemplate = Annotated[
    str, StringConstraints(min_length=1, max_length=limits.MAX_RUBRIC_TEMPLATE_CHARACTERS)
]


class RubricScore(RequestModel):
    """The model answers with a number, of which ``minimum`` counts as 0 and ``maximum`` as 1.

    With ``pass_threshold``, which is a number of that range, a dimension ``passed`` is whether the
    number reaches it; the value itself stays as it is.
    """

    type: Literal["score"]
    minimum: _Bound = 0.0
    maximum: _Bound = 1.0
    pass_threshold: _Bound | None = None
    on_parse_failure: RubricParseFailure | None = None

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.minimum >= self.maximum:
            raise ValueError("minimum must be below maximum")
        threshold = self.pass_threshold
        if threshold is not None and not self.minimum <= threshold <= self.maximum:
            raise ValueError("passThreshold must lie within minimum and maximum")
        return self


class RubricLabels(RequestModel):
    """The model answers with one of ``labels``: 1 for one of ``passing_labels``, else 0."""

    type: Literal["label"]
    labels: _Labels
    passing_labels: _Labels
    on_parse_failure: RubricParseFailure | None = None

    @model_validator(mode="after")
    def _are_labels(self) -> Self:
        if len(set(self.labels)) != len(self.labels):
            raise ValueError("labels must be different")
        if not set(self.passing_labels) <= set(self.labels):
            raise ValueError("passingLabels must be among labels")
        return self


class RubricLevels(LevelsRubric):
    """The model names one of seven levels: -3 counts as 0, 3 as 1, and those between evenly.

    Attributes:
        system_prompt: what the responses were written under: a completion with another one is
            abstained. ``{{name}}`` stands for what differs from one to another. None for any.
        calibration: how far the judge agrees with people, where that was measured.
    """

    type: Literal["levels"]
    system_prompt: (
        Annotated[Text, StringConstraints(max_length=limits.MAX_PROMPT_TEMPLATE_CHARACTERS)] | None
    ) = None
    calibration: Calibration | None = None


PromptedAnswer = Annotated[RubricScore | RubricLabels, Field(discriminator="type")]
"""What a model is to answer with that is asked by a prompt of the grader's own."""

RubricAnswer = Annotated[RubricScore | RubricLabels | RubricLevels, Field(discriminator="type")]
"""What a model is to answer with."""


class RubricConfiguration(RequestModel):
    """How a model judges completions.

    Attributes:
        connection_id: where the model is called, with whose key, and at whose cost.
        system: what stands before the question.
        user: the question; what of it comes of a completion is never read as instructions to us.
            A rubric of levels has neither: its question is the same for all.
        params: as of any request; ``response_format`` follows from ``answer``.
    """

    connection_id: ConnectionId
    model: ModelName
    system: RubricTemplate | None = None
    user: RubricTemplate | None = None
    answer: RubricAnswer
    params: LlmParams

    @model_validator(mode="after")
    def _has_the_prompt_of_its_answer(self) -> Self:
        if not isinstance(self.answer, RubricLevels):
            if self.user is None:
                raise ValueError("user must be given where answer.type is score or label")
        elif self.system is not None or self.user is not None:
            raise ValueError("system and user are left out where answer.type is levels")
        return self

    @model_validator(mode="after")
    def _leaves_the_format(self) -> Self:
        if self.params.response_format is not None:
            raise ValueError("params.responseFormat follows from answer, and is left out")
        return self
