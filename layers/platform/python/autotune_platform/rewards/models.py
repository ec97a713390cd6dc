"""Reward URLs, and what is asked at them, as the platform sees them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from autotune.protocol.rewards import RewardUrlState
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.tasks.models import Task


class RewardUrl(FrozenModel):
    """An address at which one task is asked about one model; revoked ones are kept."""

    id: str
    organization_id: str
    name: str
    task_id: str
    model_id: str
    status: Literal["active", "revoked"] = "active"
    created_at: datetime
    expires_at: datetime | None = None

    def state_at(self, moment: datetime) -> RewardUrlState:
        """Return what has become of it; a revoked one stays revoked when it expires."""
        if self.status == "revoked":
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= moment else "active"


@dataclass(frozen=True)
class Question:
    """One completion that a trainer wants a reward for.

    Attributes:
        field: where it stands in the request, or its response, for telling what is wrong with it.
        prompt_field: where its prompt stands.
        metadata_field: where most of its metadata stands.
    """

    prompt: str
    response: str
    metadata: Mapping[str, Any]
    field: str
    prompt_field: str
    metadata_field: str

    def fingerprint(self, task: Task, model_id: str) -> str:
        """Return what is the same for the same question alone, as 64 hexadecimal digits.

        A task that was changed since is another one: its graders may be others.
        """
        asked = [
            task.organization_id,
            task.id,
            task.updated_at.isoformat(),
            model_id,
            self.prompt,
            self.response,
            self.metadata,
        ]
        document = json.dumps(asked, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(document.encode()).hexdigest()
