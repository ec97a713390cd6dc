"""Creates, verifies and revokes ingest URLs: an id and 256 random bits, stored as a digest."""

from autotune.protocol import ingest_urls as wire
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_INGEST_URLS
from autotune_platform.access.capabilities import NewSecret, is_genuine, require_future, split
from autotune_platform.access.models import Caller
from autotune_platform.decks.ingest.models import IngestUrl
from autotune_platform.decks.ingest.repository import IngestUrlRepository
from autotune_platform.decks.service import DeckService
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import InvalidRequestError, NotFoundError
from autotune_platform.runtime.parts import part

_UNKNOWN = "no such ingest URL, or it was revoked or has expired"


@part
class IngestUrlService:
    """Manages an organisation's ingest URLs."""

    repository: IngestUrlRepository
    decks: DeckService
    clock: Clock = SYSTEM_CLOCK

    def create(self, caller: Caller, request: wire.CreateIngestUrlRequest) -> tuple[IngestUrl, str]:
        """Create an ingest URL; return it and its token, which cannot be read again.

        Raises:
            InvalidRequestError: the deck is not the organisation's, or the expiry has passed.
            TooManyEntitiesError: the organisation has as many as it may.
        """
        now = self.clock.now()
        require_future(request.expires_at, now)
        if request.deck_id is not None:
            try:
                self.decks.require(caller, request.deck_id)
            except NotFoundError as error:
                raise InvalidRequestError.of_field(
                    "deckId", "a deck of this organisation", detail="no such deck"
                ) from error
        secret = NewSecret()
        ingest_url = IngestUrl(
            id=new_id("igu"),
            organization_id=caller.organization_id,
            **secret.stored,
            created_at=now,
            created_by=caller.key_id,
            samples_are=request.collection,
            **request.model_dump(exclude={"collection"}),
        )
        self.repository.add(ingest_url, at_most=MAX_INGEST_URLS)
        return ingest_url, secret.text(ingest_url.id)

    def get(self, caller: Caller, ingest_url_id: str) -> IngestUrl:
        """Return an ingest URL of the caller's organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.get_of(caller.organization_id, ingest_url_id)

    def list(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[IngestUrl], str | None]:
        """Return a page of the organisation's ingest URLs, oldest first."""
        return self.repository.list(caller.organization_id, limit=limit, next_token=next_token)

    def revoke(self, caller: Caller, ingest_url_id: str) -> IngestUrl:
        """Revoke an ingest URL, at once and for good; revoking it again changes nothing.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.revoke(caller.organization_id, ingest_url_id)

    def on_wire(self, ingest_url: IngestUrl) -> wire.IngestUrl:
        """Return an ingest URL without its secret, with its state now."""
        state = ingest_url.state_at(self.clock.now())
        shown = {**ingest_url.model_dump(), "collection": ingest_url.samples_are}
        return wire.IngestUrl.model_validate({**shown, "state": state})

    def prove(self, token: str) -> IngestUrl:
        """Return the ingest URL of a token, also one that was revoked or has expired.

        Raises:
            NotFoundError: the token is not genuine. All such get the same error.
        """
        sent = split("igu", token)
        if sent is None:
            raise NotFoundError(_UNKNOWN)
        ingest_url_id, digits = sent
        # The item is read each time, strongly consistent: what is revoked lets nobody in any more.
        found = self.repository.get(ingest_url_id)
        if not is_genuine(found, digits) or found is None:
            raise NotFoundError(_UNKNOWN)
        return found

    def require_active(self, ingest_url: IngestUrl) -> None:
        """Require that an ingest URL is active.

        Raises:
            NotFoundError: it was revoked or has expired. The error is that of an unknown token.
        """
        if ingest_url.state_at(self.clock.now()) != "active":
            raise NotFoundError(_UNKNOWN)
