"""What becomes of a base for which SageMaker has no instance: the next type, then a later time.

Its model is trained and paid for, and want of capacity passes; a quota is raised by an operator,
which takes a day or two. So each type of the task is tried in its order, and when none has room all
of them again after a pause that grows, for a day: as long as a job is waited for. More would keep
the task from its next training, and wins little: what was trained is kept, and can be hosted later.
"""

import re
from datetime import datetime, timedelta
from typing import Any, Final

from autotune_platform.apprentice.hosting.models import (
    COMPONENT,
    ENDPOINT,
    Hosting,
    HostingError,
    Lack,
    Lacking,
)

GIVE_UP_AFTER: Final = timedelta(hours=24)
"""So long all types of instances may be without room."""
AT_MOST: Final = timedelta(hours=28)
"""An adapter gives up after so long whatever its base waits for: a pause and some tries later."""
_FIRST_PAUSE: Final = timedelta(minutes=10)
_LONGEST_PAUSE: Final = timedelta(hours=2)
_MOST_DOUBLED: Final = 4

_CAPACITY: Final = re.compile(
    r"InsufficientInstanceCapacity|InsufficientCapacity|CapacityError|[Ii]nsufficient capacity"
    r"|Unable to provision requested ML compute capacity|does not have sufficient capacity"
)


def is_of_capacity(reason: str) -> bool:
    """Return whether SageMaker failed something for want of instances, by its ``FailureReason``."""
    return _CAPACITY.search(reason) is not None


def has_no_instance(hosting: Hosting) -> bool:
    """Return whether a base that is being made has nothing yet but an endpoint without a host.

    An endpoint runs no container before it has a component: what keeps it is the instance.
    """
    return ENDPOINT in hosting.created and COMPONENT not in hosting.created


def pause_of(rounds: int) -> timedelta:
    """Return how long to wait after so many rounds in which no type had room, from 1."""
    return min(_FIRST_PAUSE * (1 << min(rounds - 1, _MOST_DOUBLED)), _LONGEST_PAUSE)


def without(hosting: Hosting, lack: Lack, now: datetime) -> tuple[Lacking, bool]:
    """Return what a base lacks whose instance is not to be had, and whether it has had its day."""
    known, types = hosting.lacking, hosting.types
    since, rounds = (known.since, known.rounds) if known else (now, 0)
    lacks = {**(known.lacks if known else {}), hosting.instance_type or "": lack}
    lacks = {one: why for one, why in lacks.items() if one in {*types, hosting.instance_type}}
    at = types.index(hosting.instance_type) if hosting.instance_type in types else -1
    is_last = at + 1 == len(types)
    after = Lacking(
        since=since,
        rounds=rounds + is_last,
        lacks=lacks,
        next=types[0 if is_last else at + 1],
        not_before=now + pause_of(rounds + 1) if is_last else now,
    )
    return after, is_last and now - since >= GIVE_UP_AFTER


def error_of(lacking: Lacking) -> HostingError:
    """Return why a base is given up: ``limit`` where a quota alone is in the way of all types."""
    return "limit" if {*lacking.lacks.values()} == {"quota"} else "no_capacity"


def tried_anew(hosting: Hosting) -> dict[str, Any]:
    """Return what changes in a base that begins with the next type, once nothing of it is left."""
    after = hosting.lacking.next if hosting.lacking else hosting.types[0]
    return {"instance_type": after, "created": ()}


def late_for(adapter: Hosting, base: Hosting | None, now: datetime) -> HostingError | None:
    """Return why an adapter gives up a base that does not answer; None while it waits for it.

    A base has its own patience, but for one that sleeps, and finds no instance to wake on.
    """
    if base is None or base.state in {"deleting", "gone"}:
        return "stuck" if adapter.is_stuck(now) else None
    return "no_capacity" if now - adapter.since > AT_MOST else None
