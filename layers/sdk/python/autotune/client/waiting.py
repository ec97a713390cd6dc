"""Courses that long-poll until nothing is pending."""

import math
import time
from collections.abc import Callable
from typing import TypeVar

from autotune.client.calls import Call
from autotune.client.errors import WaitTimeoutError
from autotune.client.exchange import Course, Pause, Plan, Session
from autotune.protocol.limits import MAX_WAIT_SECONDS

GAP_GROWTH = 1.2
"""How much longer each gap between looks is, where the server holds none: who waited for something
of ten seconds knows it within two."""

_GAP_SECONDS = 0.2
_LONGEST_GAP_SECONDS = 5.0

T = TypeVar("T")


def polling(
    describe: Callable[[int], Call[T]],
    *,
    pending: Callable[[T], bool],
    timeout: float | None,
    what: str,
) -> Plan[T]:
    """Ask until the answer is no longer pending.

    Args:
        describe: returns the call that lets the server hold the request for the given seconds.
        timeout: seconds to wait in all; None waits for ever.
        what: names the thing in the error.

    Raises:
        WaitTimeoutError: it was still pending after ``timeout``.
    """

    def poll(session: Session) -> Course[T]:
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        gap = _GAP_SECONDS
        while True:
            asked_at = time.monotonic()
            left = deadline - asked_at
            hold = math.ceil(min(max(left, 0), MAX_WAIT_SECONDS))
            answer = yield from session.course(describe(hold))
            if not pending(answer):
                return answer
            now = time.monotonic()
            if now + _GAP_SECONDS > deadline:
                raise WaitTimeoutError(f"{what} was still pending after {timeout:g} s")
            # A gateway in between may cut the long poll short, and the API answers at once where
            # too many of an organisation's reads wait: never ask in a tight loop.
            was_held = now - asked_at > hold / 2
            gap = _GAP_SECONDS if was_held else min(2 * gap, _LONGEST_GAP_SECONDS)
            yield Pause(min(gap, deadline - now))

    return poll
