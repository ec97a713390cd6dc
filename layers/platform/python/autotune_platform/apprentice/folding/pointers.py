"""The pointer that says that a version passed its canary, as it is written with evidence."""

from autotune_platform.apprentice.folding.items import version_key
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.storage.counting import Addition, Check

_POINTER = {"canary_at", "promoted_at", "promoted_by"}


def pointer_write(table: str, before: ModelVersion, after: ModelVersion) -> Addition | Check:
    """Return what requires a version to be as it was read, and promotes it if it is another."""
    pk, sk = before.task_id, version_key(before.number)
    known = {"state": before.state, "canary_at": before.canary_at}
    if after == before:
        return Check(table=table, pk=pk, sk=sk, only_if=known)
    changes = after.model_dump(mode="json", include=_POINTER)
    return Addition(table=table, pk=pk, sk=sk, changes=changes, only_if=known)
