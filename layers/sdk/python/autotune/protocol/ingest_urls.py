"""Ingest URLs on the wire: they take decks and samples from programs that sign nothing."""

from typing import Literal

from autotune.protocol.deck_samples import Collection
from autotune.protocol.decks import DeckId
from autotune.protocol.types import Moment, Name, RequestModel, ResponseModel, Timestamp

IngestUrlState = Literal["active", "revoked", "expired"]


class CreateIngestUrlRequest(RequestModel):
    """An address at which anybody who knows it may hand over samples, and make decks.

    Attributes:
        deck_id: the deck that all samples are of; without it each finds its own by its system
            prompt, and decks may be made.
        collection: how samples are said to have come.
        expires_at: when it stops answering, in the future; without it, once it is revoked.
    """

    name: Name
    deck_id: DeckId | None = None
    collection: Collection = "telemetry"
    expires_at: Moment | None = None


class IngestUrl(ResponseModel):
    """An ingest URL, without the secret that stands in it.

    Attributes:
        ends_with: the last four characters of the secret.
        created_by: the key that made it.
    """

    id: str
    name: str
    deck_id: str | None = None
    collection: Collection
    state: IngestUrlState
    ends_with: str
    created_at: Timestamp
    created_by: str | None = None
    expires_at: Timestamp | None = None


class CreateIngestUrlResponse(ResponseModel):
    """``url`` is shown this once; below it are ``/samples`` and ``/decks``."""

    ingest_url: IngestUrl
    url: str


class IngestUrlResponse(ResponseModel):
    """One ingest URL."""

    ingest_url: IngestUrl


class IngestUrlList(ResponseModel):
    """A page of ingest URLs, oldest first, those that were revoked too."""

    ingest_urls: list[IngestUrl]
    next_token: str | None = None
