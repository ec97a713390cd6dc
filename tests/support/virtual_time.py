"""A clock on which many threads sleep at once, and no time passes but theirs."""

import heapq
import threading
from collections.abc import Callable, Sequence

from autotune_platform.runtime.clock import Clock

_LONGEST_TEST_SECONDS = 120


class VirtualTime(Clock):
    """Runs threads one at a time; while all sleep, it is the time that the next wakes at.

    So what they do in which order follows from how long each sleeps, and from nothing else.
    """

    def __init__(self) -> None:
        self._now = 1_700_000_000.0
        self._asleep: list[tuple[float, int, threading.Event]] = []
        self._parked = 0
        self._over = threading.Event()
        self._errors: list[BaseException] = []

    def unix(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        wake = self._park(seconds)
        self._wake_next()
        wake.wait()

    def run(self, works: Sequence[Callable[[], None]]) -> None:
        """Do all of these, which begin now, each on a thread; raise the first error."""
        for work in works:
            arguments = (work, self._park(0))
            threading.Thread(target=self._do, args=arguments, daemon=True).start()
        self._wake_next()
        assert self._over.wait(_LONGEST_TEST_SECONDS)
        if self._errors:
            raise self._errors[0]

    def _do(self, work: Callable[[], None], wake: threading.Event) -> None:
        wake.wait()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised by run
            self._errors.append(error)
        self._wake_next()

    def _park(self, seconds: float) -> threading.Event:
        self._parked += 1
        wake = threading.Event()
        heapq.heappush(self._asleep, (self._now + seconds, self._parked, wake))
        return wake

    def _wake_next(self) -> None:
        if not self._asleep:
            self._over.set()
            return
        self._now, _, wake = heapq.heappop(self._asleep)
        wake.set()
