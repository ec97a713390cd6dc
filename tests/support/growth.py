"""How much longer something takes with more: the ratio says what no number of seconds does."""

import time
from collections.abc import Callable

_TRIES = 3
_LEAST_SECONDS = 1e-3


def growth(work: Callable[[int], object], small: int, large: int) -> float:
    """Return how many times as long ``work(large)`` takes as ``work(small)``.

    Of each it is the shortest of some tries, in seconds of the processor. What takes less than a
    millisecond counts as one, so that noise is no growth.
    """
    return _seconds(work, large) / max(_seconds(work, small), _LEAST_SECONDS)


def _seconds(work: Callable[[int], object], size: int) -> float:
    best = float("inf")
    for _ in range(_TRIES):
        started = time.process_time()
        work(size)
        best = min(best, time.process_time() - started)
    return best
