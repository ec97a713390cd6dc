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
        """
        looked = 0
        advancing = self.advancing
        for hosting in advancing.repository.due(advancing.clock.now(), limit=_MOST):
            if not has_time():
                break
            looked += 1
            try:
                advancing.look(hosting)
            except UnavailableError as error:
                logger.warning("hosting not looked at", hosting=hosting.name, why=str(error))
        return looked
