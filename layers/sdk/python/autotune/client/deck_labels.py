"""``client.decks.labels``: what people say of samples, and how far judges agree with them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.client.errors import InvalidInputError
from autotune.protocol import deck_agreement as measures
from autotune.protocol import deck_feedback as wire
from autotune.protocol.limits import MAX_BULK_FEEDBACK

_offers = returning(wire.LabelOfferList, lambda page: (page.graders, page.next_token))
_rated = returning(wire.FeedbackResponse)
_imported = returning(wire.BulkFeedback)
_next = returning(wire.NextFeedbackResponse)
_progress = returning(wire.RatingProgressResponse, lambda answer: answer.progress)
_feedback = returning(wire.FeedbackList, lambda page: (page.feedback, page.next_token))
_truth = returning(wire.TruthResponse, lambda answer: answer.truth)
_truths = returning(wire.TruthList, lambda page: (page.truths, page.next_token))
_agreement = returning(measures.AgreementResponse, lambda answer: answer.agreement)
_means = returning(measures.DeckMeansResponse, lambda answer: answer.means)
_patterns = returning(measures.DeckPatternsResponse, lambda answer: answer.patterns)
_disagreements = returning(
    measures.DisagreementList, lambda page: (page.disagreements, page.next_token)
)


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
        ratings: up to 1,000 of ``{"sampleId", "rater", "score" or "doesNotApply", "explanation",
            "selection", "probability", "version"}``. ``selection`` is ``random`` only where the
            samples were drawn, or are all there are: nothing else counts for agreement.

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


def means(
    deck_id: str,
    grader_id: str,
    *,
    model: str | None = None,
    version: int | None = None,
    deck_version: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[measures.DeckMeans]:
    """Read the mean level that people would give to held-out samples, corrected by their labels.

    Args:
        model: only what this model wrote.
        version: of the grader; the current one without it.
        deck_version: only samples with the system prompt of this version of the deck; of the
            current one without it.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    query = {**_versions(version, deck_version), "model": model}
    path = ("decks", deck_id, "graders", grader_id, "means")
    return call("GET", *path, read=_means, query=query, **options)


def agreement(
    deck_id: str,
    grader_id: str,
    *,
    version: int | None = None,
    deck_version: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[measures.Agreement]:
    """Read how far a version of a grader agrees with people, on drawn held-out samples.

    The first reading of a version spends a look at the labels, which makes the intervals of later
    versions wider; the first version that is looked at is free.

    Args:
        version: of the grader; the current one without it.
        deck_version: only samples with the system prompt of this version of the deck; of the
            current one without it.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    return call(
        "GET",
        "decks",
        deck_id,
        "graders",
        grader_id,
        "agreement",
        read=_agreement,
        query=_versions(version, deck_version),
        **options,
    )


def _versions(version: int | None, deck_version: int | None) -> dict[str, str | None]:
    return {
        "version": None if version is None else str(version),
        "deckVersion": None if deck_version is None else str(deck_version),
    }


def disagreements(
    deck_id: str,
    grader_id: str,
    *,
    version: int | None = None,
    truth: int | None = None,
    score: int | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[measures.Disagreement]:
    """Walk through samples of the development half on which judge and people differ, widest first.

    Args:
        version: of the grader; the current one without it.
        truth: with this true level alone.
        score: with this level of the judge alone.
        page_size: samples fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    given = {"version": version, "truth": truth, "score": score}
    query = {name: None if value is None else str(value) for name, value in given.items()}
    return listing(
        "decks",
        deck_id,
        "graders",
        grader_id,
        "disagreements",
        read=_disagreements,
        page_size=page_size,
        query=query,
        **options,
    )


def patterns(
    deck_id: str, grader_id: str, *, version: int | None = None, **options: Unpack[CallOptions]
) -> Call[measures.DeckPatterns]:
    """Read where a version of a grader errs more than chance explains, on the development half.

    Args:
        version: the current one without it.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    query = {"version": None if version is None else str(version)}
    return call(
        "GET",
        "decks",
        deck_id,
        "graders",
        grader_id,
        "patterns",
        read=_patterns,
        query=query,
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
