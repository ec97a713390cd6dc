"""``client.reviews``: what people judge, and links for those who have no key."""

from collections.abc import Sequence
from typing import Unpack

from autotune.client.arguments import change_of, request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.client.review_links import (
    create_review_link,
    list_review_links,
    revoke_review_link,
)
from autotune.protocol import review_figures, reviews
from autotune.protocol.grading import ScoreDimension

_summary = returning(reviews.ReviewSummaryResponse, lambda answer: answer.review)
_review = returning(reviews.ReviewResponse, lambda answer: answer.review)
_next_review = returning(reviews.NextReviewResponse, lambda answer: answer.review)
_progress = returning(
    review_figures.ReviewProgressList, lambda page: (page.reviewers, page.next_token)
)
_agreement = returning(review_figures.ReviewAgreementResponse, lambda answer: answer.agreement)
_reviews = returning(reviews.ReviewList, lambda page: (page.reviews, page.next_token))


def list_reviews(
    *,
    state: reviews.ReviewState = "open",
    task_id: str | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[reviews.ReviewSummary]:
    """Walk through the organisation's reviews in one state, the oldest first; without answers.

    Args:
        state: ``open`` unless given.
        task_id: only those of this task.
        page_size: reviews fetched at a time, 1 to 200.
    """
    query = {"state": state, "taskId": task_id}
    return listing("reviews", read=_reviews, page_size=page_size, query=query, **options)


def get_review(
    review_id: str, *, include_preliminary: bool = False, **options: Unpack[CallOptions]
) -> Call[reviews.Review]:
    """Read a review with its prompt and response, None where they were deleted.

    Args:
        include_preliminary: also the scores of graders; that the caller saw it is noted.

    Raises:
        NotFoundError: there is no such review in this organisation.
    """
    return call(
        "GET",
        "reviews",
        review_id,
        read=_review,
        query={"include": "preliminary" if include_preliminary else None},
        **options,
    )


def next_review(
    *, skip: Sequence[str] = (), **options: Unpack[CallOptions]
) -> Call[reviews.Review | None]:
    """Take the next open review for 15 minutes: those for the caller first, then the oldest.

    Args:
        skip: ids of reviews to leave to others, 200 at most.

    Returns:
        None where none is left for the caller.
    """
    request = request_of(reviews.NextReviewRequest, skip=list(skip))
    return call("POST", "reviews", "next", read=_next_review, body=request, **options)


def claim_review(review_id: str, **options: Unpack[CallOptions]) -> Call[reviews.ReviewSummary]:
    """Take a review for 15 minutes, or keep it for 15 more.

    Raises:
        NotFoundError: there is no such review in this organisation.
        ConflictError: it is not open, or somebody else's at the moment.
    """
    return call("POST", "reviews", review_id, "claim", read=_summary, is_idempotent=True, **options)


def release_review(review_id: str, **options: Unpack[CallOptions]) -> Call[reviews.ReviewSummary]:
    """Give a review back, so that anybody can take it.

    Raises:
        NotFoundError: there is no such review in this organisation.
    """
    return call(
        "POST", "reviews", review_id, "release", read=_summary, is_idempotent=True, **options
    )


def assign_review(
    review_id: str, *, assignee_id: str | None, **options: Unpack[CallOptions]
) -> Call[reviews.ReviewSummary]:
    """Say whom a review is for; None gives it back to everybody.

    Args:
        assignee_id: the principal of a key, or the reviewer that a link names.

    Raises:
        InvalidInputError: that is no id of a principal; nothing was sent.
        NotFoundError: there is no such review in this organisation.
        PermissionDeniedError: a reviewer assigns to, or takes from, somebody else.
        ConflictError: it is not open.
    """
    request = change_of(
        reviews.AssignReviewRequest, clearable={"assignee_id"}, assignee_id=assignee_id
    )
    return call(
        "POST",
        "reviews",
        review_id,
        "assign",
        read=_summary,
        body=request,
        is_idempotent=True,
        **options,
    )


def answer_review(
    review_id: str,
    *,
    value: float,
    explanation: str | None = None,
    dimensions: Sequence[ScoreDimension] | None = None,
    **options: Unpack[CallOptions],
) -> Call[reviews.ReviewSummary]:
    """Score what is reviewed; the completion's verdict follows. The same answer again is fine.

    Args:
        value: 0 to 1.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        NotFoundError: there is no such review in this organisation.
        ConflictError: it is not open, or somebody else's at the moment.
    """
    request = request_of(
        reviews.AnswerReviewRequest,
        value=value,
        explanation=explanation,
        dimensions=None if dimensions is None else list(dimensions),
    )
    return call(
        "POST",
        "reviews",
        review_id,
        "answer",
        read=_summary,
        body=request,
        is_idempotent=True,
        **options,
    )


def correct_review(
    review_id: str,
    *,
    value: float,
    explanation: str | None = None,
    dimensions: Sequence[ScoreDimension] | None = None,
    **options: Unpack[CallOptions],
) -> Call[reviews.ReviewSummary]:
    """Change the caller's own answer as a whole, until its ``correctable_until``.

    Args:
        value: 0 to 1.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        NotFoundError: there is no such review in this organisation.
        PermissionDeniedError: somebody else answered it.
        ConflictError: nobody did, or its time for corrections is over.
    """
    request = request_of(
        reviews.AnswerReviewRequest,
        value=value,
        explanation=explanation,
        dimensions=None if dimensions is None else list(dimensions),
    )
    return call(
        "POST",
        "reviews",
        review_id,
        "correct",
        read=_summary,
        body=request,
        is_idempotent=True,
        **options,
    )


def cannot_judge_review(
    review_id: str,
    *,
    reason: reviews.CannotJudgeReason,
    explanation: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[reviews.ReviewSummary]:
    """Say that the caller cannot judge: another person is asked, and after two nobody any more.

    Args:
        reason: ``other`` needs an explanation.

    Raises:
        InvalidInputError: an argument is out of its range; nothing was sent.
        NotFoundError: there is no such review in this organisation.
        ConflictError: it is not open, or somebody else's at the moment.
    """
    request = request_of(reviews.CannotJudgeRequest, reason=reason, explanation=explanation)
    return call(
        "POST",
        "reviews",
        review_id,
        "cannot-judge",
        read=_summary,
        body=request,
        is_idempotent=True,
        **options,
    )


def review_progress(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[review_figures.ReviewerProgress]:
    """Walk through what people did today and in all; a reviewer gets what they did themselves.

    Args:
        page_size: people fetched at a time, 1 to 200.
    """
    return listing("reviews", "progress", read=_progress, page_size=page_size, **options)


def review_agreement(
    *,
    task_id: str | None = None,
    grader_id: str | None = None,
    window: review_figures.AgreementWindow = "30d",
    **options: Unpack[CallOptions],
) -> Call[review_figures.ReviewAgreement]:
    """Read how far two people agree where a second opinion was asked, or people and a grader.

    Args:
        task_id: of one task; of all without it.
        grader_id: of this grader and of people who had not looked at what it said.

    Raises:
        PermissionDeniedError: the key's role asks no people.
    """
    query = {"taskId": task_id, "graderId": grader_id, "window": window}
    return call("GET", "reviews", "agreement", read=_agreement, query=query, **options)


class ReviewMethods:
    """Methods of reviews."""

    list = ListMethod(list_reviews)
    get = Method(get_review)
    next = Method(next_review)
    claim = Method(claim_review)
    release = Method(release_review)
    assign = Method(assign_review)
    answer = Method(answer_review)
    correct = Method(correct_review)
    cannot_judge = Method(cannot_judge_review)
    progress = ListMethod(review_progress)
    agreement = Method(review_agreement)
    link = Method(create_review_link)
    links = ListMethod(list_review_links)
    revoke_link = Method(revoke_review_link)


class Reviews(ReviewMethods, Resource):
    """Reviews, blocking."""


class AsyncReviews(ReviewMethods, AsyncResource):
    """Reviews, for an event loop."""
