"""From what is wanted and what SageMaker has to the next step: one look at one hosting.

A look may be cut off anywhere and repeated by anybody: it compares, does what is missing, and
stores where the hosting stands on condition that nobody else has.
"""

from collections.abc import Callable
from datetime import datetime
from functools import cached_property

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.hosting.hosts import FAILED, IN_SERVICE, Found, Hosts
from autotune_platform.apprentice.hosting.looking import is_idle, listened, was_wanted
from autotune_platform.apprentice.hosting.making import LIMIT_MESSAGE, HostingMaking
from autotune_platform.apprentice.hosting.models import (
    KEPT_FOR,
    STUCK_AFTER,
    Hosting,
    HostingError,
)
from autotune_platform.apprentice.hosting.needing import Needs, TaskNeeds
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.hosting.restoring import BaseRestoring
from autotune_platform.apprentice.hosting.returning import is_wanted_now, may_return
from autotune_platform.apprentice.hosting.stepping import STUCK_MESSAGE, HostingSteps
from autotune_platform.runtime.clock import Clock
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.sagemaker_control import HostLimitError

logger = Logger()

_FIRST_CONFIGURATION = 1


@part
class HostingAdvancing:
    """Takes hostings from state to state.

    Attributes:
        weights: see ``HostingMaking``.
    """

    repository: HostingRepository
    needs: TaskNeeds
    tasks: TaskRepository
    hosts: Hosts
    steps: HostingSteps
    weights: Callable[[str], str | None]

    @property
    def clock(self) -> Clock:
        """The clock of all looks."""
        return self.steps.clock

    @cached_property
    def _restoring(self) -> BaseRestoring:
        return BaseRestoring(repository=self.repository, tasks=self.tasks, hosts=self.hosts)

    @cached_property
    def _making(self) -> HostingMaking:
        return HostingMaking(
            repository=self.repository,
            tasks=self.tasks,
            hosts=self.hosts,
            steps=self.steps,
            restoring=self._restoring,
            weights=self.weights,
        )

    def look(self, hosting: Hosting) -> None:
        """Do what is next for a hosting, and store when it is to be looked at again.

        Raises:
            UnavailableError: SageMaker or the table does not answer.
        """
        now = self.clock.now()
        if hosting.state == "gone":
            self._look_at_gone(hosting, now)
            return
        if hosting.state != "deleting":
            hosting, is_needed = self._needed(hosting, now)
            if not is_needed:
                self.steps.enter(
                    hosting, "deleting", error="unasked" if hosting.unasked_since else None
                )
                return
        try:
            self._advance(hosting, now)
        except HostLimitError as error:
            logger.warning(LIMIT_MESSAGE, hosting=hosting.name, why=str(error))
            if hosting.state == "creating":
                self._making.go_beyond_limit(hosting, str(error), now)
            else:
                self.steps.stay(hosting, now)

    def _look_at_gone(self, hosting: Hosting, now: datetime) -> None:
        """Keep what its version may need, and make it again once that is asked; forget all else."""
        needs = self.needs.of(hosting.task_id)
        if needs is None or not self._may_return(hosting, needs):
            if hosting.unwanted_at is not None or now >= hosting.since + KEPT_FOR:
                self._forget(hosting)
            return
        if hosting.base is None:
            if is_wanted_now(hosting, now):
                self._look_at_adapters(hosting, now)
            self.steps.stay(hosting, now)
            return
        base = self.repository.find(hosting.task_id, hosting.base)
        if base is not None and needs.asks(hosting.name) and may_return(hosting, base, now):
            self._making.make_again(hosting, now, base)
        else:
            if base is None:
                self._restoring.restore(hosting, now, is_to_answer=False)
            self.steps.stay(hosting, now)

    def _may_return(self, hosting: Hosting, needs: Needs) -> bool:
        """Return whether what was given up is of a version that may be asked; see ``returning``.

        A base that went with its adapters was not given up: it returns with one that is made again.
        """
        if hosting.unwanted_at is not None:
            return False
        if hosting.base is None:
            own = self.repository.adapters_of(hosting)
            there = (one.state != "gone" or self._may_return(one, needs) for one in own.known)
            return own.unread > 0 or any(there)
        return hosting.error is not None and needs.may_ask(hosting.name)

    def _forget(self, hosting: Hosting) -> None:
        """Forget a hosting; of a task that is gone, with what came to its accounts since."""
        if self.tasks.configuration(hosting.task_id, _FIRST_CONFIGURATION) is None:
            self.repository.erase_costs(hosting.task_id)
        self.repository.forget(hosting)

    def _advance(self, hosting: Hosting, now: datetime) -> None:
        if hosting.state == "creating":
            self._making.create(hosting, now)
        elif hosting.state == "resizing":
            self._resize(hosting, now)
        elif hosting.state == "deleting":
            self._delete(hosting, now)
        elif hosting.state == "waiting":
            self._making.try_next(hosting, now)
        elif hosting.state == "asleep" and was_wanted(hosting):
            self._begin_resizing(hosting, now, copies=1)
        elif hosting.state == "ready" and is_idle(hosting, now):
            self._begin_resizing(hosting, now, copies=0)
        elif hosting.state == "ready":
            self._see(hosting, now)
        else:
            self.steps.stay(hosting, now)

    def _needed(self, hosting: Hosting, now: datetime) -> tuple[Hosting, bool]:
        """Return a hosting as it is seen now, and whether it is still to be there."""
        if hosting.unwanted_at is not None:
            return hosting, False
        if hosting.kind == "base":
            if self.tasks.configuration(hosting.task_id, _FIRST_CONFIGURATION) is None:
                return hosting, False
            own = self.repository.adapters_of(hosting)
            return hosting, own.unread > 0 or any(one.state != "gone" for one in own.known)
        needs = self.needs.of(hosting.task_id)
        if needs is None:
            return hosting.model_copy(update={"unasked_since": None}), False
        seen = needs.seen(hosting, now)
        return seen, needs.need(seen, now) and not self.needs.is_left(seen, needs)

    def _see(self, hosting: Hosting, now: datetime) -> None:
        """See whether what is to answer is still there, and does."""
        found = self.hosts.component(hosting)
        if not found.is_ours:
            found = Found()
        if found.status is None or found.status == FAILED:
            self._lose(hosting, found)
            return
        if hosting.kind == "base" and not found.copies:
            self._miss(hosting, now)
            return
        after, wanted = listened(hosting), hosting.wanted_at
        silent_since = after.silent_since
        if silent_since and wanted and wanted - silent_since >= STUCK_AFTER:
            self.steps.give_up(hosting, "stuck")
            return
        if hosting.base is not None:
            # It answers, so its base is there: somebody is to see what that costs.
            self._restoring.restore(hosting, now, is_to_answer=True)
        if self.steps.store(hosting, after, now) and is_wanted_now(hosting, now):
            # It may be one of its adapters that is not there.
            self._look_at_adapters(hosting, now)

    def _look_at_adapters(self, base: Hosting, now: datetime) -> None:
        """Have those that are to answer looked at, beginning with the next sweep."""
        for one in self.repository.adapters_of(base).known:
            if one.state in {"ready", "gone"} and one.due_at > now:
                self.repository.change(one, one.model_copy(update={"due_at": now}))

    def _miss(self, hosting: Hosting, now: datetime) -> None:
        """Have a base whose copy is gone get another one, or sleep where nobody asks it now."""
        logger.warning("a base has no copy", hosting=hosting.name)
        copies = int(is_wanted_now(hosting, now))
        self._begin_resizing(hosting, now, copies=copies, is_missing=True)

    def _lose(self, hosting: Hosting, found: Found) -> None:
        """Give up what SageMaker has no more, or that failed after it had answered."""
        error: HostingError = "lost" if found.status is None else "failed"
        logger.error(
            STUCK_MESSAGE, hosting=hosting.name, state=hosting.state, error=error, why=found.reason
        )
        self.steps.give_up(hosting, error)

    def _begin_resizing(
        self, hosting: Hosting, now: datetime, *, copies: int, is_missing: bool = False
    ) -> None:
        """Store how many copies there are to be, and ask for them if nobody wrote meanwhile."""
        if self.steps.enter(hosting, "resizing", copies=copies, is_missing=is_missing):
            stored = self.repository.find(hosting.task_id, hosting.name)
            if stored is not None and stored.state == "resizing":
                self._resize(stored, now)

    def _resize(self, hosting: Hosting, now: datetime) -> None:
        found = self.hosts.component(hosting)
        is_as_asked = found.copies == found.wanted == hosting.copies
        if found.status == IN_SERVICE and found.is_ours and is_as_asked:
            if hosting.copies:
                self._making.be_ready(hosting)
            else:
                self.steps.enter(hosting, "asleep")
        elif hosting.is_stuck(now) and found.is_empty:
            # SageMaker has no instance for it: whoever asks next has it tried again.
            logger.error(STUCK_MESSAGE, hosting=hosting.name, state=hosting.state)
            if found.wanted:  # else one that comes later would be there, and paid for, unseen
                self._begin_resizing(hosting, now, copies=0, is_missing=True)
            else:
                self.steps.enter(hosting, "asleep", copies=0)
        elif hosting.is_stuck(now) and not hosting.is_starting(now):
            self.steps.give_up(hosting, "stuck")
        elif found.status is None or found.status == FAILED:
            self._lose(hosting, found)
        else:
            if found.status == IN_SERVICE:
                # The weights are read now, and maybe half an hour after it was to wake.
                if hosting.copies and self._making.differs(hosting, is_missing=not found.copies):
                    return
                self.hosts.set_copies(hosting, hosting.copies)
            self.steps.stay(hosting, now)

    def _delete(self, hosting: Hosting, now: datetime) -> None:
        if hosting.kind == "base":
            # SageMaker deletes no base that has adapters. They return where their version is asked.
            error = hosting.error or ("lost" if hosting.unwanted_at is None else None)
            for one in self.repository.adapters_of(hosting).known:
                if one.state not in {"deleting", "gone"}:
                    self.steps.enter(one, "deleting", error=error)
        if self.hosts.take_down(hosting):
            self.steps.enter(hosting, "gone")
            base = hosting.base and self.repository.find(hosting.task_id, hosting.base)
            if base:  # it may have been the last one of it
                self.repository.change(base, base.model_copy(update={"due_at": now}))
            return
        if hosting.is_stuck(now):
            logger.error(STUCK_MESSAGE, hosting=hosting.name, state=hosting.state)
        self.steps.stay(hosting, now)
