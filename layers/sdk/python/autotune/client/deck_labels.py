"""``client.decks.labels``: what people say of samples, and how far judges agree with them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.client.deck_measures import agreement, disagreements, means, patterns
from autotune.client.errors import InvalidInputError
from autotune.protocol import deck_feedback as wire
from autotune.protocol import deck_label_exports as exported
from autotune.protocol.limits import MAX_BULK_FEEDBACK

_offers = returning(wire.LabelOfferList, lambda page: (page.graders, page.next_token))
_rated = returning(wire.FeedbackResponse)
_imported = returning(wire.BulkFeedback)
_next = returning(wire.NextFeedbackResponse)
_progress = returning(wire.RatingProgressResponse, lambda answer: answer.progress)
_feedback = returning(wire.FeedbackList, lambda page: (page.feedback, page.next_token))
_exported = returning(exported.DeckLabelList, lambda page: (page.labels, page.next_token))
_truth = returning(wire.TruthResponse, lambda answer: answer.truth)
_truths = returning(wire.TruthList, lambda page: (page.truths, page.next_token))


def list_offers(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.LabelOffer]:
    """Walk through the graders for which people may rate samples, with their decks, oldest first.

    Args:
        page_size: decks looked at at a time, 1 to 50.
    """
    return listing("deck-inbox", read=_offers, page_size=page_size, **options)


def next_sample(
    deck_id: str,
    grader_id: str,
    *,
    task: wire.RatingTask = "rating",
    **options: Unpack[CallOptions],
) -> Call[wire.NextFeedbackResponse]:
    """Take a sample to rate for 15 minutes, in which nobody else gets it.

    Held-out samples come first, drawn by chance. The judge's result is hidden.

    Args:
        task: ``adjudication`` for samples on which people are two levels or more apart.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    query = {"task": task}
    return call(
        "GET",
        "decks",
        deck_id,
        "graders",
        grader_id,
        "feedback",
        "next",
        read=_next,
        query=query,
        **options,
    )


def rate(
    deck_id: str,
    grader_id: str,
    sample_id: str,
    *,
    score: int | None = None,
    does_not_apply: bool = False,
    explanation: str | None = None,
    version: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.FeedbackResponse]:
    """Say what level a sample has, or that the question does not apply; again to correct it.

    Args:
        score: -3 to 3; 0 is a level as any other.
        version: of the grader, as it was shown; the current one without it.

    Raises:
        InvalidInputError: neither or both are given, or one is out of its range; nothing was sent.
        NotFoundError: there is no such deck, grader or sample in this organisation.
        ConflictError: another person is at the sample.
    """
    request = request_of(
        wire.CreateFeedbackRequest,
        sample_id=sample_id,
        score=score,
        does_not_apply=does_not_apply,
        explanation=explanation,
        version=version,
    )
    return call(
        "POST",
        "decks",
        deck_id,
        "graders",
        grader_id,
        "feedback",
        read=_rated,
        body=request,
        is_idempotent=True,
        **options,
    )


def import_ratings(
    deck_id: str,
    grader_id: str,
    ratings: Iterable[Mapping[str, Any]],
    **options: Unpack[CallOptions],
) -> Call[wire.BulkFeedback]:
    """Store ratings of people, each named by its ``rater``; the same again changes nothing.

    What is wrong with a rating is in the answer, by its place from 1; the others are stored.

    Args:
        ratings: up to 1,000 of ``{"sampleId" or "externalId", "rater", "score" or "doesNotApply",
            "explanation", "selection", "probability", "version"}``. ``selection`` is ``random``
            only where the samples were drawn, or are all there are: nothing else counts for
            agreement.

    Raises:
        InvalidInputError: there are none, or too many; nothing was sent.
        NotFoundError: there is no such deck or grader in this organisation.
    """
    lines = [json.dumps(dict(rating), ensure_ascii=False) for rating in ratings]
    if not 0 < len(lines) <= MAX_BULK_FEEDBACK:
        raise InvalidInputError.at("ratings", f"1 to {MAX_BULK_FEEDBACK} ratings")
    return call(
        "POST",
        "decks",
        deck_id,
        "graders",
        grader_id,
        "feedback",
        "bulk",
        read=_imported,
        body="\n".join(lines).encode(),
        is_idempotent=True,
        **options,
    )


