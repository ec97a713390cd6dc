"""What tests of graders' health ask and do."""

from typing import Any

from autotune_platform.storage.changes import Change
from autotune_platform.webhooks.outbox import event_in
from tests.support.graders import LoopbackGrader
from tests.support.platform import Platform


def shown(platform: Platform, grader_id: str) -> dict[str, Any]:
    return platform.call("GET", f"/api/v1/graders/{grader_id}").json["grader"]


def health(platform: Platform, grader_id: str) -> dict[str, Any]:
    return platform.call("GET", f"/api/v1/graders/{grader_id}/health").json["health"]


def told(platform: Platform) -> list[tuple[str, str, str]]:
    """Every change that is on its way out: from, to, and why."""
    data = [event_in(Change.from_record(record)).data for record in platform.stored_events()]
    return [(one["previousStatus"], one["currentStatus"], one["reason"]) for one in data]


VERIFIED = ("inactive", "active", "verification_passed")


def falls_ill(grader: LoopbackGrader) -> None:
    grader.health["status"] = "unhealthy"


def recovers(grader: LoopbackGrader) -> None:
    grader.health.clear()
