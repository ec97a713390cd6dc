"""Reviews on the wire: what people judge, and their answers."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationInfo, field_validator

from autotune.protocol import limits
from autotune.protocol.access import PrincipalId
from autotune.protocol.completions import ReasonCode, VerdictState
from autotune.protocol.grading import Dimensions, ScoreDimension
from autotune.protocol.ids import ID_BODY
from autotune.protocol.rubrics import RubricAnswer
from autotune.protocol.tasks import OnExpiry
from autotune.protocol.types import (
    RequestModel,
    ResponseModel,
    Text,
    Timestamp,
    UnitInterval,
    at_most,
)

ReviewState = Literal["open", "answered", "expired", "withdrawn"]
"""``withdrawn``: the completion got its verdict without the review, as by being canceled."""

ReviewReason = Literal["low_confidence", "disagreement", "sampled", "human", "second_opinion"]
"""Why a person is asked: what the task's review policy says, or a grader of the kind ``human``.

``second_opinion``: another person answered the same before, and that answer is the verdict.
"""

CannotJudgeReason = Literal["unclear", "needs_expertise", "broken_text", "other"]
"""Why a person cannot judge: the task is unclear, they lack the knowledge, the text is broken."""

REVIEWER_SESSION_HEADER = "x-autotune-session"
"""Tells browsers apart that opened the same link: 8 to 40 letters and digits, random and secret."""

ReviewId = Annotated[str, StringConstraints(pattern=rf"^rev_{ID_BODY}$")]
Explanation = Annotated[Text, StringConstraints(max_length=limits.MAX_REASONING_CHARACTERS)]


class AnswerReviewRequest(RequestModel):
    """A person's score, from 0 to 1, and why."""

    value: UnitInterval
    explanation: Explanation = ""
    dimensions: Dimensions | None = None


class CannotJudgeRequest(RequestModel):
    """Why a person cannot judge; ``other`` says it in words."""

    reason: CannotJudgeReason
    explanation: Annotated[Explanation, Field(validate_default=True)] = ""

    @field_validator("explanation")
    @classmethod
    def _says_what_else(cls, explanation: str, info: ValidationInfo) -> str:
        if info.data.get("reason") == "other" and not explanation.strip():
            raise ValueError("explanation must say why where reason is other")
        return explanation


class AssignReviewRequest(RequestModel):
    """Whom a review is for; null gives it back to everybody."""

    assignee_id: PrincipalId | None


class NextReviewRequest(RequestModel):
    """``skip`` names reviews that the caller has seen and would rather leave to others."""

    skip: Annotated[
        list[ReviewId],
        Field(max_length=limits.MAX_SKIPPED_REVIEWS),
        at_most(limits.MAX_SKIPPED_REVIEWS),
    ] = []


class CreateReviewLinkRequest(RequestModel):
    """A link for one person, to one review or, without ``review_id``, to all that are open."""

    reviewer_id: PrincipalId
    review_id: ReviewId | None = None
    expires_in_seconds: Annotated[
        int, Field(ge=limits.MIN_REVIEW_LINK_SECONDS, le=limits.MAX_REVIEW_LINK_SECONDS)
    ] = 86_400


class PreliminaryOpinion(ResponseModel):
    """What one grader answered before a person was asked.

    Which grader that was, what it weighs and why it failed are null for the role ``reviewer``.
    """

    grader_id: str | None = None
    grader_version: str | None = None
    weight: float | None = None
    state: VerdictState
    value: float | None = None
    confidence: float | None = None
    reason_code: ReasonCode | None = None


class Preliminary(ResponseModel):
    """What graders answered before a person was asked; ``value`` only where ``state`` is scored."""

    state: VerdictState
    value: float | None = None
    confidence: float | None = None
    dimensions: list[ScoreDimension] | None = None
    opinions: list[PreliminaryOpinion] = []


class ReviewLease(ResponseModel):
    """Who is at a review, and until when nobody else may be."""

    holder: str
    until: Timestamp


