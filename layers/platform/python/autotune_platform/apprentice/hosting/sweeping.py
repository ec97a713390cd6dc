"""All hostings that are due get a look, every minute."""

from collections.abc import Callable

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.hosting.advancing import HostingAdvancing
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part
from autotune_platform.runtime.sweeping import look_at_each
from autotune_platform.storage.item_format import Item

logger = Logger()

_MOST = 500


@part
class HostingSweeping:
    """Looks after hostings."""

    advancing: HostingAdvancing

    def sweep(self, *, has_time: Callable[[], bool]) -> int:
        """Look at what is due, the longest due first; return at how many.

        One at which SageMaker does not answer holds up no other: it is due again in a minute.

        Raises:
            Exception: the first one of what failed otherwise, once all else was looked at.
        """
        due = self.advancing.repository.due(self.advancing.clock.now(), limit=_MOST)
        looks = look_at_each(due, self._look, has_time=has_time, put_off=_stays_due)
        return looks.require().count

    def _look(self, item: Item) -> None:
        try:
            self.advancing.look(self.advancing.repository.read(item))
        except UnavailableError as error:
            logger.warning("hosting not looked at", hosting=item.get("name"), why=str(error))


def _stays_due(item: Item) -> None:
    """Log that a hosting failed: what it costs is no reason to look at it later."""
    logger.exception("a hosting was not looked at", hosting=item.get("name"))
