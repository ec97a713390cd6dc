"""Looking for something again and again while a caller waits for it."""

from collections.abc import Iterator
from dataclasses import dataclass

from autotune_platform.runtime.clock import Clock


@dataclass(frozen=True, kw_only=True)
class LongPoll:
    """How often to look.

    The pause doubles after each look, up to a share of the time waited so far: who waits for
    minutes is served as well by fewer looks.

    Attributes:
        first_seconds: the first pause.
        usual_seconds: pauses may double up to this, however short the wait has been.
        longest_seconds: no pause is longer.
        looks_of_a_wait: a pause beyond ``usual_seconds`` is at most this part of the time waited.
    """

    first_seconds: float
    usual_seconds: float
    longest_seconds: float
    looks_of_a_wait: int = 1

    def looks(self, clock: Clock, *, seconds: float) -> Iterator[bool]:
        """Sleep before each look; yield whether it is the last, because the time is up."""
        began, pause, waited = clock.monotonic(), self.first_seconds, 0.0
        while waited < seconds:
            clock.sleep(min(pause, seconds - waited))
            waited = clock.monotonic() - began
            yield waited >= seconds
            slowest = min(waited / self.looks_of_a_wait, self.longest_seconds)
            pause = min(pause * 2, max(slowest, self.usual_seconds))
