"""Counts of runs as callers and webhooks see them."""

from autotune.protocol.deck_runs import DeckRunCounts
from autotune_platform.decks.runs.models import Run


def counts_on_wire(run: Run) -> DeckRunCounts:
    """Return what has become of a run's judgements."""
    counts = run.counts
    return DeckRunCounts(
        expected=run.expected,
        scored=counts.scored,
        abstained=counts.abstained,
        failed=counts.failed,
        canceled=counts.canceled,
        pending=run.pending,
        known=counts.known,
    )
