"""Completions, verdicts and scores on the wire."""

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, StringConstraints

from autotune.protocol.grading import ScoreDimension
from autotune.protocol.limits import (
    MAX_BATCH_COMPLETIONS,
    MAX_BATCH_VALUES,
    MAX_NAME_CHARACTERS,
)
from autotune.protocol.types import (
    Generation,
    Metadata,
    RequestModel,
    ResponseModel,
    TaskId,
    Text,
    Timestamp,
    at_most,
)

Priority = Literal["low", "normal", "high"]
VerdictState = Literal["scored", "abstained", "failed", "canceled"]
CompletionState = Literal["pending", "scored", "abstained", "failed", "canceled"]

ReasonCode = Literal[
    "grader_unreachable",
    "grader_timeout",
    "grader_error",
    "grader_rejected",
    "grader_rate_limited",
    "address_refused",
    "certificate_mismatch",
    "redirect_refused",
    "response_unsigned",
    "response_signature_invalid",
    "response_too_large",
    "response_malformed",
    "response_mismatched",
    "item_missing",
    "item_malformed",
    "item_duplicated",
    "item_failed",
    "callback_timeout",
    "grader_missing",
    "builtin_input_missing",
    "builtin_input_too_large",
    "builtin_out_of_range",
    "builtin_error",
    "model_rejected",
    "model_refused",
    "model_unavailable",
    "model_connection_lost",
    "model_canceled",
    "model_answer_unreadable",
    "model_answer_out_of_range",
    "not_applicable",
    "judge_abstained",
    "uncalibrated",
    "uncalibrated_model",
    "calibration_suspended",
    "other_system_prompt",
    "input_too_long",
    "budget_exhausted",
    "deadline_exceeded",
    "quorum_missed",
    "review_expired",
    "step_killed",
    "platform_error",
]
"""Why a verdict is ``failed``, or a rubric of levels ``abstained``.

Codes are all that a trainer learns of a grader's troubles. An abstention has one of
``ABSTENTIONS``, or none where its grader gave none; no failure has one of those.
"""

ABSTENTIONS: Final[frozenset[ReasonCode]] = frozenset(
    {
        "not_applicable",
        "judge_abstained",
        "uncalibrated",
        "uncalibrated_model",
        "calibration_suspended",
        "other_system_prompt",
        "input_too_long",
    }
)
"""Reason codes of what is ``abstained``; all others are of what is ``failed``."""

DecidedBy = Literal["grader", "panel", "person", "expiry"]
"""Who had the last word: one grader, several together, a reviewer, or nobody in time."""

ModelId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_CHARACTERS)]


class NewCompletion(RequestModel):
    """A model's response to a prompt, to be scored by the task's grader."""

    task_id: TaskId
    model_id: ModelId
    prompt: Text
    response: Text
    metadata: Metadata = {}


class SubmitCompletionRequest(NewCompletion):
    """Body of ``POST /api/v1/completions``."""

    priority: Priority = "normal"


class BatchSubmitRequest(RequestModel):
    """Body of ``POST /api/v1/completions/batch``: all are accepted, or none."""

    most_values: ClassVar[int] = MAX_BATCH_VALUES

    completions: Annotated[
        list[NewCompletion],
        Field(min_length=1, max_length=MAX_BATCH_COMPLETIONS),
        at_most(MAX_BATCH_COMPLETIONS),
    ]
    priority: Priority = "normal"


class Completion(ResponseModel):
    """A stored completion."""

    id: str
    task_id: str
    model_id: str
    batch_id: str
    prompt: str
    response: str
    metadata: Metadata
    created_at: Timestamp


class CompletionResponse(ResponseModel):
    """One completion."""

    completion: Completion


class SubmissionWarning(ResponseModel):
    """A grader of a submission whose health is bad: what is accepted waits for it."""

    code: Literal["grader_degraded", "grader_inactive"]
    grader_id: str
    detail: str


class SubmitCompletionResponse(ResponseModel):
    """The durable completion; its score is usually there after ``estimated_score_time_ms``.

    ``warnings`` has at most 20.
    """

    completion: Completion
    estimated_score_time_ms: int
    warnings: list[SubmissionWarning] = []


