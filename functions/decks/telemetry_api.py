"""Samples that find their deck by its prompt, and prompts that no deck has."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.deck_samples import Collection
from autotune.protocol.deck_telemetry import (
    AdoptedPrompt,
    AdoptPromptRequest,
    MatchedSamples,
    UnmatchedPromptList,
    UnmatchedPromptResponse,
)
from autotune_platform.decks.deck_wire import deck_on_wire
from autotune_platform.decks.telemetry.wire import unmatched_on_wire
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey
from autotune_platform.runtime.environment.decks import SampleEnvironment
from autotune_platform.wiring.telemetry import TelemetryApiParts

CollectionParameter = Annotated[Collection, Query(alias="collection")]


@cache
def parts() -> TelemetryApiParts:
    """Return what this process is put together from."""
    return TelemetryApiParts(SampleEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/samples", status_code=201, tags=["decks"])
def match_samples(
    collection: CollectionParameter = "manual", idempotency_key: IdempotencyKey = None
) -> MatchedSamples:
    """Add up to 100 samples, a line of JSON each, to the decks whose system prompts they have.

    A line whose prompt no deck has is counted under that prompt; a faulty one is named.
    """
    app.require_known_parameters()
    return parts().sample_matching.add_lines(
        app.caller.organization_id,
        app.signed_request.body,
        collection=collection,
        idempotency_key=idempotency_key,
    )


@app.get("/api/v1/unmatched-prompts", tags=["decks"])
def list_unmatched_prompts() -> UnmatchedPromptList:
    """List all system prompts that no deck has, those with most calls first, 200 at most."""
    prompts, passed_over = parts().unmatched.list(app.caller)
    on_wire = [unmatched_on_wire(one) for one in prompts]
    return UnmatchedPromptList(prompts=on_wire, passed_over=passed_over)


@app.get("/api/v1/unmatched-prompts/<unmatched_id>", tags=["decks"])
def read_unmatched_prompt(unmatched_id: str) -> UnmatchedPromptResponse:
    """Return a system prompt that no deck has, with a few of its calls."""
    prompt, text, examples = parts().unmatched.get(app.caller, unmatched_id)
    return UnmatchedPromptResponse(prompt=unmatched_on_wire(prompt, text, examples))


@app.post("/api/v1/unmatched-prompts/<unmatched_id>/deck", status_code=201, tags=["decks"])
def adopt_unmatched_prompt(unmatched_id: str, body: AdoptPromptRequest) -> AdoptedPrompt:
    """Make a deck of a system prompt that no deck has; the calls kept with it become samples.

    Where one deck has the prompt by now, that one gets the samples. A repeat returns the same deck.
    """
    deck, sample_ids = parts().unmatched.adopt(app.caller, unmatched_id, body)
    app.made(deck_id=deck.deck.id)
    return AdoptedPrompt(deck=deck_on_wire(deck), sample_ids=list(sample_ids))


@app.delete("/api/v1/unmatched-prompts/<unmatched_id>", status_code=204, tags=["decks"])
def dismiss_unmatched_prompt(unmatched_id: str) -> None:
    """Erase an unmatched prompt and its calls; it is not listed again for 90 days."""
    parts().unmatched.dismiss(app.caller, unmatched_id)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
