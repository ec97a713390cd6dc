"""Which deck's prompt a text is: exactly, else as a template; nothing fuzzy.

All versions of a deck's prompt count, because what runs somewhere may be behind the current one.
Archived decks do not. Where two decks have a prompt equally well, none has it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autotune_platform.decks.models import Deck
from autotune_platform.decks.prompt_index import MOST_DECKS_OF_A_PROMPT, PromptIndex, Template
from autotune_platform.decks.prompts import prompt_hash
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.judging.rubric.system_prompts import has_normal_text, normalized
from autotune_platform.runtime.parts import part

TIED_AT_MOST = 10
"""So many decks are named of those that have a prompt equally well."""


@dataclass(frozen=True)
class Match:
    """A deck, and the version of it whose prompt a text is."""

    deck: Deck
    version: int


@dataclass(frozen=True)
class NoMatch:
    """No deck has a text as its prompt; ``tied`` are those that have it equally well."""

    tied: Sequence[str] = ()


@part
class PromptMatcher:
    """Finds the deck that a system prompt is of."""

    index: PromptIndex
    decks: DeckRepository

    def match(self, organization_id: str, text: str) -> Match | NoMatch:
        """Return the deck whose prompt a text is.

        It takes time in proportion to the text and to the organisation's templates.
        """
        exact = self.index.with_hash(organization_id, prompt_hash(organization_id, text))
        if len(exact) > MOST_DECKS_OF_A_PROMPT:
            return NoMatch([one.deck_id for one in exact[:TIED_AT_MOST]])
        if exact:
            decks = self.decks.usable(organization_id, [one.deck_id for one in exact])
            found = [one for one in exact if one.deck_id in decks]
            if len(found) == 1:
                return Match(decks[found[0].deck_id], found[0].version)
            if found:
                return NoMatch([one.deck_id for one in found[:TIED_AT_MOST]])
        return self._by_template(organization_id, text)

    def version_in(self, deck: Deck, *texts: str) -> int:
        """Return the version of a deck whose prompt one of these texts is, the first that is one.

        It is the current version where none is.
        """
        organization_id = deck.organization_id
        for text in texts:
            exact = self.index.with_hash(organization_id, prompt_hash(organization_id, text))
            for one in exact:
                if one.deck_id == deck.id:
                    return one.version
            templates = self.index.templates(organization_id)
            of_deck = [one for one in templates if one.deck_id == deck.id]
            if best := _best_of_each(_matching(of_deck, text)):
                return best[0].version
        return deck.version

    def _by_template(self, organization_id: str, text: str) -> Match | NoMatch:
        best = _best_of_each(_matching(self.index.templates(organization_id), text))
        decks = self.decks.usable(organization_id, [one.deck_id for one in best])
        usable = [one for one in best if one.deck_id in decks]
        if not usable:
            return NoMatch()
        most = max(one.literal_characters for one in usable)
        winners = [one for one in usable if one.literal_characters == most]
        if len(winners) > 1:
            return NoMatch([one.deck_id for one in winners[:TIED_AT_MOST]])
        return Match(decks[winners[0].deck_id], winners[0].version)


def _matching(templates: Iterable[Template], text: str) -> list[Template]:
    plain = normalized(text)
    return [one for one in templates if has_normal_text(one.prompt, plain)]


def _best_of_each(templates: Iterable[Template]) -> list[Template]:
    """Return of each deck the template with the most literal characters, the latest of equals."""
    best: dict[str, Template] = {}
    for one in templates:
        before = best.get(one.deck_id)
        if before is None or _rank(one) > _rank(before):
            best[one.deck_id] = one
    return list(best.values())


def _rank(template: Template) -> tuple[int, int]:
    return template.literal_characters, template.version
