"""Events of edits: that one is measured, and that a model's proposal has ended."""

from typing import TYPE_CHECKING

from autotune.protocol.deck_events import DeckEditMeasured, DeckProposalCompleted
from autotune.protocol.ids import derived_id
from autotune_platform.decks.fixing.models import Edit
from autotune_platform.webhooks.models import Event

if TYPE_CHECKING:
    from autotune_platform.decks.fixing.proposals import Proposal


def edit_measured(edit: Edit) -> Event:
    """Return the event ``deck.edit.measured`` of an edit whose latest replay was measured."""
    effect = edit.effect if edit.split == "holdout" else None
    measured = effect or edit.trial
    assert measured is not None, "what is measured has a figure"
    assert edit.split is not None, "of one half"
    assert edit.run_id is not None, "by a replay"
    data = DeckEditMeasured(
        deck_id=edit.deck_id,
        grader_id=edit.grader_id,
        edit_id=edit.id,
        run_id=edit.run_id,
        split=edit.split,
        delta=measured.delta,
        look=None if effect is None else effect.look,
        outcome=None if effect is None else effect.outcome,
        measured_at=measured.measured_at,
    )
    return Event(
        id=derived_id("evt", "deck.edit.measured", edit.id, edit.run_id),
        type="deck.edit.measured",
        organization_id=edit.organization_id,
        occurred_at=measured.measured_at,
        data=data.model_dump(mode="json", by_alias=True),
    )


def proposal_completed(proposal: "Proposal") -> Event:
    """Return the event ``deck.proposal.completed`` of a proposal that has ended."""
    assert proposal.ended_at is not None, "what has ended says when"
    data = DeckProposalCompleted(
        deck_id=proposal.deck_id,
        grader_id=proposal.grader_id,
        number=proposal.number,
        status=proposal.status,
        failed_because=proposal.failed_because,
        edits=len(proposal.edit_ids),
        refused=len(proposal.refused),
        cost_nano_usd=proposal.spent,
        created_at=proposal.created_at,
        ended_at=proposal.ended_at,
    )
    name = (proposal.grader_id, str(proposal.number))
    return Event(
        id=derived_id("evt", "deck.proposal.completed", *name),
        type="deck.proposal.completed",
        organization_id=proposal.organization_id,
        occurred_at=proposal.ended_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
