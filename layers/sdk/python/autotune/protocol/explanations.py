"""Explanations on the wire: what a pending completion waits for, and how a decided one ended."""

from typing import Literal

from autotune.protocol.completions import (
    CompletionState,
    CompletionVerdict,
    ReasonCode,
    VerdictCounts,
)
from autotune.protocol.types import Generation, ResponseModel, Timestamp

WaitsFor = Literal["next_attempt", "limit", "circuit", "callback", "model", "person"]
"""What is waited for.

A retry, the grader's limits, a grader that is down, its callback, a language model, or a review.
"""


class AskedGrader(ResponseModel):
    """Where one grader is with a completion: the task's only one, or a member of its panel.

    ``state`` is that of its verdict, or of its opinion in the panel, which has ``weight``.
    While it is ``pending``, ``waits_for`` says what its run waits for, and ``next_attempt_at``
    until when at most; ``run_id`` is that run. All three are absent where no round has ended yet:
    the completion is queued, or in its first round. ``reason_code`` is what its run's last pass
    failed with, ``attempts`` how many there were; where there was none, it is what calls of others
    found the grader down with. What is answered, or given up, has the run that decided in
    ``run_id``; what ended with ``deadline_exceeded`` what its last attempt failed with in
    ``last_reason_code``.
    ``source_request_id`` is the request to a language model that is waited for, or that decided.
    """

    grader_id: str
    grader_version: str
    weight: float | None = None
    state: CompletionState
    waits_for: WaitsFor | None = None
    run_id: str | None = None
    attempts: int = 0
    reason_code: ReasonCode | None = None
    last_reason_code: ReasonCode | None = None
    next_attempt_at: Timestamp | None = None
    source_request_id: str | None = None


class OpenReview(ResponseModel):
    """The review that a completion waits for; nobody is waited for after ``expires_at``.

    Where it is answered, the verdict comes once the answer can be corrected no more, at
    ``correctable_until``.
    """

    review_id: str
    assignee_id: str | None = None
    expires_at: Timestamp
    correctable_until: Timestamp | None = None


class CompletionExplanation(ResponseModel):
    """The story of one completion.

    After ``deadline_at`` it ends ``failed``. ``redrives`` counts how often what was pending in its
    batch was queued anew. ``review`` is there while a person is waited for.
    """

    verdict: CompletionVerdict
    batch_id: str
    deadline_at: Timestamp
    redrives: int
    graders: list[AskedGrader]
    review: OpenReview | None = None


class WaitingRun(ResponseModel):
    """A run that waits, with so many pending completions of one batch."""

    run_id: str
    waits_for: WaitsFor
    completions: int
    attempts: int
    reason_code: ReasonCode | None = None
    next_attempt_at: Timestamp


class BatchGrader(ResponseModel):
    """One grader that has not answered about ``pending`` completions of a batch.

    ``queued`` of these are in no run that waits: they are queued, or in a round right now. ``runs``
    are those that wait, the one that goes on first before the others.
    """

    grader_id: str
    grader_version: str
    panel_id: str | None = None
    pending: int
    queued: int
    runs: list[WaitingRun]


class BatchExplanation(ResponseModel):
    """The story of a batch.

    ``failures`` counts its failed verdicts by reason. ``deadline_at`` is the first deadline of what
    is pending. ``redrives`` counts how often what was pending was queued anew, at ``queued_at`` for
    the last time. ``reviews`` is how many completions wait for a person. ``generation`` is how
    often some of the batch was scored again; all else is of the latest.
    """

    batch_id: str
    generation: Generation = 0
    created_at: Timestamp
    queued_at: Timestamp
    redrives: int
    counts: VerdictCounts
    failures: dict[ReasonCode, int]
    deadline_at: Timestamp | None = None
    graders: list[BatchGrader]
    reviews: int
