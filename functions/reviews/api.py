"""Reviews: what people judge, by key or by link."""

from functools import cache
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.review_figures import (
    AgreementWindow,
    ReviewAgreementResponse,
    ReviewProgressList,
)
from autotune.protocol.reviews import (
    AnswerReviewRequest,
    AssignReviewRequest,
    CannotJudgeRequest,
    CreateReviewLinkRequest,
    CreateReviewLinkResponse,
    NextReviewRequest,
    NextReviewResponse,
    ReviewLinkList,
    ReviewLinkResponse,
    ReviewList,
    ReviewResponse,
    ReviewState,
    ReviewSummaryResponse,
)
from autotune.protocol.reviews import Review as WireReview
from autotune.protocol.types import GraderId, TaskId
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.judging.human.models import Review
from autotune_platform.reviews.wire import link_on_wire, review_on_wire, summary_on_wire
from autotune_platform.runtime.environment.reviews import ReviewEnvironment
from autotune_platform.wiring.reviews import ReviewApiParts

Format = Annotated[Literal["text", "html"], Query(alias="format")]


@cache
def parts() -> ReviewApiParts:
    """Return what this process is put together from."""
    return ReviewApiParts(ReviewEnvironment.parse())


app = Api(parts, authenticator=lambda: parts().review_callers)


