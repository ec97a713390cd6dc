"""What becomes of a base for which SageMaker has no instance: the next type, then a later time.

Its model is trained and paid for, and want of capacity passes; a quota is raised by an operator,
which takes a day or two. So each type of the task is tried in its order, and when none has room all
of them again after a pause that grows, for a day: as long as a job is waited for. More would keep
the task from its next training, and wins little: what was trained is kept, and can be hosted later.
A type that SageMaker refuses, as it does not have it in a region, is not tried again.
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
"""An adapter gives up after so long whatever its base waits for: a pause and some tries later.

So does a base, however often its task is put with other types.
"""
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


def without(hosting: Hosting, lack: Lack, now: datetime) -> Lacking:
    """Return what a base lacks whose instance is not to be had."""
    known, types = hosting.lacking, hosting.types
    since, rounds = (known.since, known.rounds) if known else (now, 0)
    lacks = {**(known.lacks if known else {}), hosting.instance_type or "": lack}
    lacks = {one: why for one, why in lacks.items() if one in {*types, hosting.instance_type}}
    at = types.index(hosting.instance_type) if hosting.instance_type in types else -1
    possible = [one for one in types if lacks.get(one) != "refused"]
    behind = [one for one in types[at + 1 :] if one in possible]
    is_last = not behind
    return Lacking(
        since=since,
        rounds=rounds + is_last,
        lacks=lacks,
        next=(*behind, *possible, *types)[0],
        not_before=now + pause_of(rounds + 1) if is_last else now,
    )


def has_no_type(hosting: Hosting) -> bool:
    """Return whether SageMaker refuses each type that a base may have by now."""
    known = hosting.lacking
    return known is not None and all(known.lacks.get(one) == "refused" for one in hosting.types)


def has_had_its_day(hosting: Hosting, now: datetime) -> bool:
    """Return whether a base is given up that has just found no instance, by its types of now."""
    known = hosting.lacking
    if known is None or has_no_type(hosting):
        return known is not None
    waited = now - known.since
    return waited > AT_MOST or (waited >= GIVE_UP_AFTER and known.not_before > now)


def offered(hosting: Hosting, types: tuple[str, ...], now: datetime) -> Hosting:
    """Return a base with the types that its task has by now; it has nothing to do with others.

    Where it has no instance, a type that is new is tried at once, and one that is there no more is
    not tried again.

    Args:
        types: none where the task says nothing of them by now; the base keeps its own then.
    """
    before, lacking = hosting.types, hosting.lacking
    if not types or types == before:
        return hosting
    changes: dict[str, Any] = {"instance_types": types}
    if lacking is not None:
        lacks = {one: why for one, why in lacking.lacks.items() if one in types}
        known: dict[str, Any] = {"lacks": lacks}
        if untried := [one for one in types if one not in before]:
            known |= {"next": untried[0], "not_before": now}
        elif lacking.next not in types:
            possible = [one for one in types if lacks.get(one) != "refused"]
            behind = before[before.index(lacking.next) :] if lacking.next in before else ()
            known["next"] = (*(one for one in behind if one in possible), *possible, *types)[0]
        changes["lacking"] = lacking.model_copy(update=known)
    return hosting.model_copy(update=changes)


def error_of(hosting: Hosting) -> HostingError:
    """Return why a base is given up: ``limit`` where a quota alone is in the way of all types.

    Types that SageMaker refuses do not count beside others, for nothing would change that.
    """
    if has_no_type(hosting):
        return "refused"
    lacks = {*(hosting.lacking.lacks.values() if hosting.lacking else ())} - {"refused"}
    return "limit" if lacks == {"quota"} else "no_capacity"


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
    # Another base is waited for no longer: else who puts other types again and again waits on.
    return "no_capacity" if now - (adapter.begun_at or adapter.since) > AT_MOST else None
