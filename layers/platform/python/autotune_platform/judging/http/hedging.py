"""Hedged calls: a second call to a grader whose answer takes longer than its owner expects.

A long latency is often the bad luck of one request, and a second request may be luckier (J. Dean
and L. A. Barroso, "The Tail at Scale", CACM 56:2, 2013). Hedging is off unless the owner sets
``hedgeAfterMs``.
"""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import ExitStack
from typing import Self, TypeVar

from autotune_platform.budgets.permit import Permit, SlotRefusedError

T = TypeVar("T")
Ask = Callable[[float], T]


class Hedging:
    """Hedges the calls of one round, each at most once.

    The first good answer wins. The other call is not cancelled. It ends by the time limit that both
    calls share, and leaving this context waits for it. So every call under way is counted against
    its grader's limits.
    """

    def __init__(self, permit: Permit, *, after_ms: int | None) -> None:
        self._permit = permit
        self._after_seconds = None if after_ms is None else after_ms / 1000
        # At any time there are at most as many second calls as first ones. A grader that is slow as
        # a whole gets at most twice the calls.
        self._free = threading.Semaphore(permit.concurrency)
        self._threads = ThreadPoolExecutor(max_workers=2 * permit.concurrency)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()

    def call(self, ask: Ask[T], *, timeout_seconds: float, late: Callable[[T], None]) -> T:
        """Return the first good answer to a question, or raise the error of the first call.

        Args:
            ask: asks under a fresh request id, in at most the seconds that it is given.
            timeout_seconds: for both calls together.
            late: receives a good answer that came second, on another thread.
        """
        after = self._after_seconds
        if after is None or after >= timeout_seconds:
            return ask(timeout_seconds)
        first = self._threads.submit(ask, timeout_seconds)
        wait([first], timeout=after)
        slot = None if first.done() else self._slot()
        if slot is None:
            return first.result()
        second = self._threads.submit(ask, timeout_seconds - after)
        self._release_after(slot, first, second)
        for call in as_completed([first, second]):
            if call.exception() is None:
                other = second if call is first else first
                other.add_done_callback(lambda loser: _pass_on(loser, late))
                return call.result()
        return first.result()

    def _slot(self) -> ExitStack | None:
        """Return a slot for a second call, None if there is none at this moment."""
        if not self._free.acquire(blocking=False):
            return None
        with ExitStack() as slot:
            slot.callback(self._free.release)
            try:
                slot.enter_context(self._permit.extra_slot())
            except SlotRefusedError:
                return None
            return slot.pop_all()

    def _release_after(self, slot: ExitStack, *calls: Future[T]) -> None:
        """Release the slot once all the calls are over."""
        ended = itertools.count(1)

        def on_end(_: Future[T]) -> None:
            if next(ended) == len(calls):
                slot.close()

        for call in calls:
            call.add_done_callback(on_end)


def _pass_on(loser: Future[T], late: Callable[[T], None]) -> None:
    if loser.exception() is None:
        late(loser.result())
