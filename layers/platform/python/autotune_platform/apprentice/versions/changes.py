"""What pairs did to a version, kept for as long as its task: its canary, promotions and alarms."""

from datetime import datetime

from autotune.protocol.apprentice_versions import ApprenticeVersionChangeKind
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.counting import Addition

CHANGE = "change#"


class VersionChange(FrozenModel):
    """One thing that pairs, or inputs, did to a version.

    Attributes:
        sequence: the pair that did it, or the last one before.
        share: of the inputs that it answers from then on while it is in its canary; with
            ``coverage``, of those of which it was sure.
    """

    task_id: str
    organization_id: str
    version: int
    sequence: int
    kind: ApprenticeVersionChangeKind
    at: datetime
    mean_agreement: float | None = None
    share: float | None = None


def changes_of(version: int) -> str:
    """Return how the sort keys begin of what was done to a version."""
    return f"{CHANGE}{version:06d}#"


def change_write(table: str, change: VersionChange) -> Addition:
    """Return what stores a change; the same again stores the same."""
    return Addition(
        table=table,
        pk=change.task_id,
        sk=f"{changes_of(change.version)}{change.sequence:010d}#{change.kind}",
        changes=change.model_dump(mode="json", exclude_none=True),
    )