@app.get("/api/v1/reviews", tags=["reviews"])
def list_reviews(
    state: Annotated[ReviewState, Query()] = "open",
    task_id: Annotated[TaskId | None, Query(alias="taskId")] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> ReviewList:
    """List the organisation's reviews in one state, the oldest first; answers are left out.

    A link lists open ones alone. With ``taskId`` a page may be short, even empty, while
    ``nextToken`` says that there is more.
    """
    reviews, token = parts().reviews.list(
        app.caller, state=state, task_id=task_id, limit=limit, next_token=next_token
    )
    return ReviewList(
        reviews=[summary_on_wire(review, app.caller) for review in reviews], next_token=token
    )


@app.get("/api/v1/reviews/progress", tags=["reviews"])
def read_review_progress(limit: PageSize = 50, next_token: NextToken = None) -> ReviewProgressList:
    """Return what people did today, by UTC, and in all: a reviewer sees what they did themselves.

    Of others everybody who reviewed within 400 days is listed, by name.
    """
    reviewers, token = parts().agreements.progress(app.caller, limit=limit, next_token=next_token)
    return ReviewProgressList(reviewers=reviewers, next_token=token)


@app.get("/api/v1/reviews/agreement", tags=["reviews"])
def read_review_agreement(
    task_id: Annotated[TaskId | None, Query(alias="taskId")] = None,
    grader_id: Annotated[GraderId | None, Query(alias="graderId")] = None,
    window: Annotated[AgreementWindow, Query()] = "30d",
) -> ReviewAgreementResponse:
    """Return how far two people agree where a second opinion was asked, for a task or for all.

    With ``graderId`` it is how far that grader and people agree, who answered without having looked
    at what graders said.
    """
    found = parts().agreements.of(app.caller, task_id=task_id, grader_id=grader_id, window=window)
    return ReviewAgreementResponse(agreement=found)


@app.get("/api/v1/reviews/<review_id>", tags=["reviews"])
def read_review(
    review_id: str,
    include: Annotated[Literal["preliminary"] | None, Query()] = None,
    text_format: Format = "text",
) -> ReviewResponse:
    """Return one review with its prompt and response.

    A link reads open ones alone. Graders' scores come only with ``include=preliminary``, and the
    answer records that its author saw them; which graders those were is hidden from reviewers.
    """
    wanted = include == "preliminary"
    review = parts().reviews.get(app.caller, review_id, with_preliminary=wanted)
    return ReviewResponse(review=_whole(review, text_format, with_preliminary=wanted))


@app.post("/api/v1/reviews/next", tags=["reviews"])
def claim_next_review(body: NextReviewRequest, text_format: Format = "text") -> NextReviewResponse:
    """Take the next open review for 15 minutes: those for the caller first, then the oldest.

    No other reviewer gets it meanwhile. ``review`` is null where none is left for the caller.
    """
    review, skipped = parts().reviews.next(app.caller, skip=body.skip)
    return NextReviewResponse(
        review=_whole(review, text_format) if review is not None else None, skipped=skipped
    )


@app.post("/api/v1/reviews/<review_id>/claim", tags=["reviews"])
def claim_review(review_id: str) -> ReviewSummaryResponse:
    """Take a review for 15 minutes, or keep it for 15 more."""
    claimed = parts().reviews.claim(app.caller, review_id)
    return ReviewSummaryResponse(review=summary_on_wire(claimed, app.caller))


@app.post("/api/v1/reviews/<review_id>/release", tags=["reviews"])
def release_review(review_id: str) -> ReviewSummaryResponse:
    """Give a review back, so that anybody can take it."""
    released = parts().reviews.release(app.caller, review_id)
    return ReviewSummaryResponse(review=summary_on_wire(released, app.caller))


@app.post("/api/v1/reviews/<review_id>/assign", tags=["reviews"])
def assign_review(review_id: str, body: AssignReviewRequest) -> ReviewSummaryResponse:
    """Say whom a review is for, or give it back to everybody; who else holds it loses it.

    A reviewer assigns to themselves alone, and takes a review from nobody who holds it.
    """
    assigned = parts().reviews.assign(app.caller, review_id, body.assignee_id)
    return ReviewSummaryResponse(review=summary_on_wire(assigned, app.caller))


@app.post("/api/v1/reviews/<review_id>/answer", tags=["reviews"])
def answer_review(review_id: str, body: AnswerReviewRequest) -> ReviewSummaryResponse:
    """Score what is reviewed; the completion's verdict follows. The same answer again is fine.

    Where the task lets reviewers correct, the verdict waits until ``correctableUntil``.
    """
    answered = parts().review_answering.answer(app.caller, review_id, body)
    return ReviewSummaryResponse(review=summary_on_wire(answered, app.caller))


@app.post("/api/v1/reviews/<review_id>/correct", tags=["reviews"])
def correct_review(review_id: str, body: AnswerReviewRequest) -> ReviewSummaryResponse:
    """Change the caller's own answer until ``correctableUntil``; its verdict is not there yet."""
    corrected = parts().review_answering.correct(app.caller, review_id, body)
    return ReviewSummaryResponse(review=summary_on_wire(corrected, app.caller))


@app.post("/api/v1/reviews/<review_id>/cannot-judge", tags=["reviews"])
def cannot_judge_review(review_id: str, body: CannotJudgeRequest) -> ReviewSummaryResponse:
    """Say that the caller cannot judge, and why: another person is asked, and this one no more.

    Once two people said so, the review ends as one that nobody answered in time.
    """
    passed_on = parts().review_answering.cannot_judge(app.caller, review_id, body)
    return ReviewSummaryResponse(review=summary_on_wire(passed_on, app.caller))


@app.post("/api/v1/review-links", status_code=201, tags=["reviews"])
def create_review_link(body: CreateReviewLinkRequest) -> CreateReviewLinkResponse:
    """Make a link by which a named person reviews without a key; its URL is shown this once."""
    link, url = parts().link_service.create(app.caller, body)
    app.made(link_id=link.id)
    return CreateReviewLinkResponse(link=link_on_wire(link), url=url)


@app.get("/api/v1/review-links", tags=["reviews"])
def list_review_links(limit: PageSize = 50, next_token: NextToken = None) -> ReviewLinkList:
    """List the links that somebody made and that have not ended by their time, oldest first."""
    links, token = parts().link_service.list(app.caller, limit=limit, next_token=next_token)
    return ReviewLinkList(links=[link_on_wire(link) for link in links], next_token=token)


@app.delete("/api/v1/review-links/<link_id>", tags=["reviews"])
def revoke_review_link(link_id: str) -> ReviewLinkResponse:
    """Have a link open nothing any more, at once."""
    return ReviewLinkResponse(link=link_on_wire(parts().link_service.revoke(app.caller, link_id)))


def _whole(review: Review, text_format: str, *, with_preliminary: bool = False) -> WireReview:
    return review_on_wire(
        review,
        parts().reviews.completion_of(review),
        app.caller,
        policy=parts().reviews.policy_of(review),
        rubrics=parts().reviews.rubrics_of(review),
        with_preliminary=with_preliminary,
        as_html=text_format == "html",
    )


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
