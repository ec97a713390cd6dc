"""Publish reviews, and delete large texts that expired; follows the stream of ``completions``.

One function does both, because at most two functions may read a shard of a stream at the same time.
The other one is ``projections.project_verdicts``.
"""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.reviews import ChangesEnvironment
from autotune_platform.wiring.changes import ChangesParts


@cache
def parts() -> ChangesParts:
    """Return what this process is put together from."""
    return ChangesParts(ChangesEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Follow a batch of records. After an error all of it is delivered again, which is safe."""
    parts().change_router.route(event["Records"])
    return {"batchItemFailures": []}
