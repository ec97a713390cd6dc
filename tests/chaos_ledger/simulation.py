"""Time, chance and threads of a round's process, from before its platform is made.

What a round does follows from its seed alone: not from how busy the machine is, nor from names that
were drawn in earnest, nor from which of two threads is sooner. Caches age by this time too.
"""

import random
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from cachetools import TTLCache
from moto.moto_api._internal import mock_random

from autotune.protocol import ids
from autotune_platform.ledger import asking, job_states
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.outbound import connections
from autotune_platform.runtime import threads
from autotune_platform.runtime.clock import Clock
from tests.providers.state import Clock as FakeClock


class KilledError(BaseException):
    """The process is gone: nothing catches it."""


class _Done(Future[Any]):
    """A future that is over; a set of them has the same order in each process."""

    _numbers = count()

    def __init__(self) -> None:
        super().__init__()
        self._number = next(self._numbers)

    def __hash__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> bool:
        return self is other


class Inline:
    """Does at once what an executor does on threads, in the order in which it is handed in."""

    def __init__(self, **_: Any) -> None:
        pass

    def __enter__(self) -> "Inline":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, work: Callable[..., Any], *given: Any, **named: Any) -> Future[Any]:
        done = _Done()
        try:
            done.set_result(work(*given, **named))
        except Exception as error:  # noqa: BLE001 - as an executor hands it on
            done.set_exception(error)
        return done


class Simulation:
    """What the platform has for time.

    Attributes:
        skew: returns by how many seconds the clock of whoever runs at present is ahead.
        exchange: does a request to a provider.
    """

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._slept = 0.0
        self.skew: Callable[[], float] = lambda: 0.0
        self.exchange: Callable[[Callable[[], Any]], Any] = lambda send: send()

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now(), UTC) + timedelta(seconds=self.skew())

    def monotonic(self) -> float:
        return self._clock.now() + self._slept

    def sleep(self, seconds: float) -> None:
        """Return at once; whoever waits sees time pass all the same, or would wait for ever."""
        self._slept += seconds


@contextmanager
def simulated(clock: FakeClock, seed: int) -> Iterator[Simulation]:
    """Have time, chance and threads of the platform be a simulation's."""
    made, chance = Simulation(clock), random.Random(f"names-{seed}")
    real, reading = Exchanges.exchange, Exchanges.reading

    def exchange(self: Exchanges, *given: Any, **named: Any) -> Any:
        return made.exchange(lambda: real(self, *given, **named))

    def read(self: Exchanges, *given: Any, **named: Any) -> Any:
        return made.exchange(lambda: reading(self, *given, **named))

    drawn = SimpleNamespace(
        token_bytes=chance.randbytes,
        token_hex=lambda size: chance.randbytes(size).hex(),
        token_urlsafe=secrets.token_urlsafe,
    )
    ticking = SimpleNamespace(time_ns=lambda: int(clock.now() * 1e9))
    with ExitStack() as stack:
        for change in (
            patch.object(Clock, "now", lambda _: made.now()),
            patch.object(Clock, "monotonic", lambda _: made.monotonic()),
            patch.object(Clock, "sleep", lambda _, seconds: made.sleep(seconds)),
            patch.object(TTLCache.__init__, "__defaults__", (made.monotonic, None)),
            patch.object(connections, "time", SimpleNamespace(monotonic=made.monotonic)),
            patch.object(Exchanges, "exchange", exchange),
            patch.object(Exchanges, "reading", read),
            patch.object(threads, "ThreadPoolExecutor", Inline),
            patch.object(asking, "ThreadPoolExecutor", Inline),
            patch.object(ids, "secrets", drawn),
            patch.object(ids, "time", ticking),
            patch.object(job_states, "secrets", drawn),
        ):
            stack.enter_context(change)
        random.seed(seed)
        mock_random.seed(seed)
        yield made
