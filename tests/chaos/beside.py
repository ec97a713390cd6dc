"""What goes on beside a run, in threads of its own, until it is stopped."""

import threading
from collections.abc import Callable


class Beside:
    """Threads that begin together and end together, as often as there is need."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._stop.set()
        self._threads: list[threading.Thread] = []

    @property
    def is_on(self) -> bool:
        """Whether it was started and not stopped."""
        return not self._stop.is_set()

    def start(self, *deeds: Callable[[], None]) -> None:
        """Begin each in a thread; each is to return once ``is_over`` says so."""
        self._stop.clear()
        self._threads = [threading.Thread(target=deed) for deed in deeds]
        for thread in self._threads:
            thread.start()

    def is_over(self, *, after: float) -> bool:
        """Sleep for some seconds, or until it is stopped; return whether it is."""
        return self._stop.wait(after)

    def stop(self) -> None:
        """End, and wait for what is in progress; nothing happens where nothing was started."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._threads = []
