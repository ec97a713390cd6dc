"""The clock that all of the platform reads while versions live: it is turned forward by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from unittest.mock import patch

from autotune_platform.runtime.clock import Clock

BEGINS_BEFORE = timedelta(hours=4)
"""As long as the suite may take until its midnight, so that this does not come by itself."""


def last_sunday(today: date) -> date:
    """Return the next Sunday that ends a month: a day, a week and a month are over with it."""
    first = today.replace(day=1)
    while True:
        after = (first + timedelta(days=32)).replace(day=1)
        last = after - timedelta(days=1)
        if last > today and last.isoweekday() == 7:
            return last
        first = after


class TurnedClock:
    """Is ahead of the machine's clock by what it was turned, from any thread.

    Attributes:
        midnight: the end of the day that it begins in, which ends a week and a month too.
    """

    def __init__(self) -> None:
        day = last_sunday(datetime.now(UTC).date())
        self.midnight = datetime.combine(day + timedelta(days=1), time(), UTC)
        self._ahead = timedelta()
        self.turn_to(self.midnight - BEGINS_BEFORE)

    def now(self) -> datetime:
        """Return the time, in UTC."""
        return datetime.now(UTC) + self._ahead

    def turn_to(self, moment: datetime) -> None:
        """Have it be that time now; it never goes back."""
        self._ahead += max(moment - self.now(), timedelta())

    @property
    def is_past_midnight(self) -> bool:
        """Whether another day, week and month have begun."""
        return self.now() >= self.midnight

    @contextmanager
    def read_by_all(self) -> Iterator[None]:
        """Have all parts of the platform read it."""
        with patch.object(Clock, "now", lambda _: self.now()):
            yield
