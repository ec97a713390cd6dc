"""When a hosting that was given up is made again: its archive is kept, and callers ask for it."""

from datetime import datetime, timedelta
from typing import Final

from autotune_platform.apprentice.hosting.models import Hosting

WANTED_NOW: Final = timedelta(minutes=5)
"""Somebody who was not answered so lately wants it now. What returns takes two or three looks, one
a minute, behind a note that is of the beginning of a minute: a single call is to be enough."""
_FIRST_PAUSE = timedelta(minutes=15)
_LONGEST_PAUSE = timedelta(days=1)
_MOST_DOUBLED = 7
_LASTED = timedelta(days=2)
"""One that was there for so long begins with the first pause again."""


def is_wanted_now(hosting: Hosting, now: datetime) -> bool:
    """Return whether somebody who asked it, or an adapter of it, was not answered just now."""
    return hosting.wanted_at is not None and now - hosting.wanted_at <= WANTED_NOW


def may_return(adapter: Hosting, base: Hosting, now: datetime) -> bool:
    """Return whether an adapter that was given up is to be made again now.

    A base that is being taken down takes its adapters along, so they wait for its end.
    """
    is_asked = is_wanted_now(base, now) and base.state != "deleting"
    return is_asked and now >= adapter.since + pause_of(adapter)


def pause_of(hosting: Hosting) -> timedelta:
    """Return how long a hosting stays away after it was given up: each time for twice as long.

    One that nobody asked had no fault, and is made again at once.
    """
    if hosting.error == "unasked":
        return timedelta()
    begun = hosting.made_again_at
    if begun is None or hosting.since - begun > _LASTED:
        return _FIRST_PAUSE
    return min(_FIRST_PAUSE * (1 << min(hosting.made_again, _MOST_DOUBLED)), _LONGEST_PAUSE)


def made_again(hosting: Hosting, now: datetime) -> Hosting:
    """Return a hosting that begins anew, under its name: that has always had the same content."""
    begun = hosting.made_again_at
    is_first = begun is None or hosting.since - begun > _LASTED
    changes = {
        "state": "creating",
        "since": now,
        "begun_at": now,
        "copies": 1,
        "created": (),
        "error": None,
        "refusal": None,
        "instance_type": hosting.types[0] if hosting.kind == "base" else None,
        "lacking": None,
        "unasked_since": None,
        "made_again": 1 if is_first else hosting.made_again + 1,
        "made_again_at": now,
    }
    return hosting.model_copy(update=changes)
