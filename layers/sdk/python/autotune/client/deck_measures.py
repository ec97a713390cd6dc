"""How far graders of decks agree with people: part of ``client.decks.labels``."""

from typing import Unpack

from autotune.client.arguments import request_of
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.protocol import deck_agreement as measures

_agreement = returning(measures.AgreementResponse, lambda answer: answer.agreement)
_means = returning(measures.DeckMeansResponse, lambda answer: answer.means)
_patterns = returning(measures.DeckPatternsResponse, lambda answer: answer.patterns)
_disagreements = returning(
    measures.DisagreementList, lambda page: (page.disagreements, page.next_token)
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

    It spends the version's look at the labels where it has none, which makes the intervals of later
    versions wider; the first version that is looked at is free.

    Args:
        model: only what this model wrote.
        version: of the grader; the current one without it.
        deck_version: only samples with the system prompt of this version of the deck; of the
            current one without it.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    request = request_of(
        measures.DeckMeansRequest, version=version, model=model, deck_version=deck_version
    )
    path = ("decks", deck_id, "graders", grader_id, "means")
    return call("POST", *path, read=_means, body=request, **options)


def agreement(
    deck_id: str,
    grader_id: str,
    *,
    version: int | None = None,
    deck_version: int | None = None,
    **options: Unpack[CallOptions],
) -> Call[measures.Agreement]:
    """Read how far a version of a grader agrees with people, on drawn held-out samples.

    It spends the version's look at the labels where it has none, which makes the intervals of later
    versions wider; the first version that is looked at is free.

    Args:
        version: of the grader; the current one without it.
        deck_version: only samples with the system prompt of this version of the deck; of the
            current one without it.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    request = request_of(measures.AgreementRequest, version=version, deck_version=deck_version)
    path = ("decks", deck_id, "graders", grader_id, "agreement")
    return call("POST", *path, read=_agreement, body=request, **options)


def disagreements(
    deck_id: str,
    grader_id: str,
    *,
    version: int | None = None,
    about: measures.DisagreementAbout = "levels",
    truth: int | None = None,
    score: int | None = None,
    page_size: int | None = None,
    **options: Unpack[CallOptions],
) -> Listing[measures.Disagreement]:
    """Walk through samples of the development half on which judge and people differ, widest first.

    Args:
        version: of the grader; the current one without it.
        about: ``applicability`` for samples to which the question applies by judge or people alone.
        truth: with this true level alone.
        score: with this level of the judge alone.
        page_size: samples fetched at a time, 1 to 200.

    Raises:
        NotFoundError: there is no such deck or grader in this organisation.
    """
    given = {"version": version, "about": about, "truth": truth, "score": score}
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
