"""The grader protocol: what Autotune asks of a grader and what a grader answers.

``POST /score``, ``POST /score/batch`` and ``GET /health``; see ``docs/protocol.md``. What a grader
that answers later sends to Autotune is in ``autotune.protocol.callbacks``.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from autotune.protocol.limits import (
    MAX_DIMENSIONS,
    MAX_GRADER_BATCH,
    MAX_NAME_CHARACTERS,
    MAX_REASONING_CHARACTERS,
)
from autotune.protocol.types import Name, NonNegative, ResponseModel, UnitInterval, at_most

GraderVersion = Annotated[str, StringConstraints(pattern=r"^[ -~]{1,100}$")]
"""1 to 100 printable ASCII characters."""


VERIFICATION_METADATA = "autotuneVerification"
"""In the metadata of the one question that a verification asks; its score is kept nowhere."""


class ScoreDimension(ResponseModel):
    """One aspect of a score, such as ``correctness``; ``weight`` is its share in the whole."""

    name: Name
    value: UnitInterval
    weight: NonNegative = 1.0


Dimensions = Annotated[
    list[ScoreDimension], Field(max_length=MAX_DIMENSIONS), at_most(MAX_DIMENSIONS)
]


class GraderScore(ResponseModel):
    """A grader's judgement: ``value`` and ``confidence`` from 0 to 1."""

    value: UnitInterval
    confidence: UnitInterval = 1.0
    dimensions: Dimensions | None = None
    reasoning: Annotated[str, StringConstraints(max_length=MAX_REASONING_CHARACTERS)] | None = None


class GraderCapabilities(ResponseModel):
    """What a grader can do; ``avg_latency_ms`` is its own estimate for one request."""

    max_batch_size: Annotated[int, Field(ge=1, le=MAX_GRADER_BATCH)] = 1
    supports_dimensions: bool = False
    supports_explanations: bool = False
    supports_async: bool = False
    avg_latency_ms: Annotated[int, Field(ge=0, le=86_400_000)] = 1_000
    domains: Annotated[list[Name], Field(max_length=50), at_most(50)] = []


class GradedCompletion(ResponseModel):
    """A completion as its grader sees it; ``model_id`` only where the task shares identity."""

    id: str
    task_id: str
    prompt: str
    response: str
    metadata: dict[str, Any] = {}
    model_id: str | None = None


class ScoreOptions(ResponseModel):
    """What the caller would like besides the value."""

    include_dimensions: bool = True
    include_explanation: bool = False


class ScoreRequest(ResponseModel):
    """Body of ``POST /score``; where there is a ``callback_url`` a grader may answer 202."""

    request_id: str
    completion: GradedCompletion
    options: ScoreOptions = Field(default_factory=ScoreOptions)
    callback_url: str | None = None


class BatchScoreRequest(ResponseModel):
    """Body of ``POST /score/batch``; at most the grader's ``max_batch_size`` completions."""

    request_id: str
    completions: Annotated[list[GradedCompletion], Field(min_length=1, max_length=MAX_GRADER_BATCH)]
    options: ScoreOptions = Field(default_factory=ScoreOptions)
    callback_url: str | None = None


class DeferredResponse(ResponseModel):
    """Body of a 202 answer: the score follows at the request's ``callback_url``.

    ``estimated_seconds`` is the grader's own guess; what ends the wait is its time-out.
    """

    request_id: str
    grader_version: GraderVersion
    estimated_seconds: NonNegative | None = None


class _Judgement(ResponseModel):
    score: GraderScore | None = None
    abstained: bool = False
    error: (
        Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_CHARACTERS)] | None
    ) = None

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        given = [self.score is not None, self.abstained, self.error is not None]
        if sum(given) != 1:
            raise ValueError("exactly one of score, abstained and error must be given")
        return self


class ScoreResponse(_Judgement):
    """Body of the answer to ``POST /score``: a score, ``abstained``, or a final ``error``."""

    request_id: str
    grader_version: GraderVersion
    processing_time_ms: NonNegative = 0


class BatchItemScore(_Judgement):
    """One completion's part of a batch answer; ``error`` fails this item and no other."""

    completion_id: str


class BatchScoreResponse(ResponseModel):
    """Body of the answer to ``POST /score/batch``, items in any order."""

    request_id: str
    grader_version: GraderVersion
    scores: list[BatchItemScore]
    processing_time_ms: NonNegative = 0


class HealthResponse(ResponseModel):
    """Body of the answer to ``GET /health``."""

    status: Literal["healthy", "degraded", "unhealthy"]
    version: GraderVersion
    capabilities: GraderCapabilities = Field(default_factory=GraderCapabilities)
