"""Ingest URLs: making, listing and revoking them."""

from functools import cache
from typing import Any

from autotune.protocol.ingest_urls import (
    CreateIngestUrlRequest,
    CreateIngestUrlResponse,
    IngestUrlList,
    IngestUrlResponse,
)
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.decks import IngestUrlEnvironment
from autotune_platform.wiring.ingest import IngestUrlApiParts


@cache
def parts() -> IngestUrlApiParts:
    """Return what this process is put together from."""
    return IngestUrlApiParts(IngestUrlEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/ingest-urls", status_code=201, tags=["decks"])
def create_ingest_url(body: CreateIngestUrlRequest) -> CreateIngestUrlResponse:
    """Make an address that takes samples and decks without a signature; it is shown this once.

    Below it are ``/samples`` and ``/decks``.
    """
    made, token = parts().ingest_urls.create(app.caller, body)
    app.made(ingest_url_id=made.id)
    return CreateIngestUrlResponse(
        ingest_url=parts().ingest_urls.on_wire(made),
        url=f"{parts().environment.api_url}/i/{token}",
    )


@app.get("/api/v1/ingest-urls", tags=["decks"])
def list_ingest_urls(limit: PageSize = 50, next_token: NextToken = None) -> IngestUrlList:
    """List the organisation's ingest URLs, oldest first, those that were revoked too."""
    urls = parts().ingest_urls
    found, token = urls.list(app.caller, limit=limit, next_token=next_token)
    return IngestUrlList(ingest_urls=[urls.on_wire(one) for one in found], next_token=token)


@app.get("/api/v1/ingest-urls/<ingest_url_id>", tags=["decks"])
def read_ingest_url(ingest_url_id: str) -> IngestUrlResponse:
    """Return one ingest URL, without what lets in."""
    urls = parts().ingest_urls
    return IngestUrlResponse(ingest_url=urls.on_wire(urls.get(app.caller, ingest_url_id)))


@app.delete("/api/v1/ingest-urls/<ingest_url_id>", tags=["decks"])
def revoke_ingest_url(ingest_url_id: str) -> IngestUrlResponse:
    """Revoke an ingest URL at once and for good; what came by it stays."""
    urls = parts().ingest_urls
    return IngestUrlResponse(ingest_url=urls.on_wire(urls.revoke(app.caller, ingest_url_id)))


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
