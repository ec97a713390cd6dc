"""One question for a grader's health, and what its answer means."""

import time
from dataclasses import dataclass

from pydantic import ValidationError

from autotune.protocol.graders import HealthReason, ProbeOutcome
from autotune.protocol.grading import HealthResponse
from autotune_platform.gateway.calls import GraderCallError
from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.gateway.models import UsableGrader


@dataclass(frozen=True)
class Finding:
    """How a grader is: ``answer`` is there unless it ``failed``, ``reason_code`` if not healthy."""

    outcome: ProbeOutcome
    latency_ms: int
    reason_code: HealthReason | None = None
    answer: HealthResponse | None = None


def ask_health(gateway: GraderGateway, usable: UsableGrader, *, timeout_seconds: float) -> Finding:
    """Ask a grader for its health, signed, once.

    A grader that calls itself unhealthy has failed like one that does not answer: neither scores.
    """
    started = time.monotonic()

    def failed(reason_code: HealthReason) -> Finding:
        return Finding("failed", round((time.monotonic() - started) * 1000), reason_code)

    try:
        answer = gateway.ask(usable, "/health", timeout_seconds=timeout_seconds)
        health = HealthResponse.model_validate_json(answer.body)
    except GraderCallError as error:
        return failed(error.reason_code)
    except ValidationError:
        return failed("response_malformed")
    if health.status == "unhealthy":
        return failed("grader_unhealthy")
    if health.status == "degraded":
        return Finding("degraded", answer.elapsed_ms, "grader_degraded", health)
    return Finding("healthy", answer.elapsed_ms, answer=health)
