"""From a wish to what answers: the parts of a hosting, on an instance that is to be had.

Each is made once the one before is in service. What comes between is stored, so that any look may
be the last one of its process.
"""

from collections.abc import Callable
from datetime import datetime

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.configuration.trainable import hosting_types
from autotune_platform.apprentice.hosting.hosts import (
    FAILED,
    IN_SERVICE,
    Found,
    Hosts,
    UnhostableError,
)
from autotune_platform.apprentice.hosting.lacking import (
    error_of,
    has_had_its_day,
    has_no_instance,
    has_no_type,
    is_of_capacity,
    late_for,
    offered,
    tried_anew,
    without,
)
from autotune_platform.apprentice.hosting.models import (
    COMPONENT,
    CONFIGURATION,
    ENDPOINT,
    MODEL,
    SEEN_WITHIN,
    Hosting,
    Lack,
)
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.hosting.restoring import BaseRestoring
from autotune_platform.apprentice.hosting.returning import made_again
from autotune_platform.apprentice.hosting.stepping import STUCK_MESSAGE, HostingSteps
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.sagemaker_control import HostLimitError

logger = Logger()

LIMIT_MESSAGE = "the account may host no more"
_DIFFERS = "other weights lie where the base has its own than its adapters were trained on"


@part
class HostingMaking:
    """Makes hostings, and has bases try one type of instance after the other.

    Attributes:
        weights: digest of the list of files of a base that lies at an address; None where there is
            no such list.
    """

    repository: HostingRepository
    tasks: TaskRepository
    hosts: Hosts
    steps: HostingSteps
    restoring: BaseRestoring
    weights: Callable[[str], str | None]

    def differs(self, base: Hosting, *, is_missing: bool = False) -> bool:
        """Return whether other weights lie in a base's folder than its own; give it up if so.

        SageMaker reads the folder each time that a copy is made.

        Args:
            base: as it was read.
            is_missing: whether the copy that it had is not there any more.
        """
        if base.base_sha256 is None or self.weights(base.artifact) == base.base_sha256:
            return False
        logger.error(STUCK_MESSAGE, hosting=base.name, state=base.state, why=_DIFFERS)
        self.steps.give_up(base, "base_differs", is_missing=is_missing)
        return True

    def create(self, hosting: Hosting, now: datetime) -> None:
        """Make what is missing of a hosting, or wait for it, until all of it answers.

        Raises:
            HostLimitError: the account may have no more endpoints, or instances of its type.
            UnavailableError: SageMaker or the table does not answer.
        """
        base = self._base_of(hosting, now)
        if hosting.base is not None and base is None:
            return
        if hosting.kind == "base":
            found = self._endpoint_of(hosting, now)
            if found is None:
                return
            hosting = hosting.with_part(ENDPOINT, now)
            if not self._is_up(hosting, found, now, base):
                return
        asked = self._component_of(hosting, now)
        if asked is not None and self._is_up(*asked, now, base):
            self.be_ready(asked[0])

    def be_ready(self, hosting: Hosting) -> None:
        """Have a hosting be asked from now on, but a base that may have fetched other weights.

        SageMaker fetches them up to an hour after it was asked to, and nobody sees when.
        """
        if hosting.kind == "adapter" or not self.differs(hosting):
            self.steps.enter(hosting, "ready")

    def _component_of(self, hosting: Hosting, now: datetime) -> tuple[Hosting, Found] | None:
        """Return a hosting with its component, asked for if it was not; None where none is yet."""
        found = self.hosts.component(hosting)
        if found.status is not None or COMPONENT in hosting.created:
            return hosting.with_part(COMPONENT, now), found
        # Its instance may have come long after it was asked for: the weights are read now.
        if hosting.kind == "base" and self.differs(hosting):
            return None
        # Its instance is there, and paid for, whatever comes of this.
        hosting = hosting.with_part(COMPONENT, now)
        try:
            is_taken = self.hosts.create_component(hosting)
        except HostLimitError as error:
            logger.warning(LIMIT_MESSAGE, hosting=hosting.name, why=str(error))
            self.go_beyond_limit(hosting, str(error), now)
            return None
        found = self.hosts.component(hosting)
        if found.status is not None:
            return hosting, found
        if is_taken or hosting.kind == "base":
            self._be_unseen(hosting, COMPONENT, now, is_taken=is_taken or None)
        else:
            self.steps.give_up(hosting, "refused")
        return None

    def _endpoint_of(self, hosting: Hosting, now: datetime) -> Found | None:
        """Return a base's endpoint, asked for if it was not; None where there is none for now."""
        found = self.hosts.endpoint(hosting)
        if found.status is not None or ENDPOINT in hosting.created:
            return found
        if self.differs(hosting):
            return None
        try:
            is_taken = self.hosts.create_endpoint(hosting)
        except UnhostableError as error:
            self._be_unhostable(hosting, error, now)
            return None
        found = self.hosts.endpoint(hosting)
        if found.status is None:
            self._be_unseen(hosting, ENDPOINT, now, is_taken=is_taken)
            return None
        return found

    def _be_unhostable(self, hosting: Hosting, error: UnhostableError, now: datetime) -> None:
        """Give a base up that no instance is of use to."""
        logger.warning("not to be hosted", hosting=hosting.name, error=error.error, why=str(error))
        tried = hosting.with_part(MODEL, now)
        if error.error == "refused" and now - tried.since <= SEEN_WITHIN:
            # One of that name may have been deleted a moment ago.
            self.steps.stay(tried, now)
        else:
            self.steps.give_up(tried, error.error, refusal=str(error) or None)

    def _be_unseen(
        self, hosting: Hosting, part_: str, now: datetime, *, is_taken: bool | None
    ) -> None:
        """Go on after a request of which SageMaker describes nothing.

        Args:
            is_taken: whether it took that, which it describes a moment later; False where it may
                not know yet what that is made of; None where it never takes it, for which a base
                tries another type of instance.
        """
        # Its time begins with the first try: looks may have been late, or throttled, before.
        tried = hosting.with_part(part_ if is_taken else CONFIGURATION, now)
        if is_taken or (is_taken is not None and now - tried.since <= SEEN_WITHIN):
            self.steps.stay(tried, now)
        else:
            self._go_without(hosting, "refused", now)

    def go_beyond_limit(self, hosting: Hosting, said: str, now: datetime) -> None:
        """Go on where the account may have no more: a base with another type of instance.

        Args:
            hosting: as it was read.
            said: SageMaker's own words; an adapter needs no instance, but room for one more.
            now: since when.
        """
        if hosting.kind == "base":
            self._go_without(hosting, "quota", now)
        else:
            self.steps.give_up(hosting, "limit", refusal=said)

    def _base_of(self, hosting: Hosting, now: datetime) -> Hosting | None:
        """Return an adapter's base if it answers; else have it do so, or give the adapter up."""
        if hosting.base is None:
            return None
        base = self.repository.find(hosting.task_id, hosting.base)
        if base is not None and base.error is not None and base.failed_for(hosting):
            self.steps.give_up(hosting, base.error)
            return None
        if base is not None and base.state == "ready":
            return base
        if base is None and hosting.made_again:
            self.restoring.restore(hosting, now, is_to_answer=True)
        if (late := late_for(hosting, base, now)) is not None:
            self.steps.give_up(hosting, late)
            return None
        if base is not None and base.state == "gone" and hosting.made_again:
            self.make_again(base, now)
        elif base is not None and base.state == "asleep":
            self.repository.want(base.task_id, base.name, now, idle_minutes=hosting.idle_minutes)
        self.steps.stay(hosting, now)
        return None

    def _is_up(self, hosting: Hosting, found: Found, now: datetime, base: Hosting | None) -> bool:
        """Return whether a part of a hosting is in service; note where it never will be."""
        if found.status is None and now - hosting.since <= SEEN_WITHIN:
            self.steps.stay(hosting, now)  # it was taken a moment ago
        elif found.status is None:
            self.steps.give_up(hosting, "refused")
        elif not found.is_ours:
            self.steps.give_up(hosting, "name_taken")
        elif found.status == FAILED:
            logger.warning("a host does not start", hosting=hosting.name, why=found.reason)
            if hosting.kind == "base" and is_of_capacity(found.reason):
                self._go_without(hosting, "capacity", now)
            else:
                self.steps.give_up(hosting, "failed")
        elif found.status == IN_SERVICE:
            return True
        elif (
            not hosting.is_stuck(now)
            or hosting.is_starting(now)
            or (base is not None and not base.is_stuck(now))
        ):
            self.steps.stay(hosting, now)
        elif has_no_instance(hosting):
            logger.error(STUCK_MESSAGE, hosting=hosting.name, state=hosting.state)
            self._go_without(hosting, "capacity", now)
        else:
            self.steps.give_up(hosting, "stuck")
        return False

    def _go_without(self, hosting: Hosting, lack: Lack, now: datetime) -> None:
        """Have a base try the next type of instance, or all of them later; or give it up."""
        logger.warning("no instance", instance=hosting.instance_type, lack=lack)
        lacking = without(hosting, lack, now)
        hosting = self._offered(hosting.model_copy(update={"lacking": lacking}), now)
        if has_had_its_day(hosting, now):
            self.steps.enter(hosting, "deleting", error=error_of(hosting))
        else:
            # What an endpoint takes may be there although it was refused.
            self.steps.enter(hosting.with_part(ENDPOINT, now), "waiting")

    def try_next(self, hosting: Hosting, now: datetime) -> None:
        """Begin with the next type once nothing of the one before is left, and it is time."""
        hosting = self._offered(hosting, now)
        if has_no_type(hosting):
            self.steps.enter(hosting, "deleting", error=error_of(hosting))
        elif hosting.created and not self.hosts.take_down(hosting):
            if hosting.is_stuck(now):
                logger.error(STUCK_MESSAGE, hosting=hosting.name, state=hosting.state)
            self.steps.stay(hosting, now)
        elif hosting.lacking is not None and now < hosting.lacking.not_before:
            self.steps.store(hosting, hosting.model_copy(update={"created": ()}), now)
        else:
            self.steps.enter(hosting, "creating", **tried_anew(hosting))

    def make_again(self, hosting: Hosting, now: datetime, base: Hosting | None = None) -> None:
        """Have a hosting that was given up begin anew.

        Args:
            hosting: as it was read.
            now: since when.
            base: that of an adapter, as it was read.
        """
        logger.warning("a hosting is made again", hosting=hosting.name, error=hosting.error)
        made = made_again(self._offered(hosting, now), now)
        if base is None:
            self.steps.store(hosting, made, now)
        else:
            self.steps.join(hosting, made, base, now)

    def _offered(self, base: Hosting, now: datetime) -> Hosting:
        """Return a base with the types of its task's present configuration.

        Nobody deploys anything while versions only serve: so whoever tries types asks for them.
        """
        if base.kind != "base":
            return base
        present = self.tasks.latest(base.task_id)
        return base if present is None else offered(base, hosting_types(present.document), now)
