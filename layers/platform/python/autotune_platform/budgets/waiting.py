"""How many requests of an organisation wait at once: each that does holds a function.

Functions that wait are few, and shared by all. Whoever has as many waiting as they may is answered
at once instead, with what is known by then; nothing is refused. Only a verification of a grader or
a connection knows nothing before its end: beyond an organisation's share it is refused for the
moment.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Literal

from autotune.protocol.ids import new_id
from autotune.protocol.problems import LimitProblem
from autotune_platform.access.models import Caller
from autotune_platform.budgets.slots import Slots
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import TooManyRequestsError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.parts import part

# A function that is killed releases nothing: its place is free when its wait would have ended.
_BEYOND_THE_WAIT_SECONDS = 10
# To give a place back twice does no harm.
_TO_ANSWER_SECONDS = 1
_RETRY_AFTER_SECONDS = 5
_ALL = "all"

VERIFICATIONS_AT_ONCE = 4
"""Most verifications of graders that an organisation has under way at once. As many of connections,
together with what else waits for a provider; one holds a function for up to half a minute."""


def half_of(functions: int) -> int:
    """Return how many of these one organisation may hold, so that none keeps out all others."""
    return max(1, functions // 2)


class Held(FrozenModel):
    """A place that was taken, as whoever gives it back has to know it."""

    scope: str
    request_id: str
    lane: int


@dataclass
class Work:
    """Work in a function of its own, which does not end with the wait for it.

    Without it, whoever waits for a second at a time would have a function more at work each second.

    Attributes:
        seconds: how long it lasts at most, from when it is begun.
        goes_on: whether it did when nobody waited any more. Its place is then kept, until that
            function gives it back (``HeldPlaces``), or so long.
        held: the organisation's place, and that among all.
    """

    seconds: float
    goes_on: bool = False
    held: list[Held] = field(default_factory=list)


@part
class HeldPlaces:
    """Gives places back of those who do not wait any more."""

    slots: Slots
    clock: Clock = SYSTEM_CLOCK

    def release(self, held: Held, *, waited_until: float) -> None:
        """Give a place back, unless whoever waits for this function does it.

        Args:
            waited_until: Unix seconds.
        """
        if self.clock.unix() >= waited_until - _TO_ANSWER_SECONDS:
            self.slots.release(held.scope, held.request_id, held.lane)


@part
class WaitingShares:
    """Keeps each organisation within its share of the functions that wait.

    Attributes:
        of: what waits; the functions of each kind are shared apart.
        most_of_all: how many of all organisations wait at once, so that functions are left to those
            who ask without waiting; None where nothing else needs them.
        most_of_one: how many of one organisation do at most, whatever its limit.
    """

    slots: Slots
    of: Literal[
        "reads",
        "rewards",
        "verifications",
        "connections",
        "steps",
        "deck_runs",
        "chats",
        "apprentice_runs",
    ]
    most_of_all: int | None = None
    most_of_one: int | None = None

    @contextmanager
    def share(self, caller: Caller, seconds: float, *, work: Work | None = None) -> Iterator[float]:
        """Take a place for a request that would wait; give how long it may, 0 without a place."""
        most = caller.limits.waiting_requests
        if self.most_of_one is not None:
            most = min(most, self.most_of_one)
        if seconds <= 0 or most == 0:
            yield 0
            return
        with self.place(caller.organization_id, seconds, most=most, work=work) as is_taken:
            yield seconds if is_taken else 0

    @contextmanager
    def place(
        self, organization_id: str, seconds: float, *, most: int, work: Work | None = None
    ) -> Iterator[bool]:
        """Take one of an organisation's places, and one of all; give whether there was one.

        Args:
            work: whose places are kept, both, where it goes on.
        """
        with ExitStack() as taken:
            is_taken = taken.enter_context(self._place(organization_id, seconds, most, work))
            if is_taken and self.most_of_all is not None:
                is_taken = taken.enter_context(self._place(_ALL, seconds, self.most_of_all, work))
            yield is_taken

    @contextmanager
    def verification(
        self, caller: Caller, seconds: float, *, what: str = "graders"
    ) -> Iterator[None]:
        """Take a place for a verification that may last for so long.

        Raises:
            TooManyRequestsError: the organisation has as many under way as it may have.
        """
        most = VERIFICATIONS_AT_ONCE
        with self._place(caller.organization_id, seconds, most) as is_taken:
            if not is_taken:
                raise TooManyRequestsError(
                    f"{most} verifications of this organization's {what} are under way",
                    limit=LimitProblem(
                        name="verifications at once", maximum=most, unit="verifications"
                    ),
                    retry_after_seconds=_RETRY_AFTER_SECONDS,
                )
            yield

    @contextmanager
    def _place(
        self, of_whom: str, seconds: float, most: int, work: Work | None = None
    ) -> Iterator[bool]:
        """Take one of so many places, and give it back; give whether there was one."""
        scope, request_id = f"waiting#{self.of}#{of_whom}", new_id("req")
        longest = seconds if work is None else max(seconds, work.seconds)
        taken = self.slots.take(
            scope, request_id, wanted=1, limit=most, seconds=longest + _BEYOND_THE_WAIT_SECONDS
        )
        if not taken.slots:
            yield False
            return
        if work is not None:
            work.held.append(Held(scope=scope, request_id=request_id, lane=taken.lane))
        try:
            yield True
        finally:
            if work is None or not work.goes_on:
                self.slots.release(scope, request_id, taken.lane)
