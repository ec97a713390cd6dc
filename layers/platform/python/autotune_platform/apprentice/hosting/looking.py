"""When a hosting is looked at again, and what a look makes of the minutes that callers noted."""

from datetime import datetime, timedelta
from typing import Final

from autotune_platform.apprentice.hosting.models import KEPT_FOR, Hosting

_SOON: Final = timedelta(seconds=20)
_LATER: Final = timedelta(hours=1)
SEEN_EVERY: Final = timedelta(minutes=5)
"""So often what is to answer is described: it may be gone though nobody here took it down."""


def next_look(hosting: Hosting, now: datetime) -> datetime:
    """Return when a hosting is to be looked at after a look."""
    if hosting.state == "gone":
        if hosting.unwanted_at is not None:
            return hosting.since
        return max(hosting.since + KEPT_FOR, now + _LATER)
    if hosting.state == "waiting" and hosting.lacking is not None and not hosting.created:
        # Its task may have other types by then.
        return max(now, min(hosting.lacking.not_before, now + SEEN_EVERY))
    if hosting.state == "ready":
        idle_at = _idle_at(hosting) if hosting.kind == "base" else now + SEEN_EVERY
        return min(max(idle_at, now + _SOON), now + SEEN_EVERY)
    if hosting.state == "creating" and hosting.kind == "adapter":
        # Its base may wait for an instance for a day.
        return now + min(max((now - hosting.since) / 60, _SOON), SEEN_EVERY)
    return now + (_LATER if hosting.state == "asleep" else _SOON)


def _idle_at(hosting: Hosting) -> datetime:
    """Return when nobody asked it for long enough; silence is not idleness."""
    last = max(one for one in (hosting.since, hosting.called_at, hosting.wanted_at) if one)
    return last + timedelta(minutes=hosting.idle_minutes)


def is_idle(hosting: Hosting, now: datetime) -> bool:
    """Return whether it is a base that nobody asked for as long as its task waits."""
    return hosting.kind == "base" and now >= _idle_at(hosting)


def was_wanted(hosting: Hosting) -> bool:
    """Return whether somebody was not answered in the minute when it fell asleep, or later."""
    wanted, minute = hosting.wanted_at, timedelta(minutes=1)
    return wanted is not None and wanted > hosting.since - minute


def listened(hosting: Hosting) -> Hosting:
    """Return a hosting with since when it does not answer."""
    since = None
    if hosting.is_silent:
        known, called = hosting.silent_since, hosting.called_at
        is_known = known is not None and (called is None or called < known)
        since = known if is_known else hosting.wanted_at
    return hosting.model_copy(update={"silent_since": since})
