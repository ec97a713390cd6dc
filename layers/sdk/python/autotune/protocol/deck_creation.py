"""Making a deck on the wire, with graders that a model proposes at once if asked."""

from autotune.protocol import types
from autotune.protocol.deck_proposals import ProposeGradersRequest
from autotune.protocol.deck_runs import DeckRun
from autotune.protocol.decks import CreateDeckRequest, Deck


class CreateProposedDeckRequest(CreateDeckRequest):
    """What a deck is made from.

    Attributes:
        propose: a model that proposes graders from the prompt, at once; nobody without it.
    """

    propose: ProposeGradersRequest | None = None


class CreatedDeck(types.ResponseModel):
    """A deck that was made.

    Attributes:
        run: what proposes graders, where that was asked for.
    """

    deck: Deck
    run: DeckRun | None = None
