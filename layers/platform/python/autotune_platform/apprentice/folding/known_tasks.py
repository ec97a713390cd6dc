"""Tasks, their rules and their versions, as whoever folds reads them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from autotune_platform.apprentice.canary import Shares
from autotune_platform.apprentice.configuration.models import ApprenticeTask
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.coverage import CoverageRules
from autotune_platform.apprentice.evidence import Rules
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.folding.settings import (
    canary_of,
    coverage_of,
    gate_of,
    rules_of,
    window_of,
)
from autotune_platform.apprentice.folding.versions import attempts, versions_in
from autotune_platform.apprentice.versions.models import ModelVersion, VersionGate
from autotune_platform.apprentice.window import WindowSettings

_REMEMBERED = 100


@dataclass(frozen=True)
class KnownTask:
    """A task with its present rules."""

    task: ApprenticeTask
    document: Mapping[str, Any]
    versions: Mapping[int, ModelVersion]

    def rules(self, version: int) -> Rules:
        """Return by what a version is judged."""
        return rules_of(
            self.document,
            attempt=attempts(self.versions.values())[version],
            needs_gate=self.versions[version].needs_gate,
        )

    def gate(self, version: int) -> VersionGate | None:
        """Return the gate that a version's answers have to pass; None where there is none."""
        known = self.versions.get(version)
        return None if known is None else gate_of(self.document, known)

    def window(self, version: int) -> WindowSettings:
        """Return what a version's window is."""
        return window_of(self.document, needs_gate=self.versions[version].needs_gate)

    @property
    def coverage(self) -> CoverageRules:
        """By what it is watched how many inputs versions are sure of."""
        return coverage_of(self.document)

    @property
    def canary(self) -> Shares:
        """What its canaries are."""
        return canary_of(self.document)


class KnownTasks:
    """Reads tasks; of what never changes, each process remembers some."""

    def __init__(self, tasks: TaskRepository, evidence: EvidenceRepository) -> None:
        self._tasks = tasks
        self._evidence = evidence
        self._documents: dict[tuple[str, int], Mapping[str, Any]] = {}
        self._versions: dict[str, Mapping[int, ModelVersion]] = {}

    def get(
        self, organization_id: str, name: str, task_id: str, *, versions: Iterable[int]
    ) -> KnownTask | None:
        """Return a task as it is now; None where it is being deleted, or another has its name.

        Args:
            versions: numbers that have to be known.
        """
        task = self._tasks.find(organization_id, name)
        if task is None or task.id != task_id or task.state != "kept":
            return None
        document = self._document(task)
        if document is None:
            return None
        known = self._versions.get(task_id, {})
        if not known.keys() >= set(versions):
            known = versions_in(self._evidence.version_items(task_id))
            self._remember(self._versions, task_id, known)
        return KnownTask(task, document, known)

    def as_of(self, known: KnownTask, configuration_version: int) -> KnownTask | None:
        """Return a task with the rules of one of its configurations; None where it is gone."""
        if configuration_version == known.task.version:
            return known
        task = known.task.model_copy(update={"version": configuration_version})
        document = self._document(task)
        return None if document is None else KnownTask(known.task, document, known.versions)

    def forget_versions(self, task_id: str) -> None:
        """Have the task's versions read anew."""
        self._versions.pop(task_id, None)

    def _document(self, task: ApprenticeTask) -> Mapping[str, Any] | None:
        key = (task.id, task.version)
        if key not in self._documents:
            found = self._tasks.configuration(*key)
            if found is None:
                return None
            self._remember(self._documents, key, found.document)
        return self._documents[key]

    @staticmethod
    def _remember(known: dict[Any, Any], key: Any, value: Any) -> None:
        known.pop(key, None)
        known[key] = value
        while len(known) > _REMEMBERED:
            del known[next(iter(known))]
