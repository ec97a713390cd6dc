"""Decks as the API shows them."""

from autotune.protocol.decks import Deck as WireDeck
from autotune_platform.decks.models import WholeDeck


def deck_on_wire(whole: WholeDeck) -> WireDeck:
    """Return a deck with what is kept beside it."""
    return WireDeck.model_validate(
        {
            **whole.deck.model_dump(),
            **whole.counts.model_dump(),
            **whole.figures.model_dump(),
            "system_prompt": whole.prompt,
        }
    )
