"""Prompts that no deck has, for people: listed, made a deck of, and dismissed."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from autotune.protocol.deck_telemetry import AdoptPromptRequest
from autotune.protocol.decks import CreateDeckRequest
from autotune.protocol.ids import is_id, timed_id
from autotune.protocol.limits import DISMISSED_DAYS
from autotune_platform.access.models import Caller
from autotune_platform.decks.conversion import FaultySampleError
from autotune_platform.decks.models import Deck, WholeDeck
from autotune_platform.decks.prompt_index import PromptIndex
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.service import DeckService
from autotune_platform.decks.telemetry.models import Exchange, UnmatchedPrompt
from autotune_platform.decks.telemetry.storing import ExchangeStore, sample_id_of
from autotune_platform.decks.telemetry.unmatched import UnmatchedPrompts
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, NotFoundError
from autotune_platform.runtime.parts import part

_ADOPTED_FOR = timedelta(days=7)
"""For so long a repeated request finds the deck that was made of a prompt."""


@part
class UnmatchedService:
    """Keeps an organisation's unmatched prompts."""

    unmatched: UnmatchedPrompts
    index: PromptIndex
    decks: DeckService
    deck_repository: DeckRepository
    store: ExchangeStore
    clock: Clock = SYSTEM_CLOCK

    def list(self, caller: Caller) -> tuple[Sequence[UnmatchedPrompt], int]:
        """Return all prompts, those with most calls first, and how many calls had others."""
        organization_id = caller.organization_id
        prompts = self.unmatched.list(organization_id)
        return prompts, self.unmatched.passed_over(organization_id)

    def get(
        self, caller: Caller, unmatched_id: str
    ) -> tuple[UnmatchedPrompt, str, Sequence[Exchange]]:
        """Return a prompt, its text, and the calls that are kept with it.

        Raises:
            NotFoundError: there is none, or it is another organisation's, or not listed any more.
        """
        prompt = self._require(caller, unmatched_id)
        text = self.unmatched.text(unmatched_id)
        if not prompt.is_listed or text is None:
            raise _missing(unmatched_id)
        return prompt, text, self.unmatched.examples(unmatched_id, self.clock.now())

    def adopt(
        self, caller: Caller, unmatched_id: str, request: AdoptPromptRequest
    ) -> tuple[WholeDeck, Sequence[str]]:
        """Make a deck of a prompt, with samples of the calls that are kept with it.

        Whoever is killed in between makes the same deck and the same samples the next time.

        Returns:
            The deck, and the ids of its samples from these calls; none if they were taken before.

        Raises:
            NotFoundError: there is no such prompt, or the deck that was made of it was deleted.
            ConflictError: several decks have it.
            InvalidRequestError: the prompt has too many placeholders.
            TooManyEntitiesError: the organisation has as many decks as it may.
            UnavailableError: a store is busy; a repeat goes on.
        """
        prompt = self._require(caller, unmatched_id)
        if prompt.dismissed_at is not None:
            raise _missing(unmatched_id)
        if prompt.deck_id is not None:
            self.unmatched.unlist(prompt)
            return self.decks.get(caller, prompt.deck_id), []
        text = self.unmatched.text(unmatched_id)
        if text is None:
            raise _missing(unmatched_id)
        deck, version = self._deck_with(caller, prompt, text, request)
        now = self.clock.now()
        taken = self._take(deck, version, self.unmatched.examples(unmatched_id, now))
        changes = {"deck_id": deck.id, "keep_until": now + _ADOPTED_FOR}
        self.unmatched.mark(prompt, prompt.model_copy(update=changes))
        self.unmatched.unlist(prompt)
        return self.decks.get(caller, deck.id), taken

    def dismiss(self, caller: Caller, unmatched_id: str) -> None:
        """Erase a prompt's text and calls, and list it no more; again is fine.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            UnavailableError: the table is busy; a repeat goes on.
        """
        prompt = self._require(caller, unmatched_id)
        if prompt.dismissed_at is None:
            now = self.clock.now()
            changes = {"dismissed_at": now, "keep_until": now + timedelta(days=DISMISSED_DAYS)}
            self.unmatched.mark(prompt, prompt.model_copy(update=changes))
        self.unmatched.unlist(prompt)

    def _deck_with(
        self, caller: Caller, prompt: UnmatchedPrompt, text: str, request: AdoptPromptRequest
    ) -> tuple[Deck, int]:
        """Return the one deck that has a prompt, and the version; make it where there is none."""
        organization_id = prompt.organization_id
        found = self.index.with_hash(organization_id, prompt.prompt_hash)
        decks = self.deck_repository.usable(organization_id, [one.deck_id for one in found])
        having = [one for one in found if one.deck_id in decks]
        if len(having) > 1:
            named = " and ".join(one.deck_id for one in having[:2])
            raise ConflictError(f"decks {named} have this prompt; archive all of them but one")
        if having:
            return decks[having[0].deck_id], having[0].version
        made = self.decks.create(
            caller,
            CreateDeckRequest(
                name=request.name,
                description=request.description,
                system_prompt=text,
                holdout_share=request.holdout_share,
            ),
            deck_id=timed_id("dck", prompt.first_seen_at, 0, prompt.id),
        )
        return made.deck, 1

    def _take(self, deck: Deck, version: int, exchanges: Iterable[Exchange]) -> Sequence[str]:
        """Store calls as samples, as far as the deck has room."""
        taken = []
        for exchange in exchanges:
            own_id = sample_id_of(exchange)
            try:
                sample_id = self.store.store(deck, version, exchange, sample_id=own_id)
            except FaultySampleError:
                continue  # another sample has its external id
            if sample_id is None:
                break
            taken.append(sample_id)
        return taken

    def _require(self, caller: Caller, unmatched_id: str) -> UnmatchedPrompt:
        found = None
        if is_id("ump", unmatched_id):
            found = self.unmatched.get(caller.organization_id, unmatched_id)
        if found is None:
            raise _missing(unmatched_id)
        return found


def _missing(unmatched_id: str) -> NotFoundError:
    return NotFoundError(f"no unmatched prompt {unmatched_id}")
