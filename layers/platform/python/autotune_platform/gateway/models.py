"""Graders as the platform sees them."""

from datetime import datetime
from typing import Any

from pydantic import Field

from autotune.protocol.graders import (
    AsyncSettings,
    GraderKind,
    GraderLimits,
    GraderStatus,
    Visibility,
)
from autotune.protocol.grading import GraderCapabilities
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import Entity


class Grader(Entity):
    """A registered grader; its secret is derived from id and ``secret_version``.

    The secret before that is valid, too, until ``previous_secret_until``.
    ``endpoint`` is of a grader of kind ``http``, ``builtin`` the configuration of a builtin one,
    ``rubric`` that of one whose model judges.
    """

    principal_id: str
    name: str
    kind: GraderKind = "http"
    description: str
    endpoint: str | None = None
    builtin: dict[str, Any] | None = None
    rubric: dict[str, Any] | None = None
    certificate_sha256: list[str] = []
    capabilities: GraderCapabilities
    limits: GraderLimits = Field(default_factory=GraderLimits)
    async_settings: AsyncSettings = Field(default_factory=AsyncSettings)
    visibility: Visibility
    share_reasoning: bool
    status: GraderStatus
    status_changed_at: datetime | None = None
    version: str | None = None
    secret_version: int = 1
    previous_secret_until: datetime | None = None
    verified_at: datetime | None = None
    created_at: datetime
    updated_at: datetime

    @property
    def is_called(self) -> bool:
        """Whether it is reached over HTTP, and so has a secret; the others have no endpoint."""
        return self.endpoint is not None

    @property
    def is_person(self) -> bool:
        """Whether people judge: through reviews, which belong to a panel."""
        return self.kind == "human"


class UsableGrader(FrozenModel):
    """What asking a grader needs: the registration and the secrets that are valid now, if any."""

    grader: Grader
    secrets: tuple[str, ...]
