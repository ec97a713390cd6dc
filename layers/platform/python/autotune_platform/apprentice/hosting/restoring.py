"""Bases of which nothing is stored, though adapters of them are: made again from their task.

Whoever asks a version notes that with its base, and a look at the base has it wake, sleep and be
paid for. Without one an adapter would be given up for good, and its instance be paid for unseen.
"""

from datetime import datetime
from typing import Final

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.configuration.trainable import hosting_types
from autotune_platform.apprentice.hosting.hosts import Hosts
from autotune_platform.apprentice.hosting.models import (
    Hosting,
    State,
    WantedBase,
    base_begun,
    base_name_of,
)
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.hosting.stepping import STUCK_MESSAGE
from autotune_platform.apprentice.students.files import base_folder
from autotune_platform.runtime.parts import part

logger = Logger()

_MOST_CONFIGURATIONS: Final = 50
"""So many of the last ones are looked through for what a base is of."""


@part
class BaseRestoring:
    """Stores bases again."""

    repository: HostingRepository
    tasks: TaskRepository
    hosts: Hosts

    def restore(self, adapter: Hosting, now: datetime, *, is_to_answer: bool) -> bool:
        """Store an adapter's base again; return False where it is there, or nothing says what of.

        A configuration of the task says so, by which its name is the one that the adapter knows:
        that is what versions are asked by.

        Args:
            adapter: as it was read.
            now: since when.
            is_to_answer: whether it is to be there, of which what SageMaker has is taken; else it
                is made once somebody asks, and what SageMaker has is taken down before, unless
                another adapter of it is there.
        """
        if adapter.base is None or self.repository.find(adapter.task_id, adapter.base) is not None:
            return False
        wanted = self._base_of(adapter)
        if wanted is None:
            self._tell_that_nobody_knows(adapter)
            return False
        base = base_begun(adapter, wanted, now)
        state: State = "creating"
        if not is_to_answer and not self._has_others(base):
            state = "gone" if self.hosts.endpoint(base).status is None else "deleting"
        changes = {
            "state": state,
            # The one that is there may not be of the first type.
            "instance_type": self.hosts.instance_type(base) or base.instance_type,
            "wanted_at": adapter.wanted_at,
        }
        logger.warning("a base is stored again", hosting=base.name, state=state)
        return self.repository.restore(base.model_copy(update=changes))

    def _has_others(self, base: Hosting) -> bool:
        """Return whether an adapter is there, or may be, that a base is not taken down under."""
        own = self.repository.adapters_of(base)
        return own.unread > 0 or any(one.state not in {"deleting", "gone"} for one in own.known)

    @staticmethod
    def _tell_that_nobody_knows(adapter: Hosting) -> None:
        why = "nothing says what its base is of"
        if adapter.state == "ready":
            # Its instance is paid for, and nobody counts it or has it sleep.
            logger.error(STUCK_MESSAGE, hosting=adapter.name, state=adapter.state, why=why)
        else:
            logger.warning(why, hosting=adapter.name)

    def _base_of(self, adapter: Hosting) -> WantedBase | None:
        bucket = adapter.artifact.removeprefix("s3://").partition("/")[0]
        known, _ = self.tasks.configurations(
            adapter.task_id, limit=_MOST_CONFIGURATIONS, next_token=None
        )
        for one in known:
            types = hosting_types(one.document)
            if not types:
                continue
            settings = one.document["training"]
            artifact = f"s3://{bucket}/{base_folder(settings['baseModel'])}"
            wanted = WantedBase(
                artifact, types, rank=settings["lora"]["r"], sha256=adapter.base_sha256
            )
            name = base_name_of(self.hosts.settings.prefix, adapter.task_id, wanted)
            if name == adapter.base:
                return wanted
        return None
