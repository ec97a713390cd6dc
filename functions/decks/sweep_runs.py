"""Redrives runs of decks whose execution was lost; runs every minute."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.deck_runs import DeckRunSweepEnvironment
from autotune_platform.wiring.deck_runs import DeckRunSweepParts


@cache
def parts() -> DeckRunSweepParts:
    """Return what this process is put together from."""
    return DeckRunSweepParts(DeckRunSweepEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep; return how many runs were overdue."""
    return {"overdue": parts().deck_run_sweeper.sweep()}
