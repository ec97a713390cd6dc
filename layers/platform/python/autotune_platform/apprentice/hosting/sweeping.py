"""All hostings that are due get a look, every minute."""

from collections.abc import Callable
from datetime import datetime, timedelta

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.hosting.advancing import HostingAdvancing
from autotune_platform.apprentice.hosting.looking import SEEN_EVERY
from autotune_platform.apprentice.hosting.models import Hosting
from autotune_platform.apprentice.hosting.stepping import STUCK_MESSAGE
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.sweeping import look_at_each
from autotune_platform.storage.item_format import Item

logger = Logger()

_MOST = 500
_LATER = timedelta(seconds=30)
"""Less than from one sweep to the next."""
_AT_REST = frozenset({"ready", "asleep", "gone"})
"""States in which a hosting may be for as long as anybody likes."""


@part
class HostingSweeping:
    """Looks after hostings."""

    advancing: HostingAdvancing

    def sweep(self, *, has_time: Callable[[], bool]) -> int:
        """Look at what is due, the longest due first; return at how many.

        One at which SageMaker does not answer, or that fails otherwise, holds up no other: it is
        due behind all that is due by now, and again with the next sweep.

        Raises:
            Exception: the first one of what failed otherwise, once all else was looked at.
        """
        due = self.advancing.repository.due(self.advancing.clock.now(), limit=_MOST)
        looks = look_at_each(due, self._look, has_time=has_time, put_off=self._put_off)
        return looks.require().count

    def _look(self, item: Item) -> None:
        hosting = self.advancing.repository.read(item)
        try:
            self.advancing.look(hosting)
        except UnavailableError as error:
            logger.warning("hosting not looked at", hosting=hosting.name, why=str(error))
            # What SageMaker refuses for good, as rights that are missing, looks the same.
            if self._is_stuck(hosting, self.advancing.clock.now()):
                logger.exception(STUCK_MESSAGE, hosting=hosting.name, state=hosting.state)
            self._later(item)

    def _is_stuck(self, hosting: Hosting, now: datetime) -> bool:
        if _is_at_rest(hosting) or not hosting.is_stuck(now) or hosting.is_starting(now):
            return False
        if hosting.state != "creating" or hosting.base is None or hosting.created:
            return True
        # An adapter waits for its base for a day, and was looked at since that one answers.
        base = self.advancing.repository.find(hosting.task_id, hosting.base)
        return base is not None and base.state == "ready" and now - base.since > SEEN_EVERY

    def _put_off(self, item: Item) -> None:
        logger.exception("a hosting was not looked at", hosting=item.get("name"))
        self._later(item)

    def _later(self, item: Item) -> None:
        """Have the next sweep look at it, as it costs money, behind what waits for a look now."""
        self.advancing.repository.put_off(item, self.advancing.clock.now() + _LATER)


def _is_at_rest(hosting: Hosting) -> bool:
    """Return whether SageMaker has nothing to get on with: one look that fails keeps up nothing."""
    # A base waits for its next try for a day.
    waits = hosting.state == "waiting" and not hosting.created
    return hosting.state in _AT_REST or waits
