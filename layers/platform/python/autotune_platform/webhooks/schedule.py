"""When to try again and when to give up, as pure functions: nothing here reads a clock."""

from datetime import datetime, timedelta

RETRY_DELAYS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
)
"""How long after each failed attempt the next one starts; after the seventh there is none."""

DISABLED_AFTER = timedelta(days=5)
"""How long a webhook may fail without a success."""


def next_attempt(failed_attempts: int, now: datetime) -> datetime | None:
    """Return when a delivery is tried again, None if never.

    Args:
        failed_attempts: how often it has failed by now, from 1.
    """
    if failed_attempts > len(RETRY_DELAYS):
        return None
    return now + RETRY_DELAYS[failed_attempts - 1]


def failing_since(
    before: datetime | None, now: datetime, *, succeeded: int, failed: int
) -> datetime | None:
    """Return since when a webhook has failed, after some attempts that ended about together.

    One success shows that the address works, whatever failed beside it.
    """
    if succeeded:
        return None
    return (before or now) if failed else before


def is_given_up(since: datetime | None, now: datetime) -> bool:
    """Return whether a webhook has failed for so long that it is disabled."""
    return since is not None and now - since >= DISABLED_AFTER
