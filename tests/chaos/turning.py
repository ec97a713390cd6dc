"""The time of a local stack's functions, which is turned while they run.

Each process of a function imports ``turned_clock/sitecustomize.py`` when it starts, which adds to
its time what a file says; product code knows nothing of it. MiniStack keeps the machine's time, so
that queues and schedules wait as long as ever.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from unittest.mock import patch

from autotune.protocol import signing

FOLDER = Path(__file__).parent / "turned_clock"


class TurnedClock:
    """Sets the time of functions.

    Args:
        file: where it is written by how much their time is ahead; it is made.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._ahead = timedelta()
        self._write()

    @property
    def environment(self) -> Mapping[str, str]:
        """What MiniStack hands on to its functions."""
        others = os.environ.get("PYTHONPATH")
        path = [str(FOLDER), *([others] if others else [])]
        return {"PYTHONPATH": os.pathsep.join(path), "TURNED_CLOCK_FILE": str(self._file)}

    def now(self) -> datetime:
        """Return the time of functions."""
        return datetime.now(UTC) + self._ahead

    @contextmanager
    def signing(self) -> Iterator[None]:
        """Have clients of this process sign by it: what is five minutes old is refused."""

        def moment(timestamp: int | None) -> str:
            return str(int(self.now().timestamp()) if timestamp is None else timestamp)

        with patch.object(signing, "_moment", moment):
            yield

    def turn_to(self, moment: datetime) -> None:
        """Have it be a moment now; time goes on from there."""
        self._ahead = moment - datetime.now(UTC)
        self._write()

    def advance(self, by: timedelta) -> None:
        """Have some time pass at once."""
        self.turn_to(self.now() + by)

    def _write(self) -> None:
        # At once, for whoever reads it: a file that is half written is another time.
        unfinished = self._file.with_suffix(".unfinished")
        unfinished.write_text(str(self._ahead.total_seconds()))
        unfinished.replace(self._file)


def when_all_turn(after: date) -> datetime:
    """Return the first midnight after a day that begins a week and a month: a Monday, the first."""
    day = after + timedelta(days=1)
    while (day.day, day.isoweekday()) != (1, 1):
        day += timedelta(days=1)
    return datetime.combine(day, time(), UTC)
