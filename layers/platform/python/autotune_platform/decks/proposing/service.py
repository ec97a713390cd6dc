"""What callers ask of proposals: what one would cost, and starting one."""

from collections.abc import Mapping
from typing import Any

from autotune.protocol.deck_creation import CreateProposedDeckRequest
from autotune.protocol.deck_proposals import ProposalEstimate, ProposeGradersRequest
from autotune.protocol.deck_runs import DeckRun
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_DECK_GRADERS
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.decks.models import Deck, WholeDeck
from autotune_platform.decks.proposing.asking import ProposalAsking
from autotune_platform.decks.proposing.models import RunProposal
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.runs.models import Run
from autotune_platform.decks.runs.service import RunService, StartedRun, fingerprint_of, on_wire
from autotune_platform.decks.runs.starting import START_WITHIN
from autotune_platform.decks.service import DeckService
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    AutotuneError,
    ConflictError,
    NotFoundError,
    TooManyEntitiesError,
)
from autotune_platform.runtime.parts import part


@part
class ProposalService:
    """Has models propose graders of an organisation's decks."""

    decks: DeckService
    deck_repository: DeckRepository
    runs: RunService
    asking: ProposalAsking
    connections: UsableConnections
    clock: Clock = SYSTEM_CLOCK

    def estimate(
        self, caller: Caller, deck_id: str, request: ProposeGradersRequest
    ) -> ProposalEstimate:
        """Return what a proposal would cost; nothing is stored or asked.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: the model cannot be asked.
        """
        deck = self.decks.require(caller, deck_id)
        cost = self.asking.cost(caller, request.proposer, self._prompt(deck))
        room = self.asking.orders.money.room(caller.organization_id)
        return ProposalEstimate(
            estimate_nano_usd=cost.estimate,
            bound_nano_usd=cost.bound,
            fits=room is None or cost.bound <= room,
        )

    def create_deck(
        self, caller: Caller, request: CreateProposedDeckRequest
    ) -> tuple[WholeDeck, DeckRun | None]:
        """Make a deck, and have graders proposed where that is asked for, or make none.

        Raises:
            InvalidRequestError: the prompt has too many placeholders, the model cannot be asked, or
                the judge's connection is none that the organisation may use.
            TooManyEntitiesError: the organisation has as many decks as it may, as many versions
                with placeholders, or as many runs under way.
            UnavailableError: a store refused work.
        """
        asked = request.propose
        if asked is None:
            return self.decks.create(caller, request), None
        self.asking.cost(caller, asked.proposer, request.system_prompt)
        self._require_judge(caller, asked)
        deck = self.decks.create(caller, request)
        try:
            started = self.start(caller, deck.deck.id, asked, idempotency_key=None)
        except AutotuneError:
            # Who is refused knows of no deck, and asks for another.
            self.decks.delete(caller, deck.deck.id)
            raise
        return deck, started.run

    def start(
        self,
        caller: Caller,
        deck_id: str,
        request: ProposeGradersRequest,
        *,
        idempotency_key: str | None,
    ) -> StartedRun:
        """Store a run that proposes graders, and start it.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: the model cannot be asked, or the judge's connection is none that
                the organisation may use.
            IdempotencyKeyReusedError: the key was used before with another body.
            ConflictError: the deck is archived.
            TooManyEntitiesError: the deck has as many graders as it may, or the organisation as
                many runs under way.
            UnavailableError: the same request is in progress, or a store refused work.
        """
        deck = self.decks.require(caller, deck_id)
        if deck.status == "archived":
            raise ConflictError("the deck is archived; make it active first")
        fingerprint = fingerprint_of(request)
        before = self.runs.before(deck_id, fingerprint, idempotency_key)
        if before is not None:
            return StartedRun(on_wire(before), replayed=True)
        self._require_room(deck)
        self._require_judge(caller, request)
        cost = self.asking.cost(caller, request.proposer, self._prompt(deck))
        now = self.clock.now()
        cap = request.cap_nano_usd
        run: Mapping[str, Any] = {
            "id": new_id("drn"),
            "organization_id": deck.organization_id,
            "deck_id": deck.id,
            "kind": "propose",
            "graders": (),
            "samples": 0,
            "estimate": cost.estimate,
            "bound": cost.bound,
            "cap": cost.bound if cap is None else cap,
            "fingerprint": fingerprint,
            "looked_at": now,
            "due_at": now + START_WITHIN,
            "created_at": now,
            "created_by": caller.principal_id,
            "proposal": RunProposal(
                deck_version=deck.version, proposer=request.proposer, judge=request.judge
            ),
        }
        stored = Run.model_validate(run)
        self.runs.add(stored, [], idempotency_key=idempotency_key)
        return StartedRun(on_wire(stored), replayed=False)

    def _require_judge(self, caller: Caller, request: ProposeGradersRequest) -> None:
        if request.judge is not None:
            connection_id = request.judge.connection_id
            self.connections.require(
                caller.organization_id, connection_id, field="judge.connectionId"
            )

    def _prompt(self, deck: Deck) -> str:
        prompt = self.deck_repository.prompts(deck.id, [deck.version]).get(deck.version)
        if prompt is None:
            raise NotFoundError(f"no deck {deck.id}")
        return prompt

    def _require_room(self, deck: Deck) -> None:
        counts = self.deck_repository.counts([deck.id]).get(deck.id)
        if counts is not None and counts.graders >= MAX_DECK_GRADERS:
            raise TooManyEntitiesError(
                f"the deck has {MAX_DECK_GRADERS} graders; delete a proposed one first",
                limit=LimitProblem(
                    name="deckGraders",
                    maximum=MAX_DECK_GRADERS,
                    unit="graders",
                    actual=counts.graders,
                ),
            )
