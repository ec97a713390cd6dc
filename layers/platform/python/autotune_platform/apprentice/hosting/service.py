"""Having models hosted: who wants one stores that, and asks again until the sweeper has made it."""

from autotune_platform.apprentice.hosting.lacking import offered
from autotune_platform.apprentice.hosting.models import (
    Hosting,
    Wanted,
    WantedBase,
    base_begun,
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
        ``error`` says why. Until then whoever wants it asks again within ``ASKED_WITHIN``, or it is
        taken down.
        """
        name = name_of(self.prefix, wanted.model)
        found = self.repository.find(wanted.task_id, name)
        if found is not None and found.is_of_earlier(wanted):
            if found.state == "gone" and self.repository.forget(found):
                found = None
            elif found.state in {"deleting", "gone"}:
                return self._made(wanted, name, behind=found)
        if found is None:
            found, is_stored = self._begun(wanted, name)
            if not is_stored:
                return found
        if found.training != wanted.training:
            changes = {"training": wanted.training, "begun_at": self.clock.now()}
            taken_over = found.model_copy(update=changes)
            if not self.repository.change(found, taken_over):
                # The sweeper may just have begun to take it down for the one before.
                return self._made(wanted, name, behind=found)
            found = self.repository.find(wanted.task_id, name) or taken_over
        # The base comes after: one that nothing is of would be taken down.
        if found.state == "creating":
            found = self._moved(wanted, found)
            self._have_base(wanted, found)
            now, minutes = self.clock.now(), wanted.idle_minutes
            self.repository.want(wanted.task_id, name, now, idle_minutes=minutes)
        return found

    def base_of(self, adapter: Hosting) -> Hosting | None:
        """Return the base of an adapter, which says what it waits for."""
        return self.repository.find(adapter.task_id, adapter.base) if adapter.base else None

    def _begun(self, wanted: Wanted, name: str) -> tuple[Hosting, bool]:
        """Return a hosting that begins, and whether it is stored, or is to be asked for again."""
        made = self._made(wanted, name)
        base = self.base_of(made)
        if base is not None and base.state == "deleting":
            # Once that is gone: it would take this one along.
            return self._made(wanted, name, behind=base), False
        if self.repository.join(None, made, base):
            return made, True
        known = self.repository.find(wanted.task_id, name)
        return known or made, known is not None

    def _made(self, wanted: Wanted, name: str, *, behind: Hosting | None = None) -> Hosting:
        """Return a hosting that begins, and that nobody knows yet.

        Args:
            behind: what has to be gone before; so long it waits already.
        """
        now = self.clock.now()
        return Hosting(
            name=name,
            kind="adapter",
            task_id=wanted.task_id,
            artifact=wanted.artifact,
            base=base_name_of(self.prefix, wanted.task_id, wanted.base),
            idle_minutes=wanted.idle_minutes,
            since=now if behind is None else behind.since,
            begun_at=now,
            asked_since=wanted.since,
            training=wanted.training,
            base_sha256=wanted.base.sha256,
            due_at=now,
        )

    def _moved(self, wanted: Wanted, adapter: Hosting) -> Hosting:
        """Have an adapter that nothing was made of wait for another base, if that is wanted now."""
        name = base_name_of(self.prefix, wanted.task_id, wanted.base)
        if adapter.base == name or adapter.created:
            return adapter
        base = self.repository.find(adapter.task_id, name)
        if base is not None and base.state == "deleting":
            return adapter  # once that is gone: it would take this one along
        # It waits for another one from now on, and is not of an earlier failure of that.
        changes = {
            "base": name,
            "base_sha256": wanted.base.sha256,
            "since": self.clock.now(),
            "begun_at": adapter.begun_at or adapter.since,
        }
        moved = adapter.model_copy(update=changes)
        return moved if self.repository.join(adapter, moved, base) else adapter

    def _have_base(self, wanted: Wanted, adapter: Hosting) -> None:
        """Have a base for an adapter that is being made; it may have been taken down before."""
        base = wanted.base
        name, now = base_name_of(self.prefix, wanted.task_id, base), self.clock.now()
        if name != adapter.base:
            return
        found = self.repository.find(wanted.task_id, name)
        if found is not None:
            if found.state != "gone" or found.failed_for(adapter):
                self._offer(found, base)
                return
            if not self.repository.forget(found):
                return
        begun = base_begun(adapter, base, now)
        self.repository.add(begun.model_copy(update={"idle_minutes": wanted.idle_minutes}))

    def _offer(self, found: Hosting, base: WantedBase) -> None:
        """Have a base try the types that its task has by now, where it is to have an instance."""
        now = self.clock.now()
        after = offered(found, base.instance_types, now)
        if after is found:
            return
        if after.lacking is not None and after.lacking.not_before == now:
            after = after.model_copy(update={"due_at": now})
        self.repository.change(found, after)
