"""Reviews as the platform sees them."""

import hashlib
from datetime import datetime
from typing import Self

from autotune.protocol.completions import VerdictState
from autotune.protocol.grading import ScoreDimension
from autotune.protocol.ids import derived_id
from autotune.protocol.limits import MOST_CANNOT_JUDGE
from autotune.protocol.reviews import (
    AnswerReviewRequest,
    CannotJudgeReason,
    ReviewReason,
    ReviewState,
)
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
    corrected_at: datetime | None = None

    def is_repeated_by(self, caller: Caller, request: AnswerReviewRequest) -> bool:
        """Return whether the same person says the same again."""
        return self.reviewer_id == caller.principal_id and (
            (self.value, self.explanation, self.dimensions)
            == (request.value, request.explanation, request.dimensions)
        )


class CannotJudge(FrozenModel):
    """That a person could not judge, and why."""

    reviewer_id: str
    reason: CannotJudgeReason
    explanation: str = ""
    at: datetime


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


class FirstAnswer(FrozenModel):
    """The answer that a second opinion is asked beside; who gives that never sees it."""

    review_id: str
    reviewer_id: str
    value: float


class Review(ReviewSummary):
    """A person's judgement that was asked for: one for each completion's generation and panel.

    Beside it there may be one for a second opinion, which decides nothing. It holds neither prompt
    nor response: those are the completion's, and go when it is deleted.

    Attributes:
        generation: of the completion.
        preliminary: None where no grader was asked before.
        preliminary_seen_by: who asked for it, at most ``MOST_NAMES_NOTED``.
        cannot_judge: who said so, each once; the review goes on to others.
        correctable_until: until when the answer may be changed, which the verdict waits for; None
            once it may not.
        second_id: the review by which a second opinion is asked; None where none is.
        first: the answer that this is a second opinion on; None of all others.
    """

    generation: int = 0
    preliminary: Preliminary | None = None
    preliminary_seen_by: frozenset[str] = frozenset()
    instructions: str = ""
    answer: ReviewAnswer | None = None
    cannot_judge: list[CannotJudge] = []
    correctable_until: datetime | None = None
    second_id: str | None = None
    first: FirstAnswer | None = None

    @property
    def is_awaited(self) -> bool:
        """Whether a person's word may still come, or change."""
        return self.state == "open" or self.correctable_until is not None

    def cannot_be_judged_by(self, reviewer_id: str) -> bool:
        """Return whether a person said that they cannot judge it."""
        return any(one.reviewer_id == reviewer_id for one in self.cannot_judge)

    def after_cannot_judge(self, said: CannotJudge) -> Self:
        """Return the review after a person could not judge: others get it, or it ends."""
        by = [*self.cannot_judge, said]
        state: ReviewState = "expired" if len(by) >= MOST_CANNOT_JUDGE else "open"
        assignee_id = None if self.assignee_id == said.reviewer_id else self.assignee_id
        return self.after(cannot_judge=by, state=state, lease=None, assignee_id=assignee_id)

    def second_opinion(self, *, created_at: datetime, expires_at: datetime) -> "Review":
        """Return the review that asks another person the same, once this one is answered."""
        assert self.answer is not None, "a second opinion is one beside a first"
        assert self.second_id is not None, "it is decided when the first is given"
        return Review(
            id=self.second_id,
            organization_id=self.organization_id,
            completion_id=self.completion_id,
            batch_id=self.batch_id,
            task_id=self.task_id,
            panel_id=self.panel_id,
            generation=self.generation,
            reason="second_opinion",
            preliminary=self.preliminary,
            instructions=self.instructions,
            created_at=created_at,
            expires_at=expires_at,
            on_expiry=self.on_expiry,
            first=FirstAnswer(
                review_id=self.id,
                reviewer_id=self.answer.reviewer_id,
                value=self.answer.value,
            ),
        )

    def was_shown_to(self, reviewer_id: str) -> bool:
        """Return whether a person may have seen graders' scores; where many did, all may have."""
        seen_by = self.preliminary_seen_by
        return reviewer_id in seen_by or len(seen_by) >= MOST_NAMES_NOTED

    def without_explanation(self) -> Self:
        """Return the review without what a person wrote, which may quote what was judged."""
        changes: dict[str, object] = {}
        if self.answer is not None and self.answer.explanation:
            changes["answer"] = self.answer.model_copy(update={"explanation": ""})
        if any(one.explanation for one in self.cannot_judge):
            changes["cannot_judge"] = [
                one.model_copy(update={"explanation": ""}) for one in self.cannot_judge
            ]
        return self.after(**changes) if changes else self

    def after(self, **changes: object) -> Self:
        """Return the review after a change."""
        return self.model_copy(update={**changes, "version": self.version + 1})


def review_id(completion_id: str, panel_id: str, generation: int = 0) -> str:
    """Return the id of the one review that a completion's generation may have at a panel."""
    later = [str(generation)] if generation else []
    return derived_id("rev", completion_id, panel_id, *later)


def second_review_id(first_id: str) -> str:
    """Return the id of the one review by which a second opinion on another is asked."""
    return derived_id("rev", first_id, "second")


def second_is_drawn(first_id: str, share: float | None) -> bool:
    """Return whether a second opinion is asked: for a share of all reviews, by their ids alone."""
    return draw("second", first_id) < (share or 0.0)


def draw(what: str, id_: str) -> float:
    """Return a number from 0 to below 1 that follows from both arguments alone, evenly spread."""
    digest = hashlib.sha256((what + id_).encode()).digest()
    # 53 bits are what a float holds exactly: 64 could round up to 1.
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53
