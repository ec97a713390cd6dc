"""Which graders people may rate samples for: what who only labels sees of decks."""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune_platform.access.models import Caller
from autotune_platform.decks.grader_repository import DeckGraderRepository
from autotune_platform.decks.models import Deck, DeckGrader
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.runtime.parts import part


@dataclass(frozen=True)
class Offer:
    """A grader, and the deck that it is of."""

    deck: Deck
    grader: DeckGrader


@part
class LabelOffers:
    """Lists graders of an organisation's decks."""

    decks: DeckRepository
    graders: DeckGraderRepository

    def page(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[Sequence[Offer], str | None]:
        """Return the graders of a page of decks, archived decks and retired graders left out.

        Args:
            limit: of decks, each of which is one query more.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        decks, token = self.decks.list(caller.organization_id, limit=limit, next_token=next_token)
        offers = [
            Offer(deck, grader)
            for deck in decks
            if deck.status != "archived"
            for grader in self.graders.list(deck.id)
            if grader.status != "retired"
        ]
        return offers, token
