"""All hostings that are due get a look, every minute."""

from collections.abc import Callable

from aws_lambda_powertools import Logger

from autotune_platform.apprentice.hosting.advancing import HostingAdvancing
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.parts import part

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
        looked, failed = 0, None
        advancing = self.advancing
        for item in advancing.repository.due(advancing.clock.now(), limit=_MOST):
            if not has_time():
                break
            looked += 1
            try:
                advancing.look(advancing.repository.read(item))
            except UnavailableError as error:
                logger.warning("hosting not looked at", hosting=item.get("name"), why=str(error))
            except Exception as error:
                logger.exception("a hosting was not looked at", hosting=item.get("name"))
                failed = failed or error
        if failed is not None:
            raise failed
        return looked
