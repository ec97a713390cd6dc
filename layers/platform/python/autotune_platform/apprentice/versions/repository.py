"""Where versions of small models are stored: ``pk=apt_…, sk=version#000001``."""

from collections.abc import Sequence
from uuid import uuid4

from autotune_platform.apprentice.configuration.items import model_from, unchanged
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.folding.items import VERSION, evidence_key, version_key
from autotune_platform.apprentice.folding.models import StoredEvidence
from autotune_platform.apprentice.versions.changes import VersionChange, changes_of
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.storage.counting import Addition, Check
from autotune_platform.storage.numbered import numbered_page
from autotune_platform.storage.table import Table


class VersionRepository:
    """Versions in the ``apprentice`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, task_id: str, number: int) -> ModelVersion | None:
        """Return a version."""
        item = self._table.get(task_id, version_key(number))
        return model_from(item, ModelVersion) if item else None

    def all_of(self, task_id: str) -> list[ModelVersion]:
        """Return all versions of a task, in their order; there are 200 at most."""
        items = self._table.items(task_id, starting=VERSION)
        return [model_from(item, ModelVersion) for item in items]

    def changes(self, task_id: str, number: int, *, limit: int) -> list[VersionChange]:
        """Return the last things that were done to a version, in the order of its pairs.

        Keys have those of one pair in the order of their kinds: here it is that of their dates.
        """
        page = self._table.query(
            task_id, starting=changes_of(number), newest_first=True, limit=limit
        )
        found = (VersionChange.model_validate(item) for item in reversed(page.items))
        return sorted(found, key=lambda one: (one.sequence, one.at))

    def list(
        self, task_id: str, *, limit: int, next_token: str | None
    ) -> tuple[Sequence[ModelVersion], str | None]:
        """Return a page of a task's versions, newest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        items, token = numbered_page(
            self._table, task_id, VERSION, version_key, limit=limit, next_token=next_token
        )
        return [model_from(item, ModelVersion) for item in items], token

    def add(self, task: ApprenticeTask, version: ModelVersion) -> bool:
        """Store a version of a task; return False where the task, or the number, was taken.

        Of a task that is being deleted, nobody would ever erase it.
        """
        return self._table.write_together(self.added(task, version), token=_once()) is None

    def added(
        self, task: ApprenticeTask, version: ModelVersion
    ) -> tuple[Check | Addition, Addition]:
        """Return what stores a version of a task, as a part of a transaction."""
        stored = Addition(
            table=self._table.name,
            pk=task.id,
            sk=version_key(version.number),
            changes=version.model_dump(mode="json", exclude_none=True),
            only_if={"number": None},
        )
        return self._unchanged(task), stored

    def promote(
        self, task: ApprenticeTask, before: ModelVersion, after: ModelVersion, *, revision: int
    ) -> bool:
        """Store that a version passed its canary; return False where something changed meanwhile.

        Args:
            revision: of its evidence, by which it did.
        """
        evidence = Check(
            table=self._table.name,
            pk=task.id,
            sk=evidence_key(before.number),
            only_if={"revision": revision},
        )
        changes = after.model_dump(mode="json", include={"canary_at", "promoted_at", "promoted_by"})
        stored = Addition(
            table=self._table.name,
            pk=task.id,
            sk=version_key(before.number),
            changes=changes,
            only_if={"state": before.state, "canary_at": before.canary_at},
        )
        writes = (self._unchanged(task), evidence, stored)
        return self._table.write_together(writes, token=_once()) is None

    def retire(self, after: ModelVersion) -> bool:
        """Store that a version is retired; return False where it is by now, or is not there."""
        retired = {"state", "retired_at", "retired_by", "was_canary"}
        changes = after.model_dump(mode="json", include=retired)
        key = version_key(after.number)
        hosted = {"state": "hosted"}
        return self._table.update(after.task_id, key, changes, only_if=hosted) is not None

    def evidence(self, task_id: str, number: int) -> StoredEvidence | None:
        """Return what is stored of a version's evidence."""
        item = self._table.get(task_id, evidence_key(number))
        return StoredEvidence.model_validate(item) if item else None

    def _unchanged(self, task: ApprenticeTask) -> Check:
        return unchanged(self._table.name, task)


def _once() -> str:
    return uuid4().hex
