"""Taking in captured calls: each becomes a sample of the deck whose prompt it has, or is counted.

A call is taken in once, however often it is handed over. What becomes of it is decided once, too,
and written down before it is stored: who is killed in between goes on with the same deck.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from autotune.protocol.deck_samples import NewSample
from autotune.protocol.limits import MAX_DECK_PROMPT_CHARACTERS
from autotune_platform.decks.conversion import FaultySampleError, conversation_of
from autotune_platform.decks.prompts import prompt_hash
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.telemetry.matching import Match, NoMatch, PromptMatcher
from autotune_platform.decks.telemetry.models import Asked, Exchange, Receipt, Taken
from autotune_platform.decks.telemetry.receipts import Receipts
from autotune_platform.decks.telemetry.storing import (
    ExchangeStore,
    sample_id_of,
)
from autotune_platform.decks.telemetry.unmatched import UnmatchedPrompts
from autotune_platform.http.problems import invalid_request
from autotune_platform.judging.rubric.system_prompts import normalized
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.parts import part

__all__ = ["Taken", "TelemetryIntake"]

NO_PROMPT = "a system or developer message, by which its deck is found"
_EXPIRED = "a call that has not expired"
_ROOM = "a deck with room for a further sample"
_THERE = "a deck that was not deleted meanwhile"


@part
class TelemetryIntake:
    """Takes in captured calls of all organisations."""

    decks: DeckRepository
    matcher: PromptMatcher
    store: ExchangeStore
    receipts: Receipts
    unmatched: UnmatchedPrompts
    clock: Clock = SYSTEM_CLOCK

    def take(
        self,
        organization_id: str,
        *,
        source_id: str,
        deck_id: str | None,
        request: Mapping[str, Any],
        response: Mapping[str, Any],
        asked: Asked | None = None,
        provider: str | None,
        model: str | None,
        metadata: Mapping[str, str],
        group_key: str | None = None,
        captured_at: datetime,
        expires_at: datetime | None,
    ) -> Taken:
        """Make a sample of a call, or count it under a prompt that no deck has.

        Args:
            source_id: the same for the same call, such as the id of its row.
            deck_id: the deck that it is to be of; the deck with its system prompt without one, or
                where that one is archived, deleted or another organisation's.
            request: a request for a chat completion, as OpenAI has it; so with ``response``.
            asked: how it was asked, if ``request`` was changed since. Its deck is found by that.
            group_key: what its group goes by, if not by how the conversation began.
            expires_at: when what is kept of it is erased; None for never.

        Raises:
            UnavailableError: a store is busy; handing the call over again is safe.
        """
        try:
            given = NewSample(
                request=dict(request),
                response=dict(response),
                provider=provider,
                model=model,
                metadata=dict(metadata),
                group_key=group_key,
                requested_at=captured_at,
            )
        except ValidationError as error:
            return Taken(fault=invalid_request(error.errors()).detail)
        exchange = Exchange(
            organization_id=organization_id,
            source_id=source_id,
            given=given,
            captured_at=captured_at,
            expires_at=expires_at,
        )
        return self.take_in(exchange, deck_id=deck_id, asked=asked)

    def take_in(
        self, exchange: Exchange, *, deck_id: str | None, asked: Asked | None = None
    ) -> Taken:
        """Make a sample of a call, or count it; see ``take``.

        Raises:
            UnavailableError: a store is busy; handing the call over again is safe.
        """
        receipt = self.receipts.read(exchange.organization_id, exchange.source_id)
        if receipt is None:
            receipt = self._decide(exchange, deck_id, asked.prompt if asked else None)
        if not receipt.done:
            receipt = self._store(receipt, exchange, asked)
        return receipt.taken

    def _decide(self, exchange: Exchange, deck_id: str | None, asked: str | None) -> Receipt:
        """Return what becomes of a call; where it is no sample, that has happened."""
        now = self.clock.now()
        organization_id = exchange.organization_id
        refused = Receipt(organization_id=organization_id, done=True)
        if exchange.expires_at is not None and exchange.expires_at <= now:
            return refused.model_copy(update={"fault": _EXPIRED})
        try:
            text = conversation_of(exchange.given).instructions
        except FaultySampleError as error:
            return refused.model_copy(update={"fault": str(error)})
        found = self._found(organization_id, deck_id, text, asked)
        if isinstance(found, Match):
            decided = Receipt(
                organization_id=organization_id,
                sample_id=sample_id_of(exchange),
                deck_id=found.deck.id,
                deck_version=found.version,
            )
            return self.receipts.write(decided, exchange.source_id, now)
        if text is None or not normalized(text):
            return refused.model_copy(update={"fault": NO_PROMPT})
        if len(text) > MAX_DECK_PROMPT_CHARACTERS:
            expected = f"a system prompt of at most {MAX_DECK_PROMPT_CHARACTERS} characters"
            return refused.model_copy(update={"fault": expected})
        digest = prompt_hash(organization_id, text)
        return self.unmatched.count(exchange, text, digest, tied=found.tied, now=now)

    def _found(
        self, organization_id: str, deck_id: str | None, text: str | None, asked: str | None
    ) -> Match | NoMatch:
        # As it was asked first. A deck made of what is kept has the other.
        texts = [one for one in (asked, text) if one is not None and normalized(one)]
        if deck_id is not None:
            deck = self.decks.usable(organization_id, [deck_id]).get(deck_id)
            if deck is not None:
                return Match(deck, self.matcher.version_in(deck, *texts))
        found: Match | NoMatch = NoMatch()
        for one in texts:
            found = self.matcher.match(organization_id, one)
            if isinstance(found, Match) or found.tied:
                break
        return found

    def _store(self, receipt: Receipt, exchange: Exchange, asked: Asked | None) -> Receipt:
        """Store a call as the sample that was decided on; return what became of it."""
        sample_id, fault = None, None
        try:
            deck = self.decks.get_of(receipt.organization_id, receipt.deck_id or "")
            sample_id = self.store.store(
                deck,
                receipt.deck_version or deck.version,
                exchange,
                sample_id=receipt.sample_id or sample_id_of(exchange),
                redact=asked.redact if asked else None,
            )
            fault = _ROOM if sample_id is None else None
        except NotFoundError:
            fault = _THERE
        except FaultySampleError as error:
            fault = str(error)
        kept = receipt.model_copy(update={"sample_id": sample_id, "fault": fault})
        return self.receipts.finish(kept, exchange.source_id)
