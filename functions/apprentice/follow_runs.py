"""Count runs of the apprentice and fold their pairs; follows the stream of ``apprentice``."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.apprentice_runs import FoldingEnvironment
from autotune_platform.wiring.apprentice_folding import FoldingParts


@cache
def parts() -> FoldingParts:
    """Return what this process is put together from."""
    return FoldingParts(FoldingEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Follow a batch of records. After an error all of it is delivered again, which is safe."""
    parts().run_router.route(event["Records"])
    return {"batchItemFailures": []}
