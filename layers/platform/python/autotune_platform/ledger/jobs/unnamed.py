"""Jobs that carry no name of ours: found in a list by time, and what else the provider tells."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.jobs.contract import MOST_FOUND, Job
from autotune_platform.ledger.jobs.session import Reply
from autotune_platform.ledger.providers.documents import inside, name

BEFORE, AFTER = timedelta(minutes=5), timedelta(minutes=15)
"""How far from the beginning of a creation a job may have been created: clocks differ."""

_PAGES: Final = 100


def jobs_like(
    job: Job,
    *,
    page: Callable[[str], Reply | Refusal],
    refusal: Callable[[Reply], Refusal],
    is_like: Callable[[Any], bool],
) -> Sequence[str] | Refusal:
    """Return the jobs of a list, newest first, that may have come of a creation.

    A list that cannot be read to its end is a refusal: what it did not show may be the job. What
    an entry leaves out speaks for it, not against it.

    Args:
        page: asks for the page after a job, the first one after an empty text.
        refusal: says why a page was refused.
        is_like: whether the document of a job, but for its time, may be the job's.
    """
    first, last = job.begun_at - BEFORE, job.begun_at + AFTER
    found: dict[str, None] = {}
    cursors = [""]
    while len(cursors) <= _PAGES:
        reply = page(cursors[-1])
        if isinstance(reply, Refusal):
            return reply
        if not reply.succeeded:
            return refusal(reply)
        document = reply.document
        listed = inside(document, "data")
        if not isinstance(listed, list):
            break
        times = [moment(inside(one, "created_at")) for one in listed]
        for one, time in zip(listed, times, strict=True):
            job_id = name(inside(one, "id"))
            if job_id and (time is None or first <= time <= last) and is_like(one):
                found[job_id] = None
        if len(found) > MOST_FOUND:
            return list(found)
        has_more = inside(document, "has_more") is True
        is_past = bool(times) and all(time is not None and time < first for time in times)
        if not has_more or is_past:
            return list(found)
        cursor = name(inside(document, "last_id"))
        if cursor is None or cursor in cursors:
            break
        cursors.append(cursor)
    return Refusal("provider_error", "the provider's list of jobs could not be read to its end")


def moment(value: Any) -> datetime | None:
    """Return a time that comes as text (RFC 3339) or in seconds since 1970, None for others."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
