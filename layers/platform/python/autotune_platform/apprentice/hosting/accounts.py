"""What the instances of a task's hostings cost, by UTC day.

An instance is there from when an endpoint is asked for until no copy is left, or all of it is gone.
Whoever looks at a hosting adds the time since the last look, in the transaction that stores the
look: so each second is counted once, however often looks are doubled, late or killed.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta

from autotune_platform.apprentice.hosting.models import COMPONENT, ENDPOINT, Hosting

_NOT_TO_BE_HAD = frozenset({"no_capacity", "limit", "refused"})


def accounted(
    before: Hosting, after: Hosting, now: datetime, *, is_missing: bool = False
) -> tuple[datetime | None, dict[str, int]]:
    """Return until when a hosting's instance is counted after a look, and its seconds by day.

    An instance that is asked for counts once it is there or was given up; one that was not to be
    had, at the last try too, costs nothing. One that is lost was there until it was last
    seen: nobody knows when it went, and what is not known is not charged.

    Args:
        before: as it was read.
        after: as the look leaves it.
        is_missing: whether the copy that it had is not there any more, which is as being lost.
    """
    since = before.counted_until
    if since is None or is_missing:
        return (now if _has_instance(after) else None), {}
    if _is_awaited(after):
        return since, {}
    was_refused = _is_awaited(before) and _has_none(after)
    is_lost = after.error == "lost" and before.error is None
    seconds = {} if was_refused or is_lost else dict(_by_day(since, now))
    is_over = is_lost or was_refused or after.state in {"asleep", "waiting", "gone"}
    # What was rounded up is in the account by now, and is not counted by the next look.
    until = since + timedelta(seconds=sum(seconds.values()))
    return (None if is_over else until), seconds


def _has_instance(hosting: Hosting) -> bool:
    """Whether an instance is there, or asked for."""
    if hosting.kind != "base" or ENDPOINT not in hosting.created or not hosting.copies:
        return False
    return hosting.state in {"creating", "ready", "resizing"}


def _has_none(after: Hosting) -> bool:
    """Whether an instance that was awaited was not to be had.

    One whose endpoint has a component was there, whatever that one lacked.
    """
    is_given_up = after.state == "deleting" and after.error in _NOT_TO_BE_HAD
    never_came = after.state == "waiting" or is_given_up
    return after.state == "asleep" or (never_came and COMPONENT not in after.created)


def _is_awaited(hosting: Hosting) -> bool:
    is_waking = hosting.state == "resizing" and hosting.copies > 0
    return hosting.state == "creating" or is_waking


def _by_day(since: datetime, until: datetime) -> Iterator[tuple[str, int]]:
    """Yield days with their seconds; what is left of a second counts as one."""
    at = since.astimezone(UTC)
    while at < until:
        midnight = datetime.combine(at.date() + timedelta(days=1), time(), UTC)
        end = min(midnight, until)
        count = -(-(end - at) // timedelta(seconds=1))
        yield at.date().isoformat(), count
        at += timedelta(seconds=count)