class BatchSubmitResponse(ResponseModel):
    """Ids in the order of the request; prompts and responses are not sent back.

    ``warnings`` has at most 20.
    """

    batch_id: str
    completion_ids: list[str]
    created_at: Timestamp
    estimated_score_time_ms: int
    warnings: list[SubmissionWarning] = []


class Score(ResponseModel):
    """A grader's evaluation of a completion: ``value`` and ``confidence`` from 0 to 1."""

    id: str
    completion_id: str
    grader_id: str
    grader_version: str
    value: float
    confidence: float
    dimensions: list[ScoreDimension] | None = None
    reasoning: str | None = None
    created_at: Timestamp


class Opinion(ResponseModel):
    """What one of a task's graders made of a completion, and what that weighs in the verdict.

    ``value`` and ``confidence`` are there only when ``state`` is ``scored``, ``reason_code`` only
    when it is ``failed``; ``grader_version`` is the one that answered. ``source_request_id`` is the
    request to a language model that it was read from.
    """

    grader_id: str
    grader_version: str
    weight: float
    state: VerdictState
    value: float | None = None
    confidence: float | None = None
    reason_code: ReasonCode | None = None
    source_request_id: str | None = None


class CompletionVerdict(ResponseModel):
    """Where a completion stands.

    ``score`` is there only when ``state`` is ``scored``: a failure is never a score.
    ``reason_code`` is there when it is ``failed``; while it is ``pending``, it is what the
    last pass of its run failed with, ``attempts`` how many there were, and
    ``next_attempt_at`` when the next one is due; without any attempt it is what calls of others
    found the grader down with. ``last_reason_code`` is what the last attempt failed with of what
    ended with ``deadline_exceeded``. ``latency_ms`` runs from submission to verdict.
    ``model_id`` is absent for what a batch still lists as pending, and for a grader's owner unless
    the task shares it. ``grader_id`` is the panel's (``pnl_…``) where a task has several graders or
    a review policy; their ``opinions`` stand beside the verdict then. ``decided_by`` is absent for
    what is pending or canceled; ``review_id`` names the review that a person was asked for.
    ``source_request_id`` is the request to a language model (``llm_…``) that a rubric grader's
    score, or failure, was read from: where it was asked again, the last. Lists of scores lack
    it, unless they include the completion; opinions have theirs there, too.
    ``generation`` is there from 1 on, once the completion was scored again: then ``submitted_at``
    is when that was requested.
    """

    completion_id: str
    task_id: str
    model_id: str | None = None
    grader_id: str
    state: CompletionState
    score: Score | None = None
    reason_code: ReasonCode | None = None
    last_reason_code: ReasonCode | None = None
    attempts: int = 0
    next_attempt_at: Timestamp | None = None
    opinions: list[Opinion] | None = None
    decided_by: DecidedBy | None = None
    review_id: str | None = None
    source_request_id: str | None = None
    submitted_at: Timestamp
    decided_at: Timestamp | None = None
    latency_ms: int | None = None
    generation: Generation = 0


class ScoredCompletion(CompletionVerdict):
    """A verdict together with what was judged; only with ``include=completion``."""

    completion: Completion | None = None


class VerdictResponse(ResponseModel):
    """Body of ``GET /api/v1/completions/{id}/score``."""

    verdict: CompletionVerdict


class VerdictCounts(ResponseModel):
    """``expected`` is always the sum of the other five."""

    expected: int
    scored: int
    abstained: int
    failed: int
    canceled: int
    pending: int


class BatchResponse(ResponseModel):
    """A batch and every verdict so far; pending completions are listed too, in request order.

    Verdicts and counts are of each completion's latest generation; ``generation`` is how often some
    of the batch was scored again.

    They come without dimensions, reasoning and opinions here; ``GET /api/v1/scores`` has those.
    """

    batch_id: str
    generation: Generation = 0
    created_at: Timestamp
    counts: VerdictCounts
    verdicts: list[CompletionVerdict]


class ScoreList(ResponseModel):
    """A page of verdicts."""

    scores: list[ScoredCompletion]
    next_token: str | None = None