class ReviewAnswer(ResponseModel):
    """What a person answered; ``saw_preliminary``: graders' scores were shown to them."""

    value: float
    confidence: float
    explanation: str
    dimensions: list[ScoreDimension] | None = None
    reviewer_id: str
    saw_preliminary: bool
    answered_at: Timestamp
    corrected_at: Timestamp | None = None


class CannotJudge(ResponseModel):
    """That a person could not judge, and why."""

    reviewer_id: str
    reason: CannotJudgeReason
    explanation: str
    at: Timestamp


class ReviewSummary(ResponseModel):
    """A review without what is to be judged.

    ``lease`` is there only while it holds. Past ``expires_at`` the task's ``on_expiry`` decides, as
    it does once two people said that they ``cannot_judge``. Until ``correctable_until`` who
    answered may change the answer; it is null where nobody may any more.

    The role ``reviewer`` sees of what others said they cannot judge nothing, and of an answer that
    a second opinion was asked beside nothing but its author's own.
    """

    id: str
    completion_id: str
    task_id: str
    batch_id: str
    reason: ReviewReason
    state: ReviewState
    assignee_id: str | None = None
    lease: ReviewLease | None = None
    created_at: Timestamp
    expires_at: Timestamp
    on_expiry: OnExpiry
    answer: ReviewAnswer | None = None
    cannot_judge: list[CannotJudge] = []
    correctable_until: Timestamp | None = None


class ReviewRubric(ResponseModel):
    """What a rubric grader of the task judges by: its prompt, as a template.

    ``answer`` says the range or the labels that its model answers with; of a rubric of levels it is
    the rubric, which stands in ``user`` to be read.
    """

    name: str
    system: str | None = None
    user: str
    answer: RubricAnswer


class Review(ReviewSummary):
    """A review with what is to be judged.

    ``prompt`` and ``response`` are null where the completion's text was deleted, and where it is
    too large for a response: then ``text_too_large`` is true. With ``format=html`` both come as
    HTML, too, except where they are too long for it. ``preliminary`` comes only with
    ``include=preliminary``, which is noted: nobody is to be anchored by it.

    ``rubrics`` are those of the organisation's own rubric graders that judged, ``dimensions`` the
    names of what graders scored one by one, without a value. ``reference`` and ``metadata`` are
    there only where the task's review policy shows them.
    """

    instructions: str
    prompt: str | None = None
    response: str | None = None
    text_too_large: bool = False
    prompt_html: str | None = None
    response_html: str | None = None
    has_preliminary: bool
    preliminary: Preliminary | None = None
    rubrics: list[ReviewRubric] = []
    dimensions: list[str] = []
    reference: str | None = None
    metadata: dict[str, Any] | None = None


class ReviewResponse(ResponseModel):
    """One review."""

    review: Review


class NextReviewResponse(ResponseModel):
    """The review that the caller now holds; null where none is left for them.

    ``skipped`` is whether there is one left among those that the caller would skip.
    """

    review: Review | None
    skipped: bool = False


class ReviewSummaryResponse(ResponseModel):
    """One review, without what is to be judged."""

    review: ReviewSummary


class ReviewList(ResponseModel):
    """A page of reviews in one state, the oldest first."""

    reviews: list[ReviewSummary]
    next_token: str | None = None


class ReviewLink(ResponseModel):
    """Where a person reviews without a key, without its address.

    Who has that can review until ``expires_at``, or until it is revoked. ``created_by`` is the key
    that made it. ``last_used_at`` may be five minutes behind; it is null where nobody used it.
    """

    id: str
    reviewer_id: str
    review_id: str | None
    status: Literal["active", "revoked"]
    created_at: Timestamp
    created_by: str
    expires_at: Timestamp
    last_used_at: Timestamp | None = None


class CreateReviewLinkResponse(ResponseModel):
    """``url`` is shown this once; whoever has it may review."""

    link: ReviewLink
    url: str


class ReviewLinkResponse(ResponseModel):
    """One link."""

    link: ReviewLink


class ReviewLinkList(ResponseModel):
    """A page of links, the oldest first."""

    links: list[ReviewLink]
    next_token: str | None = None
