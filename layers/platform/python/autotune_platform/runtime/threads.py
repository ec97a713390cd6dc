"""Doing the same to several things at once."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def in_parallel(work: Callable[[T], object], items: Sequence[T], *, at_most: int) -> None:
    """Do ``work`` to each item, on ``at_most`` threads; the first error is raised at the end."""
    if len(items) == 1:
        work(items[0])
        return
    with ThreadPoolExecutor(max_workers=at_most) as threads:
        # Not ``map``, which gives up on what has not begun as soon as one fails.
        done = [threads.submit(work, item) for item in items]
    for one in done:
        one.result()
