"""How finely time is counted, for how long that is kept, and what a window of time shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from autotune.protocol.windows import Window


@dataclass(frozen=True)
class Grain:
    """A length of time that is counted together.

    Attributes:
        name: in the keys of its counters.
        seconds: its length; buckets begin at whole multiples of it, in UTC.
        kept: how long after its beginning a bucket is deleted.
    """

    name: str
    seconds: int
    kept: timedelta

    def bucket(self, moment: datetime) -> datetime:
        """Return the beginning of the bucket that a moment is in."""
        return datetime.fromtimestamp(moment.timestamp() // self.seconds * self.seconds, UTC)


FIVE_MINUTES = Grain("minutes", 300, timedelta(days=1))
HOUR = Grain("hour", 3_600, timedelta(days=8))
DAY = Grain("day", 86_400, timedelta(days=400))

OF_ORGANIZATION = (FIVE_MINUTES, HOUR, DAY)
OF_PARTS = (HOUR, DAY)
"""Of a task and of a grader, which have a counter for each model and version."""

_SHOWN: Mapping[Window, tuple[Grain, int]] = {
    "1h": (FIVE_MINUTES, 12),
    "24h": (HOUR, 24),
    "7d": (HOUR, 168),
    "30d": (DAY, 30),
}
# Each bucket has a counter for each model and version: in a week of hours they would be too many.
_SHOWN_OF_PARTS: Mapping[Window, tuple[Grain, int]] = {**_SHOWN, "7d": (DAY, 7)}


@dataclass(frozen=True)
class Span:
    """The latest buckets of a grain, the last of them not over yet."""

    grain: Grain
    starts: Sequence[datetime]


def span_of(window: Window, now: datetime, *, by_parts: bool = False) -> Span:
    """Return the buckets that a window shows.

    Args:
        by_parts: of a task or a grader, by model and version.
    """
    grain, count = (_SHOWN_OF_PARTS if by_parts else _SHOWN)[window]
    last = grain.bucket(now)
    return Span(
        grain, [last - timedelta(seconds=grain.seconds * back) for back in range(count)][::-1]
    )
