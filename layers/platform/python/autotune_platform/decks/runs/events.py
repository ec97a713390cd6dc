"""The event of a run: that it has ended."""

from autotune.protocol.deck_events import DeckRunCompleted
from autotune.protocol.ids import derived_id
from autotune_platform.decks.runs.models import Run
from autotune_platform.decks.runs.wire import counts_on_wire
from autotune_platform.webhooks.models import Event


def run_completed(run: Run) -> Event:
    """Return the event ``deck.run.completed`` of a run that has ended."""
    assert run.ended_at is not None, "what has ended says when"
    proposal = run.proposal
    data = DeckRunCompleted(
        deck_id=run.deck_id,
        run_id=run.id,
        kind=run.kind,
        status=run.status,
        stopped_because=run.stopped_because,
        counts=counts_on_wire(run),
        proposed=None if proposal is None else len(proposal.grader_ids),
        cost_nano_usd=run.spent,
        created_at=run.created_at,
        ended_at=run.ended_at,
    )
    return Event(
        id=derived_id("evt", "deck.run.completed", run.id),
        type="deck.run.completed",
        organization_id=run.organization_id,
        occurred_at=run.ended_at,
        data=data.model_dump(mode="json", by_alias=True),
    )
