"""Samples of decks."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.deck_samples import (
    AddedSamples,
    AddSamplesRequest,
    BulkSamples,
    ExternalId,
    SampleList,
    SampleResponse,
    Split,
)
from autotune.protocol.deck_samples import Sample as WireSample
from autotune.protocol.limits import MAX_DECK_VERSIONS
from autotune.protocol.llm_limits import ModelName
from autotune_platform.decks.models import Sample, SampleTexts
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey, NextToken, PageSize
from autotune_platform.runtime.environment.decks import SampleEnvironment
from autotune_platform.wiring.deck_samples import SampleApiParts

SplitFilter = Annotated[Split | None, Query(alias="split")]
ModelFilter = Annotated[ModelName | None, Query(alias="model")]
ExternalIdFilter = Annotated[ExternalId | None, Query(alias="externalId")]
VersionFilter = Annotated[int | None, Query(alias="deckVersion", ge=1, le=MAX_DECK_VERSIONS)]


@cache
def parts() -> SampleApiParts:
    """Return what this process is put together from."""
    return SampleApiParts(SampleEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/decks/<deck_id>/samples", status_code=201, tags=["decks"])
def add_samples(
    deck_id: str, body: AddSamplesRequest, idempotency_key: IdempotencyKey = None
) -> AddedSamples:
    """Add up to 100 samples; where one is faulty, none is stored."""
    samples = parts().sample_intake.add_all(
        app.caller, deck_id, body, app.signed_request.body, idempotency_key=idempotency_key
    )
    return AddedSamples(samples=[_on_wire(sample) for sample in samples])


@app.post("/api/v1/decks/<deck_id>/samples/bulk", status_code=201, tags=["decks"])
def upload_samples(deck_id: str, idempotency_key: IdempotencyKey = None) -> BulkSamples:
    """Add up to 1,000 samples, a line of JSON each; a faulty line is named, the others stored.

    A line may have ``labels``: what people said of the sample, for graders of the deck.
    """
    return parts().labelled_upload.add_lines(
        app.caller, deck_id, app.signed_request.body, idempotency_key=idempotency_key
    )


@app.get("/api/v1/decks/<deck_id>/samples", tags=["decks"])
def list_samples(
    deck_id: str,
    split: SplitFilter = None,
    model: ModelFilter = None,
    deck_version: VersionFilter = None,
    external_id: ExternalIdFilter = None,
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> SampleList:
    """List a deck's samples, newest first, without their texts; a page may be short."""
    app.require_known_parameters()
    found, token = parts().samples.list(
        app.caller,
        deck_id,
        split=split,
        model=model,
        deck_version=deck_version,
        external_id=external_id,
        limit=limit,
        next_token=next_token,
    )
    return SampleList(samples=[_on_wire(sample) for sample in found], next_token=token)


@app.get("/api/v1/decks/<deck_id>/samples/<sample_id>", tags=["decks"])
def read_sample(deck_id: str, sample_id: str) -> SampleResponse:
    """Return one sample with its texts."""
    whole = parts().samples.get(app.caller, deck_id, sample_id)
    return SampleResponse(sample=_on_wire(whole.sample, whole.texts))


@app.delete("/api/v1/decks/<deck_id>/samples/<sample_id>", status_code=204, tags=["decks"])
def delete_sample(deck_id: str, sample_id: str) -> None:
    """Delete a sample with its texts and what was said of it."""
    parts().samples.delete(app.caller, deck_id, sample_id)


def _on_wire(sample: Sample, texts: SampleTexts | None = None) -> WireSample:
    shown = {} if texts is None else texts.model_dump()
    return WireSample.model_validate({**sample.model_dump(), "collection": sample.came_by, **shown})


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
