"""What a process knows of a task for some seconds: its configuration, and who may answer for it."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cachetools import TTLCache

from autotune_platform.apprentice.configuration.models import ApprenticeTask, Configuration
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.local.contract import ServedModel
from autotune_platform.apprentice.phases import Derived, Phase
from autotune_platform.apprentice.sampling import SamplingRate
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.parts import part

KNOWN_SECONDS = 30
"""For how long what was read of a task is used without reading it again."""

_KNOWN_TASKS = 1_024
_FIRST_CANARY = 0.05


@dataclass(frozen=True)
class Standing:
    """A task as it stands.

    Attributes:
        task: its name, id and key.
        configuration: the present one.
        derived: its phase, and which versions are asked.
        rates: the share of inputs that is checked, by version.
        served: where versions are served, by number.
    """

    task: ApprenticeTask
    configuration: Configuration
    derived: Derived
    rates: Mapping[int, SamplingRate] = field(default_factory=dict)
    served: Mapping[int, ServedModel] = field(default_factory=dict)

    @property
    def document(self) -> Mapping[str, Any]:
        """The configuration as it is on the wire, with all defaults."""
        return self.configuration.document

    @property
    def canary_share(self) -> float:
        """The share of inputs that a version answers which is in its canary."""
        training = self.document.get("training")
        return float(training["canary"][0]) if training else _FIRST_CANARY

    def rate(self, version: int | None) -> float:
        """Return the share of a version's inputs that is checked; 1 where nothing says less."""
        known = None if version is None else self.rates.get(version)
        return 1.0 if known is None else known.rate


def _cache() -> "TTLCache[tuple[str, str], Standing]":
    return TTLCache(_KNOWN_TASKS, KNOWN_SECONDS)


@part
class Standings:
    """Reads tasks, each at most once in 30 seconds."""

    tasks: TaskRepository
    known: "TTLCache[tuple[str, str], Standing]" = field(default_factory=_cache)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, organization_id: str, name: str) -> Standing:
        """Return where a task stands, as it was up to 30 seconds ago.

        Raises:
            NotFoundError: there is none.
        """
        key = (organization_id, name)
        with self.lock:
            known = self.known.get(key)
        if known is None:
            known = self._read(organization_id, name)
            with self.lock:
                self.known[key] = known
        return known

    def _read(self, organization_id: str, name: str) -> Standing:
        task = self.tasks.find(organization_id, name)
        if task is None or task.state == "deleting":
            raise NotFoundError(f"no task {name}")
        configuration = self.tasks.configuration(task.id, task.version)
        if configuration is None:
            raise NotFoundError(f"no task {name}")
        # No version is registered before there is a way to register one.
        return Standing(task, configuration, Derived(Phase.REMOTE))
