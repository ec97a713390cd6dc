"""Makes, scales and takes down where SageMaker hosts versions; runs every minute."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.apprentice_training import HostingSweepEnvironment
from autotune_platform.wiring.apprentice_hosting import HostingSweepParts

_LAST_SECONDS = 10


@cache
def parts() -> HostingSweepParts:
    """Return what this process is put together from."""
    return HostingSweepParts(HostingSweepEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Sweep; return how many hostings were due."""
    looked = parts().hosting_sweeping.sweep(
        has_time=lambda: context.get_remaining_time_in_millis() > _LAST_SECONDS * 1_000
    )
    return {"looked": looked}
