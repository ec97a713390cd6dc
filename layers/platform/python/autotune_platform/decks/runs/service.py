"""What callers ask of runs: what one would cost, starting, reading and canceling."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.protocol import deck_runs as wire
from autotune.protocol.deck_proposals import DeckProposal, RefusedGrader
from autotune.protocol.ids import new_id
from autotune.protocol.types import RequestModel
from autotune_platform.access.models import Caller
from autotune_platform.decks.models import Deck
from autotune_platform.decks.proposing.models import RunProposal
from autotune_platform.decks.repository import DeckRepository
from autotune_platform.decks.runs.choosing import Chosen, RunChoosing
from autotune_platform.decks.runs.estimating import Estimate, RunEstimating
from autotune_platform.decks.runs.models import Judged, Run
from autotune_platform.decks.runs.repository import RunRepository
from autotune_platform.decks.runs.starting import START_WITHIN, cancel_run, start_run
from autotune_platform.decks.runs.wire import counts_on_wire
from autotune_platform.decks.service import DeckService
from autotune_platform.judging.rubric.neutralising import neutralised
from autotune_platform.ledger.ordering import RowOrders
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ConflictError,
    IdempotencyKeyReusedError,
    UnavailableError,
)
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part


@dataclass(frozen=True)
class StartedRun:
    """A run, and whether an earlier request with the same idempotency key started it."""

    run: wire.DeckRun
    replayed: bool


@part
class RunService:
    """Manages the runs of an organisation's decks."""

    decks: DeckService
    deck_repository: DeckRepository
    repository: RunRepository
    choosing: RunChoosing
    estimating: RunEstimating
    orders: RowOrders
    executions: Executions
    clock: Clock = SYSTEM_CLOCK

    def estimate(
        self, caller: Caller, deck_id: str, request: wire.StartDeckRunRequest
    ) -> wire.DeckEstimate:
        """Return what a run would cost; nothing is stored or asked.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: a grader or sample is none of the deck's, or may not be used so.
            ConflictError: there is no grader, or no sample, to judge.
        """
        deck = self.decks.require(caller, deck_id)
        chosen = self.choosing.choose(deck, request)
        return self.estimate_of(caller, deck, chosen, repeat=request.repeat)

    def estimate_of(
        self, caller: Caller, deck: Deck, chosen: Chosen, *, repeat: bool = False
    ) -> wire.DeckEstimate:
        """Return what judging would cost.

        Raises:
            InvalidRequestError: a judge's connection is revoked, or its model has no price.
        """
        estimate = self._estimate(caller, deck, chosen, repeat=repeat)
        room = self.orders.money.room(caller.organization_id)
        return wire.DeckEstimate(
            samples=len(chosen.samples),
            requests=sum(one.requests for one in estimate.graders),
            known=sum(one.known for one in estimate.graders),
            estimate_nano_usd=estimate.estimate,
            bound_nano_usd=estimate.bound,
            fits=room is None or estimate.bound <= room,
            graders=list(estimate.graders),
        )

    def start(
        self,
        caller: Caller,
        deck_id: str,
        request: wire.StartDeckRunRequest,
        *,
        idempotency_key: str | None,
    ) -> StartedRun:
        """Store a run and start it; if the start fails, the sweeper starts it soon.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
            InvalidRequestError: a grader or sample is none of the deck's, or may not be used so.
            IdempotencyKeyReusedError: the key was used before with another body.
            ConflictError: there is no grader, or no sample, to judge; or a version is at work in
                another run.
            TooManyEntitiesError: the organisation has as many runs under way as it may.
            UnavailableError: the same request is in progress, or a store refused work.
        """
        deck = self.decks.require(caller, deck_id)
        if deck.status == "archived":
            raise ConflictError("the deck is archived; make it active first")
        fingerprint = fingerprint_of(request)
        before = self.before(deck_id, fingerprint, idempotency_key)
        if before is not None:
            return StartedRun(on_wire(before), replayed=True)
        chosen = self.choosing.choose(deck, request)
        run = self.new_run(
            caller,
            deck,
            chosen,
            kind="grade",
            repeat=request.repeat,
            split=request.split,
            deck_version=request.deck_version,
            prompt_edit_id=request.prompt_edit_id,
            cap=request.cap_nano_usd,
            fingerprint=fingerprint,
        )
        self.add(run, [one.id for one in chosen.samples], idempotency_key=idempotency_key)
        return StartedRun(on_wire(run), replayed=False)

    def new_run(
        self,
        caller: Caller,
        deck: Deck,
        chosen: Chosen,
        *,
        kind: wire.DeckRunKind,
        repeat: bool = False,
        split: str | None = None,
        deck_version: int | None = None,
        prompt_edit_id: str | None = None,
        cap: int | None = None,
        fingerprint: str = "",
    ) -> Run:
        """Return a run that is not stored; its cap is its bound, or less.

        An answer that was paid for and never came is asked for once more, which the bound does not
        hold: it is within the cap, and so it is kept.

        Raises:
            InvalidRequestError: a judge's connection is revoked, or its model has no price.
        """
        estimate = self._estimate(caller, deck, chosen, repeat=repeat)
        now = self.clock.now()
        return Run.model_validate(
            {
                "id": new_id("drn"),
                "organization_id": deck.organization_id,
                "deck_id": deck.id,
                "kind": kind,
                "graders": [
                    Judged(
                        grader_id=one.grader_id,
                        version=one.version,
                        again_by=chosen.again_by.get(one.version),
                    )
                    for one in chosen.versions
                ],
                "split": split,
                "deck_version": deck_version,
                "judged_edit_id": prompt_edit_id,
                "repeat": repeat,
                "samples": len(chosen.samples),
                "estimate": estimate.estimate,
                "bound": estimate.bound,
                "cap": estimate.bound if cap is None else min(cap, estimate.bound),
                "fingerprint": fingerprint,
                "looked_at": now,
                "due_at": now + START_WITHIN,
                "created_at": now,
                "created_by": caller.principal_id,
            }
        )

    def add(self, run: Run, sample_ids: Sequence[str], *, idempotency_key: str | None) -> None:
        """Store a run and start it.

        Raises:
            ConflictError: a version is at work in another run, or the deck was deleted.
            TooManyEntitiesError: the organisation has as many runs under way as it may.
            UnavailableError: the same request is in progress, or a store refused work.
        """
        if not self.repository.add(run, sample_ids, idempotency_key=idempotency_key):
            raise UnavailableError("the same request is in progress", retry_after_seconds=1)
        start_run(self.executions, run)

    def get(self, caller: Caller, deck_id: str, run_id: str) -> wire.DeckRun:
        """Return a run of a deck.

        Raises:
            NotFoundError: there is no such deck or run, or it is another organisation's.
        """
        self.decks.require(caller, deck_id)
        return on_wire(self.repository.require(deck_id, run_id))

    def page(
        self, caller: Caller, deck_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[wire.DeckRun], str | None]:
        """Return a page of a deck's runs, newest first.

        Raises:
            NotFoundError: there is no such deck, or it is another organisation's.
        """
        self.decks.require(caller, deck_id)
        found, token = self.repository.page(deck_id, limit=limit, next_token=next_token)
        return [on_wire(one) for one in found], token

    def cancel(self, caller: Caller, deck_id: str, run_id: str) -> wire.DeckRun:
        """Have a run begin nothing more, and cancel what waits; one that has ended stays so.

        What is being asked may be paid, and its results are stored. The run is ``canceled`` once
        nothing of it is under way.

        Raises:
            NotFoundError: there is no such deck or run, or it is another organisation's.
        """
        self.decks.require(caller, deck_id)
        run = self.repository.require(deck_id, run_id)
        while run.is_open and run.cancel_requested_at is None:
            cancel_run(self.repository, self.executions, run, self.clock.now())
            run = self.repository.require(deck_id, run_id)
        return on_wire(run)

    def before(self, deck_id: str, fingerprint: str, idempotency_key: str | None) -> Run | None:
        """Return the run that was started with a key, and start it where that was lost.

        Raises:
            IdempotencyKeyReusedError: the key was used before with another body.
        """
        if idempotency_key is None:
            return None
        run_id = self.repository.known(deck_id, idempotency_key)
        before = None if run_id is None else self.repository.get(deck_id, run_id)
        if before is None:
            return None
        if before.fingerprint != fingerprint:
            raise IdempotencyKeyReusedError("this Idempotency-Key came before with another body")
        if before.is_open and before.revision == 1:
            start_run(self.executions, before)
        return before

    def _estimate(self, caller: Caller, deck: Deck, chosen: Chosen, *, repeat: bool) -> Estimate:
        versions = sorted({one.deck_version for one in chosen.samples})
        prompts = self.deck_repository.prompts(deck.id, versions)
        sizes = {version: len(neutralised(text).encode()) for version, text in prompts.items()}
        return self.estimating.estimate(caller, chosen, repeat=repeat, prompts=sizes)


