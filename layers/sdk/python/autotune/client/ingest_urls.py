"""``client.decks.ingest_urls``: addresses that take samples and decks without a signature."""

from datetime import datetime
from typing import ClassVar, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import AsyncResource, ListMethod, Method, Resource
from autotune.client.calls import Call, CallOptions, Listing, call, listing, returning
from autotune.client.filters import with_zone
from autotune.protocol import ingest_urls as wire
from autotune.protocol.deck_samples import Collection

_created = returning(wire.CreateIngestUrlResponse)
_ingest_url = returning(wire.IngestUrlResponse, lambda answer: answer.ingest_url)
_ingest_urls = returning(wire.IngestUrlList, lambda page: (page.ingest_urls, page.next_token))


def create_ingest_url(
    *,
    name: str,
    deck_id: str | None = None,
    collection: Collection | None = None,
    expires_at: datetime | None = None,
    **options: Unpack[CallOptions],
) -> Call[wire.CreateIngestUrlResponse]:
    """Make an address that takes samples and decks from plain HTTP; it is in the answer, this once.

    Below it are ``/samples`` and ``/decks``.

    Args:
        deck_id: the deck that all samples are of; without it each finds its own by its system
            prompt, and decks may be made.
        collection: how samples are said to have come; ``telemetry`` without it.
        expires_at: when it stops answering, local time without a zone; without it, once it is
            revoked.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: there is no such deck in this organisation, or the expiry has passed.
        ConflictError: the organisation has 100 that are not revoked.
    """
    request = request_of(
        wire.CreateIngestUrlRequest,
        name=name,
        deck_id=deck_id,
        collection=collection,
        expires_at=with_zone(expires_at),
    )
    return call("POST", "ingest-urls", read=_created, body=request, **options)


def list_ingest_urls(
    *, page_size: int | None = None, **options: Unpack[CallOptions]
) -> Listing[wire.IngestUrl]:
    """Walk through the organisation's ingest URLs, revoked ones included, without what lets in.

    Args:
        page_size: ingest URLs fetched at a time, 1 to 200.
    """
    return listing("ingest-urls", read=_ingest_urls, page_size=page_size, **options)


def get_ingest_url(ingest_url_id: str, **options: Unpack[CallOptions]) -> Call[wire.IngestUrl]:
    """Read one ingest URL, without what lets in.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("GET", "ingest-urls", ingest_url_id, read=_ingest_url, **options)


def revoke_ingest_url(ingest_url_id: str, **options: Unpack[CallOptions]) -> Call[wire.IngestUrl]:
    """Revoke an ingest URL, at once and for good; what came by it stays.

    Raises:
        NotFoundError: there is none in this organisation.
    """
    return call("DELETE", "ingest-urls", ingest_url_id, read=_ingest_url, **options)


class IngestUrlMethods:
    """Methods of ingest URLs."""

    _place: ClassVar = "decks.ingest_urls"

    create = Method(create_ingest_url)
    list = ListMethod(list_ingest_urls)
    get = Method(get_ingest_url)
    revoke = Method(revoke_ingest_url)


class IngestUrls(IngestUrlMethods, Resource):
    """Ingest URLs, blocking."""


class AsyncIngestUrls(IngestUrlMethods, AsyncResource):
    """Ingest URLs, for an event loop."""
