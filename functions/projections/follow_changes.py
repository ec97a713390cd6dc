"""Tell of reviews, and delete large texts that expired; follows the stream of ``completions``.

Both in one function, because no more than two may read a shard of a stream at the same time: the
other one is ``projections.project_verdicts``.
"""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment import ChangesEnvironment
from autotune_platform.wiring.reviews import ChangesParts


@cache
def parts() -> ChangesParts:
    """Return what this process is put together from."""
    return ChangesParts(ChangesEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Follow a batch of records; an error has all of it delivered again, which does no harm."""
    parts().change_router.route(event["Records"])
    return {"batchItemFailures": []}