def on_wire(run: Run) -> wire.DeckRun:
    """Return a run as callers see it."""
    counts = run.counts
    repeated = None
    if run.repeat:
        repeated = wire.Repeatability(
            compared=counts.compared, same=counts.same, within_one=counts.within_one
        )
    return wire.DeckRun(
        id=run.id,
        deck_id=run.deck_id,
        kind=run.kind,
        status=run.status,
        graders=[
            wire.RunGrader(grader_id=one.grader_id, version=one.version)
            for one in run.graders
            if run.kind != "generate"
        ],
        split=run.split,
        deck_version=run.deck_version,
        repeat=run.repeat,
        samples=run.samples,
        counts=counts_on_wire(run),
        estimate_nano_usd=run.estimate,
        bound_nano_usd=run.bound,
        cost_nano_usd=run.spent,
        reserved_nano_usd=run.reserved,
        cap_nano_usd=run.cap,
        repeatability=repeated,
        stopped_because=run.stopped_because,
        waiting_because=run.waiting_because,
        cancel_requested_at=run.cancel_requested_at,
        created_at=run.created_at,
        created_by=run.created_by,
        ended_at=run.ended_at,
        prompt_edit_id=run.prompt_edit_id or run.judged_edit_id,
        proposal=None if run.proposal is None else _proposal_on_wire(run.proposal),
    )


def _proposal_on_wire(proposal: RunProposal) -> DeckProposal:
    return DeckProposal(
        deck_version=proposal.deck_version,
        model=proposal.proposer.model,
        repairs=proposal.repairs,
        grader_ids=list(proposal.grader_ids),
        refused=[RefusedGrader(name=one.name, faults=list(one.faults)) for one in proposal.refused],
    )


def fingerprint_of(request: RequestModel) -> str:
    """Return the digest by which two requests are the same."""
    document = json.dumps(request.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(document.encode()).hexdigest()
