"""Answers for linear students of all tasks of the apprentice; their artifacts are in a bucket."""

from functools import cache
from typing import Any

from autotune_platform.runtime.environment.apprentice import StudentEnvironment
from autotune_platform.wiring.apprentice_students import StudentParts


@cache
def parts() -> StudentParts:
    """Return what this process is put together from."""
    return StudentParts(StudentEnvironment.parse())


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001 - Lambda's signature
    """Answer an input.

    Args:
        event: ``model``, ``digest`` and ``input``; see ``StudentHost.answer``.
        context: of Lambda.

    Returns:
        ``text``, ``model`` and ``confidence``; or ``refused``: ``no_model`` where there is no
        artifact, ``another_version`` where it is not the one of that digest.
    """
    found = parts().student_host.answer(event["model"], event["digest"], event["input"])
    if isinstance(found, str):
        return {"refused": found}
    text, confidence = found
    return {"text": text, "model": event["model"], "confidence": confidence}
