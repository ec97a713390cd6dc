"""Takes samples and decks at ingest URLs. Its own function, because anybody may call it."""

from functools import cache
from typing import Annotated, Any

from aws_lambda_powertools.event_handler.openapi.params import Query

from autotune.protocol.deck_telemetry import MatchedSamples
from autotune.protocol.decks import DeckResponse
from autotune.protocol.limits import MAX_NAME_CHARACTERS
from autotune_platform.access.capabilities import bearer_of
from autotune_platform.access.models import Caller
from autotune_platform.decks.deck_wire import deck_on_wire
from autotune_platform.decks.ingest.models import IngestUrl
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import IdempotencyKey
from autotune_platform.runtime.environment.decks import SampleEnvironment
from autotune_platform.wiring.ingest import IngestParts

DeckName = Annotated[str | None, Query(alias="name", min_length=1, max_length=MAX_NAME_CHARACTERS)]


@cache
def parts() -> IngestParts:
    """Return what this process is put together from."""
    return IngestParts(SampleEnvironment.parse())


app = Api(parts, keyless=True)


@app.post("/i/<ingest_token>/samples", status_code=201, tags=["decks"])
def ingest_samples(ingest_token: str, idempotency_key: IdempotencyKey = None) -> MatchedSamples:
    """Take up to 100 samples: JSON of one or several, or a line of JSON for each."""
    _, ingest_url = _admitted(ingest_token)
    return parts().ingest_receiver.take_samples(
        ingest_url, app.signed_request.body, idempotency_key=idempotency_key
    )


@app.post("/i/<ingest_token>/decks", status_code=201, tags=["decks"])
def ingest_deck(
    ingest_token: str, name: DeckName = None, idempotency_key: IdempotencyKey = None
) -> DeckResponse:
    """Make a deck: of JSON as for ``POST /decks``, or of a prompt as text/markdown and its name."""
    caller, ingest_url = _admitted(ingest_token)
    media_type = app.signed_request.headers.get("content-type", "").partition(";")[0].strip()
    deck = parts().ingest_receiver.make_deck(
        caller,
        ingest_url,
        app.signed_request.body,
        is_text=media_type.lower() in ("text/markdown", "text/plain"),
        name=name,
        idempotency_key=idempotency_key,
    )
    app.made(deck_id=deck.deck.id)
    return DeckResponse(deck=deck_on_wire(deck))


def _admitted(ingest_token: str) -> tuple[Caller, IngestUrl]:
    ingest_url = parts().ingest_urls.prove(ingest_token)
    # From here on the organisation is known, and its audit log may show who uses its URL.
    app.acts_for(ingest_url.organization_id, principal_id=ingest_url.id, is_outsider=False)
    parts().ingest_urls.require_active(ingest_url)
    return parts().access.admit(bearer_of(ingest_url)), ingest_url


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
