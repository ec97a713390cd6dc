"""Starts what is due of the ledger: queues, and batches whose execution was lost; every minute."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.ledger import LedgerSweepEnvironment
from autotune_platform.wiring.ledger_sweep import LedgerSweepParts


@cache
def parts() -> LedgerSweepParts:
    """Return what this process is put together from."""
    return LedgerSweepParts(LedgerSweepEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep; return how much was due."""
    return {"due": parts().ledger_sweeper.sweep()}
