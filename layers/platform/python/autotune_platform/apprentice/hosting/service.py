"""Having models hosted: who wants one stores that, and asks again until the sweeper has made it."""

from autotune_platform.apprentice.hosting.models import (
    Hosting,
    Wanted,
    base_name_of,
    name_of,
)
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part


@part
class Hostings:
    """Has models hosted.

    Attributes:
        prefix: what each name at SageMaker begins with.
    """

    repository: HostingRepository
    prefix: str
    clock: Clock = SYSTEM_CLOCK

    def want(self, wanted: Wanted) -> Hosting:
        """Return how far the hosting of a model is, begun if it was not; a repeat changes nothing.

        It answers once it is ``ready``. It never will where it is ``deleting`` or ``gone``: its
        ``error`` says why.
        """
        name = name_of(self.prefix, wanted.model)
        found = self.repository.find(wanted.task_id, name)
        if found is None:
            found = self._begun(wanted, name)
        # The base comes after: one that nothing is of would be taken down.
        if found.state == "creating":
            self._have_base(wanted, found)
        return found

    def _begun(self, wanted: Wanted, name: str) -> Hosting:
        now = self.clock.now()
        made = Hosting(
            name=name,
            kind="adapter",
            task_id=wanted.task_id,
            artifact=wanted.artifact,
            base=base_name_of(self.prefix, wanted.task_id, wanted.base),
            idle_minutes=wanted.idle_minutes,
            since=now,
            due_at=now,
        )
        if self.repository.add(made):
            return made
        return self.repository.find(wanted.task_id, name) or made

    def _have_base(self, wanted: Wanted, adapter: Hosting) -> None:
        """Have a base for an adapter that is being made; it may have been taken down before."""
        base = wanted.base
        name, now = base_name_of(self.prefix, wanted.task_id, base), self.clock.now()
        found = self.repository.find(wanted.task_id, name)
        if found is not None:
            if found.state != "gone" or found.failed_for(adapter):
                return
            self.repository.forget(found)
        self.repository.add(
            Hosting(
                name=name,
                kind="base",
                task_id=wanted.task_id,
                artifact=base.artifact,
                instance_type=base.instance_type,
                rank=base.rank,
                idle_minutes=wanted.idle_minutes,
                since=now,
                due_at=now,
            )
        )
