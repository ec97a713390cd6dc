"""A version of a task's small model."""

from datetime import datetime
from typing import Literal

from autotune.protocol.apprentice_models import ServingBackend
from autotune_platform.apprentice.local.contract import ServedModel
from autotune_platform.runtime.frozen_model import FrozenModel


class ModelVersion(FrozenModel):
    """A version, as it was registered or made.

    Attributes:
        number: 1 and up, in the order in which they came.
        definition_hash: of the definition under which it is tried.
        model: its name at the server, or on SageMaker.
        digest: what the server said of it; None on SageMaker, where names are used once.
        endpoint: of SageMaker; None elsewhere.
        component: inference component of that endpoint; None where it has none.
        state: one that is ``retired`` is asked nothing, for good.
        canary_at: the pair after which it passed its canary.
        promoted_at: when that was.
    """

    task_id: str
    organization_id: str
    number: int
    definition_hash: str
    backend: ServingBackend
    model: str
    digest: str | None = None
    endpoint: str | None = None
    component: str | None = None
    state: Literal["hosted", "retired"] = "hosted"
    canary_at: int | None = None
    promoted_at: datetime | None = None
    promoted_by: str | None = None
    created_at: datetime
    created_by: str
    retired_at: datetime | None = None
    retired_by: str | None = None

    @property
    def is_hosted(self) -> bool:
        """Whether it can be asked."""
        return self.state == "hosted"

    @property
    def served(self) -> ServedModel:
        """What it is known by where it is served."""
        return ServedModel(
            self.model, self.digest, self.endpoint, self.component, task_id=self.task_id
        )
