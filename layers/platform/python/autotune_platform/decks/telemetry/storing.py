"""Making samples of captured calls."""

from autotune.protocol.ids import timed_id
from autotune_platform.decks.conversion import conversation_of
from autotune_platform.decks.external_ids import ExternalIdTakenError, require_same
from autotune_platform.decks.models import Deck
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.sample_making import SampleOrigin, made_sample
from autotune_platform.decks.sample_repository import SampleRepository, packed
from autotune_platform.decks.telemetry.models import Exchange
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part


@part
class ExchangeStore:
    """Stores captured calls as samples."""

    decks: DeckRepository
    samples: SampleRepository

    def store(
        self,
        deck: Deck,
        version: int,
        exchange: Exchange,
        *,
        sample_id: str,
    ) -> str | None:
        """Store a call as a sample of a deck, once; return the sample's id, None without room.

        One with an external id that the deck has is the sample that is there.

        Raises:
            FaultySampleError: it cannot be used as a sample.
            NotFoundError: the deck was deleted.
            UnavailableError: a store is busy; storing it again is safe.
        """
        origin = SampleOrigin(
            sample_id=sample_id,
            deck_version=version,
            prompt=self.decks.prompts(deck.id, [version]).get(version, ""),
            collection=exchange.collection,
            created_at=exchange.captured_at,
            expires_at=exchange.expires_at,
        )
        given = exchange.given
        made = packed(made_sample(deck, given, conversation_of(given), origin))
        for there in self.samples.external_ids.find(deck.id, [given.external_id]).values():
            require_same(there, made.identified, given)
            return there.sample.id
        try:
            stored = self.samples.add(deck.id, [made])
        except ExternalIdTakenError as error:
            raise UnavailableError(
                "another request brings the same externalId", retry_after_seconds=1
            ) from error
        return stored[0].id if stored else None


def sample_id_of(exchange: Exchange) -> str:
    """Return the id of the sample that is made of a call; it follows from call and time."""
    seed = f"{exchange.organization_id} {exchange.source_id}"
    return timed_id("smp", exchange.captured_at, 0, seed)
