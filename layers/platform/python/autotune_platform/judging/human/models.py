"""Reviews as the platform sees them."""

from datetime import datetime
from typing import Self

from autotune.protocol.completions import VerdictState
from autotune.protocol.grading import ScoreDimension
from autotune.protocol.ids import derived_id
from autotune.protocol.reviews import AnswerReviewRequest, ReviewReason, ReviewState
from autotune.protocol.tasks import OnExpiry
from autotune_platform.access.models import Caller
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.verdicts.models import Opinion

MOST_NAMES_NOTED = 200
"""A reviewer who opens a shared link chooses a name; names alone could fill a review's item."""


class Preliminary(FrozenModel):
    """What graders answered before a person was asked."""

    state: VerdictState
    value: float | None = None
    confidence: float | None = None
    dimensions: list[ScoreDimension] | None = None
    opinions: list[Opinion] = []


class ReviewLease(FrozenModel):
    """Who is at a review, and until when nobody else may be."""

    holder: str
    until: datetime


class ReviewAnswer(FrozenModel):
    """A person's answer; ``saw_preliminary`` is whether they had looked at the graders' answers."""

    value: float
    confidence: float = 1.0
    explanation: str = ""
    dimensions: list[ScoreDimension] | None = None
    reviewer_id: str
    saw_preliminary: bool = False
    answered_at: datetime

    def is_repeated_by(self, caller: Caller, request: AnswerReviewRequest) -> bool:
        """Return whether the same person says the same again."""
        return self.reviewer_id == caller.principal_id and (
            (self.value, self.explanation, self.dimensions)
            == (request.value, request.explanation, request.dimensions)
        )


class ReviewSummary(FrozenModel):
    """A review without its instructions and its answer.

    Attributes:
        lease: the last one that was given; it holds only until its time is over.
        version: how often the review changed, so that of two writers who read the same one fails.
    """

    id: str
    organization_id: str
    completion_id: str
    batch_id: str
    task_id: str
    panel_id: str
    run_id: str | None = None
    reason: ReviewReason
    state: ReviewState = "open"
    assignee_id: str | None = None
    lease: ReviewLease | None = None
    created_at: datetime
    expires_at: datetime
    on_expiry: OnExpiry = "keep"
    version: int = 1

    def held_at(self, moment: datetime) -> ReviewLease | None:
        """Return the lease that holds at a moment, if any."""
        return self.lease if self.lease is not None and self.lease.until > moment else None

    def is_free_for(self, reviewer_id: str, moment: datetime) -> bool:
        """Return whether a person may take it: open, in time, and nobody else's."""
        lease = self.held_at(moment)
        return (
            self.state == "open"
            and self.expires_at > moment
            and self.assignee_id in {None, reviewer_id}
            and (lease is None or lease.holder == reviewer_id)
        )


class Review(ReviewSummary):
    """A person's judgement that was asked for: one for each completion's generation and panel.

    It holds neither prompt nor response: those are the completion's, and go when it is deleted.

    Attributes:
        generation: of the completion.
        preliminary: None where no grader was asked before.
        preliminary_seen_by: who asked for it, at most ``MOST_NAMES_NOTED``.
    """

    generation: int = 0
    preliminary: Preliminary | None = None
    preliminary_seen_by: frozenset[str] = frozenset()
    instructions: str = ""
    answer: ReviewAnswer | None = None

    def was_shown_to(self, reviewer_id: str) -> bool:
        """Return whether a person may have seen graders' scores; where many did, all may have."""
        seen_by = self.preliminary_seen_by
        return reviewer_id in seen_by or len(seen_by) >= MOST_NAMES_NOTED

    def without_explanation(self) -> Self:
        """Return the review without what a person wrote, which may quote what was judged."""
        if self.answer is None or not self.answer.explanation:
            return self
        return self.after(answer=self.answer.model_copy(update={"explanation": ""}))

    def after(self, **changes: object) -> Self:
        """Return the review after a change."""
        return self.model_copy(update={**changes, "version": self.version + 1})


def review_id(completion_id: str, panel_id: str, generation: int = 0) -> str:
    """Return the id of the one review that a completion's generation may have at a panel."""
    later = [str(generation)] if generation else []
    return derived_id("rev", completion_id, panel_id, *later)
