"""Making samples of captured calls."""

from pydantic import ValidationError

from autotune.protocol.deck_samples import Collection, NewSample
from autotune.protocol.ids import timed_id
from autotune_platform.decks.conversion import Conversation, FaultySampleError, conversation_of
from autotune_platform.decks.models import Deck
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.sample_making import SampleOrigin, made_sample
from autotune_platform.decks.sample_repository import SampleRepository, packed
from autotune_platform.decks.telemetry.models import Exchange
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
        collection: Collection = "telemetry",
    ) -> str | None:
        """Store a call as a sample of a deck, once; return the sample's id, None without room.

        Raises:
            FaultySampleError: it cannot be used as a sample.
            NotFoundError: the deck was deleted.
            UnavailableError: a store is busy; storing it again is safe.
        """
        given, conversation = conversation_in(exchange)
        origin = SampleOrigin(
            sample_id=sample_id_of(exchange),
            deck_version=version,
            prompt=self.decks.prompts(deck.id, [version]).get(version, ""),
            collection=collection,
            created_at=exchange.captured_at,
            expires_at=exchange.expires_at,
        )
        whole = packed(made_sample(deck, given, conversation, origin))
        stored = self.samples.add(deck.id, [whole])
        return stored[0].id if stored else None


def sample_id_of(exchange: Exchange) -> str:
    """Return the id of the sample that is made of a call, always the same."""
    seed = f"{exchange.organization_id} {exchange.source_id}"
    return timed_id("smp", exchange.captured_at, 0, seed)


def conversation_in(exchange: Exchange) -> tuple[NewSample, Conversation]:
    """Return a call as a sample that somebody gives, and the conversation in it.

    Raises:
        FaultySampleError: it cannot be used as one.
    """
    try:
        given = NewSample(
            request=dict(exchange.request),
            response=dict(exchange.response),
            provider=exchange.provider,
            model=exchange.model,
            metadata=dict(exchange.metadata),
            requested_at=exchange.captured_at,
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(place) for place in first["loc"])
        raise FaultySampleError(field, str(first["msg"])) from error
    return given, conversation_of(given)
