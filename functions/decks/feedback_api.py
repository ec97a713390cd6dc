"""What people say of decks' samples: rating one by one or from a file, and adjudicating."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.deck_feedback import (
    AdjudicateRequest,
    BulkFeedback,
    CreateFeedbackRequest,
    FeedbackList,
    FeedbackResponse,
    LabelOffer,
    LabelOfferList,
    NextFeedbackResponse,
    RatingProgressResponse,
    RatingTask,
    TruthList,
    TruthResponse,
    TruthState,
)
from autotune.protocol.deck_label_exports import DeckLabelList, LabelExtra
from autotune.protocol.limits import MAX_SKIPPED_SAMPLES
from autotune.protocol.types import GraderId, SampleId
from autotune_platform.decks.labels.inbox_wire import in_hand_on_wire
from autotune_platform.decks.labels.lines import feedback_lines
from autotune_platform.decks.labels.wire import (
    feedback_on_wire,
    result_on_wire,
    truth_on_wire,
)
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.decks import SampleEnvironment
from autotune_platform.wiring.deck_labels import DeckFeedbackParts

DecksAtATime = Annotated[int, Query(ge=1, le=50)]

_GRADER = "/api/v1/decks/<deck_id>/graders/<deck_grader_id>"


@cache
def parts() -> DeckFeedbackParts:
    """Return what this process is put together from."""
    return DeckFeedbackParts(SampleEnvironment.parse())


app = Api(parts)


@app.get("/api/v1/deck-inbox", tags=["decks"])
def list_label_offers(limit: DecksAtATime = 20, next_token: NextToken = None) -> LabelOfferList:
    """List graders for which people may rate samples, of up to ``limit`` decks, oldest first."""
    app.require_known_parameters()
    offers, token = parts().label_offers.page(app.caller, limit=limit, next_token=next_token)
    graders = [
        LabelOffer(
            deck_id=one.deck.id,
            deck_name=one.deck.name,
            grader_id=one.grader.id,
            grader_name=one.grader.name,
        )
        for one in offers
    ]
    return LabelOfferList(graders=graders, next_token=token)


@app.post(f"{_GRADER}/feedback", tags=["decks"])
def rate_sample(deck_id: str, deck_grader_id: str, body: CreateFeedbackRequest) -> FeedbackResponse:
    """Say what level a sample has, or that the question does not apply; again to correct it.

    The answer shows the judge's result, which was hidden until now. A correction that comes after
    it is kept, and in the held-out half counts for nothing.
    """
    rating, result = parts().ratings.rate(app.caller, deck_id, deck_grader_id, body)
    app.made(feedback_id=rating.id)
    return FeedbackResponse(
        feedback=feedback_on_wire(rating), result=result_on_wire(result) if result else None
    )


@app.post(f"{_GRADER}/feedback/bulk", tags=["decks"])
def import_feedback(deck_id: str, deck_grader_id: str) -> BulkFeedback:
    """Store ratings from JSON Lines, each with its rater; wrong lines are named, others stored."""
    lines = feedback_lines(app.signed_request.body)
    return parts().rating_import.add_lines(app.caller, deck_id, deck_grader_id, lines)


@app.get(f"{_GRADER}/feedback", tags=["decks"])
def list_feedback(
    deck_id: str,
    deck_grader_id: str,
    sample_id: Annotated[SampleId | None, Query(alias="sampleId")] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> FeedbackList:
    """List ratings and corrections, by sample and rater; a reviewer sees their own alone."""
    app.require_known_parameters()
    ratings, token = parts().rating_list.list(
        app.caller,
        deck_id,
        deck_grader_id,
        sample_id=sample_id,
        limit=limit,
        next_token=next_token,
    )
    return FeedbackList(feedback=[feedback_on_wire(one) for one in ratings], next_token=token)


@app.get(f"{_GRADER}/feedback/next", tags=["decks"])
def next_feedback(
    deck_id: str,
    deck_grader_id: str,
    task: Annotated[RatingTask, Query()] = "rating",
    skip: Annotated[list[SampleId] | None, Query(max_length=MAX_SKIPPED_SAMPLES)] = None,
) -> NextFeedbackResponse:
    """Take a sample to rate for 15 minutes, in which nobody else gets it.

    Held-out samples come first, in an order drawn by chance. Who asks again gets the one that they
    hold. With ``task=adjudication`` it is one on which people are two levels or more apart.
    """
    app.require_known_parameters()
    found, left = parts().label_inbox.next(
        app.caller, deck_id, deck_grader_id, task=task, skip=skip or ()
    )
    return NextFeedbackResponse(next=in_hand_on_wire(found) if found else None, left=left)


@app.get(f"{_GRADER}/feedback/progress", tags=["decks"])
def read_feedback_progress(deck_id: str, deck_grader_id: str) -> RatingProgressResponse:
    """Return how far people are with each half; a reviewer sees of people themselves alone."""
    app.require_known_parameters()
    progress = parts().label_progress.of(app.caller, deck_id, deck_grader_id)
    return RatingProgressResponse(progress=progress)


@app.get(f"{_GRADER}/truth", tags=["decks"])
def list_truths(
    deck_id: str,
    deck_grader_id: str,
    state: Annotated[TruthState | None, Query()] = None,
    to_review: Annotated[bool, Query(alias="toReview")] = False,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> TruthList:
    """List what counts as true, by sample; a page that filters may be short of its limit."""
    app.require_known_parameters()
    truths, criteria, token = parts().adjudications.list(
        app.caller,
        deck_id,
        deck_grader_id,
        state=state,
        to_review=to_review,
        limit=limit,
        next_token=next_token,
    )
    on_wire = [truth_on_wire(truth, criteria=criteria) for truth in truths]
    return TruthList(truths=on_wire, next_token=token)


@app.get("/api/v1/decks/<deck_id>/labels", tags=["decks"])
def export_labels(
    deck_id: str,
    grader_id: Annotated[GraderId | None, Query(alias="graderId")] = None,
    include: Annotated[LabelExtra | None, Query()] = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> DeckLabelList:
    """Export what people said of a deck's samples, and what holds, by grader and sample.

    ``ratings`` of an entry are lines that ``feedback/bulk`` takes. With ``include=results`` what
    the current version said is there, too: who exports has seen it then. A page with long texts is
    short of its limit.
    """
    app.require_known_parameters()
    return parts().label_export.page(
        app.caller,
        deck_id,
        grader_id=grader_id,
        with_results=include == "results",
        limit=limit,
        next_token=next_token,
    )


@app.put(f"{_GRADER}/truth/<sample_id>", tags=["decks"])
def adjudicate_truth(
    deck_id: str, deck_grader_id: str, sample_id: str, body: AdjudicateRequest
) -> TruthResponse:
    """Decide what counts as true where people are apart, without having seen the judge's result."""
    truth, criteria = parts().adjudications.adjudicate(
        app.caller, deck_id, deck_grader_id, sample_id, body
    )
    return TruthResponse(truth=truth_on_wire(truth, criteria=criteria))


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
