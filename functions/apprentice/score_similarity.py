"""Says how alike answers are in meaning, by embedding models that operators have stored."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.apprentice import StudentEnvironment
from autotune_platform.wiring.apprentice_similarity import SimilarityParts


@cache
def parts() -> SimilarityParts:
    """Return what this process is put together from."""
    return SimilarityParts(StudentEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Compare texts.

    Args:
        event: ``model`` and ``pairs`` of texts; see ``EmbeddingHost.compare``. Without pairs it
            says what the model is.
        context: of Lambda.

    Returns:
        ``cosines``, ``tokens`` and ``dimensions``; or ``refused``: ``no_model`` where there is
        none, ``another_model`` where its files are not what its name says, or no model.
    """
    found = parts().embedding_host.compare(event["model"], [tuple(one) for one in event["pairs"]])
    return {"refused": found} if isinstance(found, str) else found._asdict()
