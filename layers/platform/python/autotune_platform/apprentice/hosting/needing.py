"""Which hostings a task still needs.

Those that runs ask, and for a day those that they asked; those that a training wants, until it
ends.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.folding.items import VERSION
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.folding.versions import versions_in
from autotune_platform.apprentice.hosting.models import ASKED_WITHIN, KEPT_FOR, Hosting
from autotune_platform.apprentice.standing import kept_versions
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.runtime.parts import part


class Needs(NamedTuple):
    """What a task needs.

    Attributes:
        versions: all that it had, by model.
        kept: those that are asked, and the one that would serve next.
    """

    versions: Mapping[str, ModelVersion]
    kept: frozenset[int]

    def may_ask(self, model: str) -> bool:
        """Return whether a model is of a version that was not retired: it may be asked again."""
        version = self.versions.get(model)
        return version is not None and version.is_hosted

    def asks(self, model: str) -> bool:
        """Return whether a model is of a version that is asked now, or would be at once."""
        version = self.versions.get(model)
        return version is not None and version.number in self.kept

    def seen(self, adapter: Hosting, now: datetime) -> Hosting:
        """Return an adapter with since when its version is asked by nobody."""
        is_unasked = self.may_ask(adapter.name) and not self.asks(adapter.name)
        since = (adapter.unasked_since or now) if is_unasked else None
        return adapter.model_copy(update={"unasked_since": since})

    def need(self, adapter: Hosting, now: datetime) -> bool:
        """Return whether an adapter is still to be there, as ``seen`` leaves it."""
        version = self.versions.get(adapter.name)
        if version is None and adapter.state == "creating":
            # Whoever wants it looks every ten minutes at the longest.
            return now < max(adapter.since, adapter.wanted_at or adapter.since) + ASKED_WITHIN
        if version is None:
            unused_since = adapter.since
        elif not version.is_hosted:
            unused_since = version.retired_at or adapter.since
        elif adapter.unasked_since is not None:
            unused_since = adapter.unasked_since
        else:
            return True
        return now < unused_since + KEPT_FOR


@part
class TaskNeeds:
    """Reads what tasks need.

    Attributes:
        ended_in_vain: whether a training of a task, by its number, has ended without a version, and
            no other has its model.
    """

    tasks: TaskRepository
    evidence: EvidenceRepository
    ended_in_vain: Callable[[str, int], bool]

    def of(self, task_id: str) -> Needs | None:
        """Return what a task needs; None where it is gone."""
        configuration = self.tasks.latest(task_id)
        if configuration is None:
            return None
        about = self.evidence.about(task_id)
        known = versions_in([item for item in about if item["sk"].startswith(VERSION)])
        return Needs(
            versions={one.model: one for one in known.values()},
            kept=kept_versions(configuration, about),
        )

    def is_left(self, adapter: Hosting, needs: Needs) -> bool:
        """Return whether an adapter is of no version, and the training that wanted it has ended.

        What ends a training writes nothing of hostings, and so cannot be killed before it does.
        """
        if adapter.training is None or adapter.name in needs.versions:
            return False
        return self.ended_in_vain(adapter.task_id, adapter.training)
