"""When rows under way are looked at: nobody is woken by their end.

A row is looked at after 5 s, then whenever an eighth of the time has passed since it was asked,
then each quarter of an hour. The moments follow from when it was asked, so that nothing has to be
stored with each look.
"""

import math
from datetime import datetime, timedelta

FIRST = timedelta(seconds=5)
"""After which a row is looked at first."""

LONGEST = timedelta(minutes=15)
"""Longest from one look to the next."""

_GROWTH = 1 + 1 / 8
# From here on an eighth is longer than the longest.
_GROWN = 8 * LONGEST
_MOST_GROWN = math.floor(math.log(_GROWN / FIRST) / math.log(_GROWTH))


def looks_by(age: timedelta) -> int:
    """Return how many looks there are to be by an age."""
    if age < FIRST:
        return 0
    if age < _age_of(_MOST_GROWN + 1):
        # What rounding may take off, the next line gives back.
        looks = max(1, math.floor(math.log(age / FIRST) / math.log(_GROWTH)))
        return looks + 1 if age >= _age_of(looks + 1) else looks
    return _MOST_GROWN + 1 + math.floor((age - _age_of(_MOST_GROWN + 1)) / LONGEST)


def is_due(asked_at: datetime, last_look: datetime, now: datetime) -> bool:
    """Return whether a row is to be looked at that was asked then, and could be last then."""
    return looks_by(now - asked_at) > looks_by(last_look - asked_at)


def next_look(asked_at: datetime, now: datetime) -> datetime:
    """Return when a row is to be looked at next."""
    return asked_at + _age_of(looks_by(now - asked_at) + 1)


def _age_of(look: int) -> timedelta:
    """Return at which age a look is due, the first being 1."""
    if look <= _MOST_GROWN + 1:
        return FIRST * _GROWTH ** (look - 1)
    return _age_of(_MOST_GROWN + 1) + (look - _MOST_GROWN - 1) * LONGEST
