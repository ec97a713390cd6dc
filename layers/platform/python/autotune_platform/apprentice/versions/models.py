"""A version of a task's small model."""

from datetime import datetime
from typing import Literal

from autotune.protocol.apprentice_models import ServingBackend
from autotune_platform.apprentice.local.contract import ServedModel
from autotune_platform.runtime.frozen_model import FrozenModel


class VersionGate(FrozenModel):
    """From which confidence on a version answers callers, as its hold-out says.

    Attributes:
        confidence: 0 to 1.
        coverage: the share of the hold-out's inputs that it was as sure of.
        least_coverage: the share below which inputs are others than those.
    """

    confidence: float
    coverage: float
    least_coverage: float


class ModelVersion(FrozenModel):
    """A version, as it was registered or made.

    Attributes:
        number: 1 and up, in the order in which they came.
        definition_hash: of the definition under which it is tried.
        model: its name at the server, or on SageMaker.
        digest: what the server said of it, or the SHA-256 of what was trained here; None of what
            was registered on SageMaker, where names are used once.
        endpoint: of SageMaker; None elsewhere.
        component: inference component of that endpoint; None where it has none.
        gate: None where its backend does not say how sure it is, or no confidence suffices.
        needs_gate: whether its hold-out was judged behind its gate: then it keeps that also where
            the task has none, since nothing showed that callers may have its other answers.
        state: one that is ``retired`` is asked nothing, for good.
        canary_at: the pair after which it passed its canary.
        promoted_at: when that was.
        was_canary: it was rolled back while it was in its canary.
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
    gate: VersionGate | None = None
    needs_gate: bool = False
    state: Literal["hosted", "retired"] = "hosted"
    canary_at: int | None = None
    promoted_at: datetime | None = None
    promoted_by: str | None = None
    created_at: datetime
    created_by: str
    retired_at: datetime | None = None
    retired_by: str | None = None
    was_canary: bool = False

    @property
    def is_hosted(self) -> bool:
        """Whether it can be asked."""
        return self.state == "hosted"

    def is_sure(self, confidence: float | None) -> bool:
        """Return whether an answer is sure enough for a gate; all are where it has none.

        Args:
            confidence: None where the backend did not say, though it has to.
        """
        return self.gate is None or (confidence is not None and confidence >= self.gate.confidence)

    @property
    def served(self) -> ServedModel:
        """What it is known by where it is served."""
        return ServedModel(
            self.model,
            self.digest,
            self.endpoint,
            self.component,
            task_id=self.task_id,
            backend=self.backend,
        )
