"""Making samples of captured calls."""

from collections.abc import Callable

from autotune.protocol.ids import timed_id
from autotune_platform.decks.conversion import conversation_of
from autotune_platform.decks.external_ids import ExternalIdTakenError, require_same
from autotune_platform.decks.models import Deck
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.sample_making import SampleOrigin, made_sample
from autotune_platform.decks.sample_repository import SampleRepository, packed
from autotune_platform.decks.telemetry.models import Exchange
from autotune_platform.judging.rubric.system_prompts import is_written_under, placeholders
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
        redact: Callable[[str], str] | None = None,
    ) -> str | None:
        """Store a call as a sample of a deck, once; return the sample's id, None without room.

        One with an external id that the deck has is the sample that is there.

        Args:
            redact: what its texts were changed by.

        Raises:
            FaultySampleError: it cannot be used as a sample.
            NotFoundError: the deck was deleted.
            UnavailableError: a store is busy; storing it again is safe.
        """
        prompt = self.decks.prompts(deck.id, [version]).get(version, "")
        conversation = conversation_of(exchange.given)
        origin = SampleOrigin(
            sample_id=sample_id,
            deck_version=version,
            prompt=prompt,
            kept_prompt=_kept_prompt(prompt, conversation.instructions, redact),
            collection=exchange.collection,
            created_at=exchange.captured_at,
            expires_at=exchange.expires_at,
        )
        given = exchange.given
        made = packed(made_sample(deck, given, conversation, origin))
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


def _kept_prompt(
    prompt: str, instructions: str | None, redact: Callable[[str], str] | None
) -> str | None:
    """Return a deck's prompt redacted as a call was, where the call has that and not the prompt.

    What stands for placeholders is found in what is kept of the call, and never in what was asked:
    a pattern may find a name by the words before it, which are the prompt's.
    """
    if redact is None or instructions is None or is_written_under(prompt, instructions):
        return None
    kept = redact(prompt)
    is_whole = placeholders(kept) == placeholders(prompt)
    return kept if is_whole and is_written_under(kept, instructions) else None


def sample_id_of(exchange: Exchange) -> str:
    """Return the id of the sample that is made of a call; it follows from call and time."""
    seed = f"{exchange.organization_id} {exchange.source_id}"
    return timed_id("smp", exchange.captured_at, 0, seed)
