"""Versions of small models as callers see them."""

from collections.abc import Iterable

from autotune.protocol import apprentice_versions as wire
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.versions.changes import VersionChange
from autotune_platform.apprentice.versions.models import ModelVersion

_NOT_SHOWN = {"task_id", "organization_id", "endpoint", "component"}


def version_on_wire(
    task: ApprenticeTask, version: ModelVersion, changes: Iterable[VersionChange] | None = None
) -> wire.ApprenticeVersion:
    """Return a version of a task, with what was done to it where that was read."""
    shown = None
    if changes is not None:
        shown = [
            wire.ApprenticeVersionChange.model_validate(one, from_attributes=True)
            for one in changes
        ]
    return wire.ApprenticeVersion(
        **version.model_dump(exclude=_NOT_SHOWN),
        is_of_present_definition=version.definition_hash == task.definition_hash,
        changes=shown,
    )
