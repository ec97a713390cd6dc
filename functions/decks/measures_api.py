"""How far graders of decks agree with people, and where not; publishing them with that."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.deck_agreement import (
    AgreementRequest,
    AgreementResponse,
    DeckMeansRequest,
    DeckMeansResponse,
    DeckPatternsResponse,
    DisagreementAbout,
    DisagreementList,
)
from autotune.protocol.deck_rubrics import DeckGraderResponse
from autotune.protocol.limits import MAX_DECK_VERSIONS, MAX_NAME_CHARACTERS
from autotune_platform.decks.grader_wire import grader_on_wire
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.decks import DeckEnvironment
from autotune_platform.wiring.deck_measures import DeckMeasureParts

_GRADER = "/api/v1/decks/<deck_id>/graders/<deck_grader_id>"

Version = Annotated[int | None, Query(ge=1, le=MAX_DECK_VERSIONS)]
DeckVersion = Annotated[int | None, Query(alias="deckVersion", ge=1, le=MAX_DECK_VERSIONS)]
ModelQuery = Annotated[str | None, Query(min_length=1, max_length=MAX_NAME_CHARACTERS)]
LevelQuery = Annotated[int | None, Query(ge=-3, le=3)]


@cache
def parts() -> DeckMeasureParts:
    """Return what this process is put together from."""
    return DeckMeasureParts(DeckEnvironment.parse())


app = Api(parts)


@app.get(f"{_GRADER}/agreement", tags=["decks"])
def read_deck_agreement(
    deck_id: str,
    deck_grader_id: str,
    version: Version = None,
    deck_version: DeckVersion = None,
) -> AgreementResponse:
    """Return how far a version of a grader agrees with people: the current one if none is named.

    It is of samples that have the system prompt of one version of the deck, the current one if none
    is named. Claims rest on those that are held out and were drawn; the confusion is of the others.
    It spends nothing: a version without a look at these labels is refused; POST spends its look.
    """
    app.require_known_parameters()
    found = parts().agreements.of(
        app.caller,
        deck_id,
        deck_grader_id,
        version=version,
        deck_version=deck_version,
        spend=False,
    )
    return AgreementResponse(agreement=found)


@app.post(f"{_GRADER}/agreement", tags=["decks"])
def spend_deck_agreement(
    deck_id: str, deck_grader_id: str, body: AgreementRequest
) -> AgreementResponse:
    """Return the agreement as GET does, and spend the version's look where it has none.

    The first version that is looked at is free; the intervals of later ones become wider.
    """
    found = parts().agreements.of(
        app.caller,
        deck_id,
        deck_grader_id,
        version=body.version,
        deck_version=body.deck_version,
        spend=True,
    )
    return AgreementResponse(agreement=found)


@app.get(f"{_GRADER}/disagreements", tags=["decks"])
def list_disagreements(
    deck_id: str,
    deck_grader_id: str,
    version: Version = None,
    about: Annotated[DisagreementAbout, Query()] = "levels",
    truth: LevelQuery = None,
    score: LevelQuery = None,
    limit: PageSize = 20,
    next_token: NextToken = None,
) -> DisagreementList:
    """List samples of the development half on which judge and people differ, the widest first.

    With ``about=applicability`` they differ on whether the question applies: where the judge
    abstained first, then where people say that it does not apply.
    With ``truth`` and ``score`` it is a cell of the confusion, which may be one where they agree.
    Who reads it has seen results: what they say of these samples later is not blind.
    """
    app.require_known_parameters()
    return parts().disagreements.page(
        app.caller,
        deck_id,
        deck_grader_id,
        version=version,
        about=about,
        truth=truth,
        score=score,
        limit=limit,
        next_token=next_token,
    )


@app.get(f"{_GRADER}/patterns", tags=["decks"])
def read_patterns(
    deck_id: str, deck_grader_id: str, version: Version = None
) -> DeckPatternsResponse:
    """Return where a version errs, of the development half, the surest first; no model is asked."""
    app.require_known_parameters()
    found = parts().patterns.of(app.caller, deck_id, deck_grader_id, version=version)
    return DeckPatternsResponse(patterns=found)


@app.get(f"{_GRADER}/means", tags=["decks"])
def read_deck_means(
    deck_id: str,
    deck_grader_id: str,
    version: Version = None,
    model: ModelQuery = None,
    deck_version: DeckVersion = None,
) -> DeckMeansResponse:
    """Return the mean level that people would give to what a model wrote, or to all samples.

    It is estimated from the judge's levels and the labels of the held-out half, of samples that
    have the system prompt of one version of the deck: the current one if none is named. It spends
    nothing: a version without a look at these labels is refused, and POST spends its look.
    """
    app.require_known_parameters()
    found = parts().means.of(
        app.caller,
        deck_id,
        deck_grader_id,
        version=version,
        model=model,
        deck_version=deck_version,
        spend=False,
    )
    return DeckMeansResponse(means=found)


@app.post(f"{_GRADER}/means", tags=["decks"])
def spend_deck_means(
    deck_id: str, deck_grader_id: str, body: DeckMeansRequest
) -> DeckMeansResponse:
    """Return the means as GET does, and spend the version's look where it has none.

    The first version that is looked at is free; the intervals of later ones become wider.
    """
    found = parts().means.of(
        app.caller,
        deck_id,
        deck_grader_id,
        version=body.version,
        model=body.model,
        deck_version=body.deck_version,
        spend=True,
    )
    return DeckMeansResponse(means=found)


@app.post(f"{_GRADER}/publish", tags=["decks"])
def publish_deck_grader(deck_id: str, deck_grader_id: str) -> DeckGraderResponse:
    """Publish the current version of an active grader, by which tasks can score from then on.

    What is measured of its judge by now goes with it. Where the same is published, nothing changes.
    """
    app.require_known_parameters()
    grader = parts().publishing.publish(app.caller, deck_id, deck_grader_id)
    if grader.grader.published is not None:
        app.made(grader_id=grader.grader.published.grader_id)
    return DeckGraderResponse(grader=grader_on_wire(grader))


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
