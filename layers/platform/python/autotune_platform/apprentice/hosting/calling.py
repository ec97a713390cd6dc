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
            stored = note(
                served.task_id, served.endpoint, self.clock.now(), idle_minutes=idle_minutes
            )
            if not stored and not is_awake:
                self._want_again(served, idle_minutes)
        except REFUSALS as error:
            logger.warning("call not noted", hosting=served.endpoint, why=type(error).__name__)

    def _want_again(self, served: ServedModel, idle_minutes: int) -> None:
        """Note a call with the adapter where its base is not stored, which has that made again.

        Most often somebody else has noted the same minute.
        """
        task_id, base, adapter = served.task_id, served.endpoint, served.component
        assert task_id is not None
        assert base is not None
        assert adapter is not None
        if self.repository.find(task_id, base) is None:
            self.repository.want(task_id, adapter, self.clock.now(), idle_minutes=idle_minutes)