def list_ratings(
    deck_id: str,
    grader_id: str,
    *,
    sample_id: str | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[wire.Feedback]:
    """Walk through ratings and corrections, by sample and rater; a reviewer gets their own.

    Args:
        sample_id: of one sample.
        page_size: ratings fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    query = {"sampleId": sample_id}
    return listing(
        "decks",
        deck_id,
        "graders",
        grader_id,
        "feedback",
        read=_feedback,
        page_size=page_size,
        query=query,
        **options,
    )


def export_labels(
    deck_id: str,
    *,
    grader_id: str | None = None,
    results: bool = False,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[exported.DeckLabel]:
    """Walk through what people said of a deck's samples, and what holds, by grader and sample.

    ``ratings`` of each are what ``import_ratings`` takes, of this deck or another with its samples:
    ``[rating.model_dump(by_alias=True, exclude_none=True) for rating in label.ratings]``.

    Args:
        grader_id: of this grader alone.
        results: with what each grader's current version said. Who exports has seen it then: what
            they say, or upload, of these samples later is not blind.
        page_size: labels fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    query = {"graderId": grader_id, "include": "results" if results else None}
    return listing(
        "decks",
        deck_id,
        "labels",
        read=_exported,
        page_size=page_size,
        query=query,
        **options,
    )


def rating_progress(
    deck_id: str, grader_id: str, **options: Unpack[CallOptions]
) -> Call[wire.RatingProgress]:
    """Read how far people are with each half, and what is to be adjudicated or looked at again.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    return call(
        "GET",
        "decks",
        deck_id,
        "graders",
        grader_id,
        "feedback",
        "progress",
        read=_progress,
        **options,
    )


def list_truths(
    deck_id: str,
    grader_id: str,
    *,
    state: wire.TruthState | None = None,
    to_review: bool = False,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[wire.Truth]:
    """Walk through what counts as true, by sample.

    Args:
        state: ``to_adjudicate`` for those on which people are apart.
        to_review: those that rest on ratings given under other criteria than the current ones.
        page_size: truths fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    query = {"state": state, "toReview": "true" if to_review else None}
    return listing(
        "decks",
        deck_id,
        "graders",
        grader_id,
        "truth",
        read=_truths,
        page_size=page_size,
        query=query,
        **options,
    )


def adjudicate(
    deck_id: str,
    grader_id: str,
    sample_id: str,
    *,
    score: int | None = None,
    does_not_apply: bool = False,
    explanation: str | None = None,
    version: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.Truth]:
    """Decide what counts as true where people are apart; who does has seen no judge's result.

    Args:
        score: -3 to 3.
        version: of the grader, as it was shown; the current one without it.

    Raises:
        InvalidInputError: neither or both are given, or one is out of its range; nothing was sent.
        NotFoundError: there is no such deck, grader or sample in this organisation.
        ConflictError: there is nothing to decide, or the caller was shown the judge's result.
    """
    request = request_of(
        wire.AdjudicateRequest,
        score=score,
        does_not_apply=does_not_apply,
        explanation=explanation,
        version=version,
    )
    return call(
        "PUT",
        "decks",
        deck_id,
        "graders",
        grader_id,
        "truth",
        sample_id,
        read=_truth,
        body=request,
        **options,
    )


class DeckLabelMethods:
    """Methods of what people say of samples."""

    _place: ClassVar = "decks.labels"

    offers = ListMethod(list_offers)
    next = Method(next_sample)
    rate = Method(rate)
    import_ratings = Method(import_ratings)
    list = ListMethod(list_ratings)
    export = ListMethod(export_labels)
    progress = Method(rating_progress)
    truths = ListMethod(list_truths)
    adjudicate = Method(adjudicate)
    agreement = Method(agreement)
    means = Method(means)
    disagreements = ListMethod(disagreements)
    patterns = Method(patterns)


class DeckLabels(DeckLabelMethods, Resource):
    """What people say of samples, blocking."""


class AsyncDeckLabels(DeckLabelMethods, AsyncResource):
    """What people say of samples, for an event loop."""
