"""What asks a version at SageMaker notes it, so that what is idle sleeps and what is wanted wakes.

A base has one note a minute, whoever writes it: the write is on condition that the minute is a
later one, and a process tries once a minute.
"""

import threading

from aws_lambda_powertools import Logger
from cachetools import TTLCache

from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.local.contract import ServedModel
from autotune_platform.runtime.clients import REFUSALS
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part

logger = Logger()

_A_MINUTE = 60
_MOST_BASES = 1_000


@part
class HostingCalls:
    """Notes calls; threads share it.

    Attributes:
        repository: of a client that gives up soon, since an answer waits for it.
    """

    repository: HostingRepository
    clock: Clock = SYSTEM_CLOCK

    def __post_init__(self) -> None:
        """Begin with nothing noted."""
        self._noted: TTLCache[tuple[str, bool], bool] = TTLCache(_MOST_BASES, _A_MINUTE)
        self._lock = threading.Lock()

    def note(self, served: ServedModel, *, idle_minutes: int, is_awake: bool) -> None:
        """Note a call of a component; see ``contract.CallNotes``.

        A note that the table does not take is left out: the next minute has another.
        """
        if served.component is None or served.endpoint is None or served.task_id is None:
            return
        key = (served.endpoint, is_awake)
        with self._lock:
            if key in self._noted:
                return
            self._noted[key] = True
        note = self.repository.note_call if is_awake else self.repository.want
        try:
            note(served.task_id, served.endpoint, self.clock.now(), idle_minutes=idle_minutes)
        except REFUSALS as error:
            logger.warning("call not noted", hosting=served.endpoint, why=type(error).__name__)
