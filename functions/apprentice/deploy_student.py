"""Has SageMaker host what a job trained, before it is judged: a step of a training's execution."""

from functools import cache
from typing import Any

from autotune_platform.apprentice.training.progress import Under
from autotune_platform.runtime.environment.apprentice_training import DeployEnvironment
from autotune_platform.wiring.apprentice_training import DeployParts


@cache
def parts() -> DeployParts:
    """Return what this process is put together from."""
    return DeployParts(DeployEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Look once.

    ``done`` is whether this execution has nothing left to do, and ``waits`` whether to look again
    after ``seconds``.
    """
    under = Under.of(event)
    found = parts().deploy_step.run(under)
    return {
        **under._asdict(),
        "done": found.is_over,
        "waits": found.seconds is not None,
        "seconds": found.seconds or 0,
    }
