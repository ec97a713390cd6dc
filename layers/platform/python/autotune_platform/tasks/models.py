"""Tasks as the platform sees them."""

from datetime import datetime
from typing import Any

from autotune.protocol.levels import Uncalibrated
from autotune.protocol.tasks import Aggregation, GraderWeight, ReviewPolicy
from autotune_platform.storage.registry import Entity


class Task(Entity):
    """A definition of what needs to be scored.

    ``graders`` are all of them; ``grader_id`` is there where it is only one. A ``quorum`` of None
    is all of them.
    """

    name: str
    description: str
    prompt_template: str
    metadata: dict[str, Any]
    grader_id: str | None = None
    graders: list[GraderWeight] = []
    aggregation: Aggregation = "mean"
    quorum: int | None = None
    review: ReviewPolicy | None = None
    share_identity: bool
    deadline_seconds: int | None = None
    retention_days: int | None = None
    uncalibrated: Uncalibrated | None = None
    created_at: datetime
    updated_at: datetime
