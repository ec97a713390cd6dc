"""End runs of the apprentice that nobody works on any more; runs every minute."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.apprentice_runs import RunSweepEnvironment
from autotune_platform.wiring.apprentice_folding import RunSweepParts

# For what is under way when the time is over.
_RESERVED_MS = 15_000


@cache
def parts() -> RunSweepParts:
    """Return what this process is put together from."""
    return RunSweepParts(RunSweepEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Look at runs as far as there is time; return at how many."""

    def has_time() -> bool:
        return bool(context.get_remaining_time_in_millis() > _RESERVED_MS)

    return {"runs": parts().run_sweeping.sweep(has_time=has_time)}
