"""Edits that a model proposes: disagreements are named, names become patterns, patterns patches.

An execution goes on with a proposal as the ledger answers, and whoever reads it does as well.
"""

import json

from autotune.protocol import deck_edit_proposals as wire
from autotune.protocol.ids import new_id
from autotune_platform.access.models import Caller
from autotune_platform.decks.fixing.advancing import ProposalAdvancing
from autotune_platform.decks.fixing.estimating import ProposalEstimating
from autotune_platform.decks.fixing.proposals import Proposal, ProposalRepository
from autotune_platform.decks.fixing.showing import EditShowing
from autotune_platform.decks.labels.graders import LabelledGraders
from autotune_platform.decks.models import DeckGrader
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part


@part
class EditProposing:
    """Has models propose edits of graders."""

    graders: LabelledGraders
    proposals: ProposalRepository
    showing: EditShowing
    estimating: ProposalEstimating
    advancing: ProposalAdvancing
    executions: Executions
    clock: Clock = SYSTEM_CLOCK

    def start(
        self, caller: Caller, deck_id: str, grader_id: str, request: wire.ProposeEditsRequest
    ) -> wire.EditProposal:
        """Have a model propose edits of a grader's current version.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: the model cannot be asked, or not within the cap.
            ConflictError: a proposal is under way, there is no disagreement, or it changed at the
                same time.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        before = self.proposals.get(deck_id, grader_id)
        if before is not None and before.is_open:
            raise ConflictError(f"proposal {before.number} of this grader is under way")
        proposal = self._new(caller, grader, before, request, cap=request.cap_nano_usd)
        questions, rows = self.estimating.naming(proposal)
        bound = sum(one.most for one in questions)
        if bound > request.cap_nano_usd:
            raise InvalidRequestError.of_field(
                "capNanoUsd", f"at least {bound}, what naming the disagreements costs at most"
            )
        asking = Proposal.model_validate(
            {**proposal.model_dump(), **proposal.asking(questions, rows)}
        )
        # The execution comes first: whoever is killed behind it leaves one that finds nothing, and
        # not a proposal that nobody goes on with.
        self._start(asking)
        if not self.proposals.store(before, asking):
            raise ConflictError("another proposal of this grader began at the same time")
        return _on_wire(self.advancing.gone_on(asking, grader))

    def estimate(
        self,
        caller: Caller,
        deck_id: str,
        grader_id: str,
        request: wire.EstimateEditProposalRequest,
    ) -> wire.EditProposalEstimate:
        """Return what it would cost to have a model propose edits; nothing is stored.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
            InvalidRequestError: the model cannot be asked.
            ConflictError: there is no disagreement.
        """
        grader = self.graders.require(caller, deck_id, grader_id)
        before = self.proposals.get(deck_id, grader_id)
        return self.estimating.estimate(self._new(caller, grader, before, request, cap=0))

    def cancel(self, caller: Caller, deck_id: str, grader_id: str) -> wire.EditProposal | None:
        """Have the latest proposal of a grader ask nothing more; one that has ended stays so.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
        """
        found = self._latest(caller, deck_id, grader_id)
        return _on_wire(self.advancing.request_cancel(*found)) if found else None

    def _new(
        self,
        caller: Caller,
        grader: DeckGrader,
        before: Proposal | None,
        request: wire.EstimateEditProposalRequest,
        *,
        cap: int,
    ) -> Proposal:
        shown = self.showing.widest(grader.deck_id, grader.id, grader.version, most=request.samples)
        if not shown:
            raise ConflictError("judge and people differ on no sample of the development half")
        return Proposal(
            organization_id=grader.organization_id,
            deck_id=grader.deck_id,
            grader_id=grader.id,
            number=1 if before is None else before.number + 1,
            base_version=grader.version,
            proposer=request.proposer,
            shown=shown,
            cap=cap,
            created_at=self.clock.now(),
            created_by=caller.principal_id,
        )

    def _start(self, proposal: Proposal) -> None:
        """Start what goes on with a proposal; if that fails, whoever reads it does."""
        document = {
            "deck_id": proposal.deck_id,
            "grader_id": proposal.grader_id,
            "proposal": proposal.number,
        }
        # Another request with this number has an execution of its own: both do the same.
        self.executions.try_start(new_id("edt"), json.dumps(document))

    def get(self, caller: Caller, deck_id: str, grader_id: str) -> wire.EditProposal | None:
        """Return the latest proposal of a grader, gone on with as far as it was answered.

        Raises:
            NotFoundError: there is no such deck or grader, or it is another organisation's.
        """
        found = self._latest(caller, deck_id, grader_id)
        return _on_wire(self.advancing.gone_on(*found)) if found else None

    def _latest(
        self, caller: Caller, deck_id: str, grader_id: str
    ) -> tuple[Proposal, DeckGrader] | None:
        """Return the latest proposal of a grader, with it; None where there is none."""
        grader = self.graders.require(caller, deck_id, grader_id)
        proposal = self.proposals.get(deck_id, grader_id)
        return None if proposal is None else (proposal, grader)


def _on_wire(proposal: Proposal) -> wire.EditProposal:
    return wire.EditProposal(
        grader_id=proposal.grader_id,
        number=proposal.number,
        base_version=proposal.base_version,
        status=proposal.status,
        failed_because=proposal.failed_because,
        shown=len(proposal.shown),
        patterns=[
            wire.FoundPattern(**one.pattern.model_dump(), sample_ids=list(one.sample_ids))
            for one in proposal.patterns
        ],
        edit_ids=list(proposal.edit_ids),
        refused=[wire.RefusedPatch(**one.model_dump()) for one in proposal.refused],
        unread=proposal.unread,
        cap_nano_usd=proposal.cap,
        cost_nano_usd=proposal.spent,
        cancel_requested_at=proposal.cancel_requested_at,
        created_at=proposal.created_at,
        created_by=proposal.created_by,
        ended_at=proposal.ended_at,
    )
