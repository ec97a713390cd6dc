"""Asking a grader a second time where its answer takes longer than its owner thinks it should.

The tail of many latencies is bad luck of one request, and a second one has luck of its own
(J. Dean and L. A. Barroso, "The Tail at Scale", CACM 56:2, 2013). Off unless the owner sets
``hedgeAfterMs``.
"""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import ExitStack
from types import TracebackType
from typing import Self, TypeVar

from autotune_platform.budgets.permits import Admitted, TurnRefusedError

T = TypeVar("T")
Ask = Callable[[float], T]


class Hedging:
    """Hedges the calls of one admitted round, each at most once.

    The first good answer wins. Nothing cuts the other call off: it ends by the time limit that
    both share, and leaving this context waits for it, so that a round never has calls under way
    that its grader's limits do not know of.
    """

    def __init__(self, admitted: Admitted, *, after_ms: int | None) -> None:
        self._admitted = admitted
        self._after_seconds = None if after_ms is None else after_ms / 1000
        # No more second calls than first ones at any time: a grader that is slow as a whole is
        # not asked much more than it would be.
        self._free = threading.Semaphore(admitted.concurrency)
        self._threads = ThreadPoolExecutor(max_workers=2 * admitted.concurrency)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._threads.shutdown()

    def call(self, ask: Ask[T], *, timeout_seconds: float, late: Callable[[T], None]) -> T:
        """Return the first good answer to a question, or raise what the first call raised.

        Args:
            ask: asks under a fresh request id, in at most the seconds that it is given.
            timeout_seconds: for both calls together.
            late: is told of a good answer that came second, on another thread.
        """
        after = self._after_seconds
        if after is None or after >= timeout_seconds:
            return ask(timeout_seconds)
        first = self._threads.submit(ask, timeout_seconds)
        wait([first], timeout=after)
        leave = None if first.done() else self._leave()
        if leave is None:
            return first.result()
        second = self._threads.submit(ask, timeout_seconds - after)
        self._give_back_after(leave, first, second)
        for call in as_completed([first, second]):
            if call.exception() is None:
                other = second if call is first else first
                other.add_done_callback(lambda loser: _tell(loser, late))
                return call.result()
        return first.result()

    def _leave(self) -> ExitStack | None:
        """Take what a second call needs, if it can have that at this moment."""
        if not self._free.acquire(blocking=False):
            return None
        with ExitStack() as leave:
            leave.callback(self._free.release)
            try:
                leave.enter_context(self._admitted.turn_now())
            except TurnRefusedError:
                return None
            return leave.pop_all()

    def _give_back_after(self, leave: ExitStack, *calls: Future[T]) -> None:
        """Give it back once both calls are over: until then there is one more than admitted."""
        ended = itertools.count(1)

        def on_end(_: Future[T]) -> None:
            if next(ended) == len(calls):
                leave.close()

        for call in calls:
            call.add_done_callback(on_end)


def _tell(loser: Future[T], late: Callable[[T], None]) -> None:
    if loser.exception() is None:
        late(loser.result())
