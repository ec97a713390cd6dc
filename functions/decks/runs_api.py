"""Runs of decks: what they would cost, starting, reading and canceling; their results.

Decks are made here, because a model may propose graders of a new one at once.
"""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.deck_creation import CreatedDeck, CreateProposedDeckRequest
from autotune.protocol.deck_proposals import ProposalEstimateResponse, ProposeGradersRequest
from autotune.protocol.deck_results import DeckResultList, DeckResultStatus, SampleResults
from autotune.protocol.deck_runs import (
    DeckEstimateResponse,
    DeckRunList,
    DeckRunResponse,
    StartDeckRunRequest,
)
from autotune.protocol.limits import MAX_DECK_VERSIONS
from autotune_platform.decks.deck_wire import deck_on_wire
from autotune_platform.decks.runs.service import StartedRun
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey, NextToken, PageSize
from autotune_platform.runtime.environment.deck_runs import DeckRunApiEnvironment
from autotune_platform.wiring.deck_runs import DeckRunApiParts

Version = Annotated[int | None, Query(ge=1, le=MAX_DECK_VERSIONS)]
Status = Annotated[DeckResultStatus | None, Query()]
Score = Annotated[int | None, Query(ge=-3, le=3)]
Repeated = Annotated[bool, Query()]


@cache
def parts() -> DeckRunApiParts:
    """Return what this process is put together from."""
    return DeckRunApiParts(DeckRunApiEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/decks", status_code=201, tags=["decks"])
def create_deck(body: CreateProposedDeckRequest) -> CreatedDeck:
    """Make a deck from a system prompt; with ``propose``, a model proposes graders at once.

    Where that cannot be started, no deck is made.
    """
    deck, run = parts().deck_proposals.create_deck(app.caller, body)
    app.made(deck_id=deck.deck.id, **({} if run is None else {"run_id": run.id}))
    return CreatedDeck(deck=deck_on_wire(deck), run=run)


@app.post("/api/v1/decks/<deck_id>/estimate", tags=["decks"])
def estimate_deck_run(deck_id: str, body: StartDeckRunRequest) -> DeckEstimateResponse:
    """Return what a run would probably cost, and at most; nothing is asked or spent."""
    return DeckEstimateResponse(estimate=parts().deck_runs.estimate(app.caller, deck_id, body))


@app.post("/api/v1/decks/<deck_id>/runs", status_code=202, tags=["decks"])
def start_deck_run(
    deck_id: str, body: StartDeckRunRequest, idempotency_key: IdempotencyKey = None
) -> Response[DeckRunResponse]:
    """Have samples of a deck judged by its graders; 202 means that the run is durable.

    What a version of a grader has judged is not judged, or paid, again, unless ``repeat`` says so.
    A version works in one run at a time; another gets 409. An organisation has at most 20 runs
    under way.
    """
    started = parts().deck_runs.start(app.caller, deck_id, body, idempotency_key=idempotency_key)
    return _started(started)


@app.post("/api/v1/decks/<deck_id>/graders/propose/estimate", tags=["decks"])
def estimate_deck_proposal(deck_id: str, body: ProposeGradersRequest) -> ProposalEstimateResponse:
    """Return what proposing graders would probably cost, and at most; nothing is asked or spent."""
    found = parts().deck_proposals.estimate(app.caller, deck_id, body)
    return ProposalEstimateResponse(estimate=found)


@app.post("/api/v1/decks/<deck_id>/graders/propose", status_code=202, tags=["decks"])
def propose_deck_graders(
    deck_id: str, body: ProposeGradersRequest, idempotency_key: IdempotencyKey = None
) -> Response[DeckRunResponse]:
    """Have a model propose graders from a deck's system prompt; 202 means that the run is durable.

    What passes all checks is stored as ``proposed`` graders when the run ends; they grade nothing
    before a person activates them. The run says what was wrong with the others.
    """
    started = parts().deck_proposals.start(
        app.caller, deck_id, body, idempotency_key=idempotency_key
    )
    return _started(started)


@app.get("/api/v1/decks/<deck_id>/runs", tags=["decks"])
def list_deck_runs(deck_id: str, limit: PageSize = 50, next_token: NextToken = None) -> DeckRunList:
    """List the runs of a deck, newest first."""
    runs, token = parts().deck_runs.page(app.caller, deck_id, limit=limit, next_token=next_token)
    return DeckRunList(runs=runs, next_token=token)


@app.get("/api/v1/decks/<deck_id>/runs/<deck_run_id>", tags=["decks"])
def read_deck_run(deck_id: str, deck_run_id: str) -> DeckRunResponse:
    """Return a run of a deck, with what it has come to and what it has cost."""
    return DeckRunResponse(run=parts().deck_runs.get(app.caller, deck_id, deck_run_id))


@app.post("/api/v1/decks/<deck_id>/runs/<deck_run_id>/cancel", tags=["decks"])
def cancel_deck_run(deck_id: str, deck_run_id: str) -> DeckRunResponse:
    """Have a run begin nothing more, and cancel what waits.

    What is being asked may be paid, and its results are stored; the run is ``canceled`` after that.
    """
    return DeckRunResponse(run=parts().deck_runs.cancel(app.caller, deck_id, deck_run_id))


@app.get("/api/v1/decks/<deck_id>/graders/<deck_grader_id>/results", tags=["decks"])
def list_deck_results(
    deck_id: str,
    deck_grader_id: str,
    version: Version = None,
    status: Status = None,
    score: Score = None,
    repeated: Repeated = False,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> DeckResultList:
    """List what a grader's judge said, in its current version or another; newest samples first.

    A page may have fewer than its limit where it filters, and more behind its ``nextToken``.
    Results on held-out samples are withheld where the version has no look at their labels: reading
    its agreement spends one, or measuring its edit. The first that is looked at needs none.
    """
    return parts().deck_results.page(
        app.caller,
        deck_id,
        deck_grader_id,
        version=version,
        repeated=repeated,
        status=status,
        score=score,
        limit=limit,
        next_token=next_token,
    )


@app.get("/api/v1/decks/<deck_id>/samples/<sample_id>/results", tags=["decks"])
def list_sample_results(deck_id: str, sample_id: str) -> SampleResults:
    """Return what judges said of a sample, by grader and version: at most two hundred results.

    Of a sample that is held out, those of versions that have a look at the labels.
    """
    return parts().deck_results.of_sample(app.caller, deck_id, sample_id)


def _started(started: StartedRun) -> Response[DeckRunResponse]:
    app.made(run_id=started.run.id)
    headers: dict[str, str | list[str]] = {}
    if started.replayed:
        headers["Idempotent-Replayed"] = "true"
    return Response(
        status_code=202,
        content_type="application/json",
        body=DeckRunResponse(run=started.run),
        headers=headers,
    )


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
