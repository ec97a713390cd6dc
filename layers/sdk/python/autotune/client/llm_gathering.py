"""Which requests to language models came with an import, or were to be sent in a batch."""

import math
import time
from collections.abc import Iterable, Mapping
from typing import TypeVar

from autotune.client.calls import CallOptions, Listing, listing, returning
from autotune.client.errors import InvalidInputError
from autotune.client.exchange import Course, Plan, Session
from autotune.client.llm_batches import list_rows
from autotune.client.llm_imports import get_import, until_ended
from autotune.protocol.llm_requests import LlmRequestList, LlmRequestSummary

_PAGE_SIZE = 200
_summaries = returning(LlmRequestList, lambda page: (page.requests, page.next_token))
T = TypeVar("T")


def request_ids(
    *,
    import_id: str | None = None,
    batch_id: str | None = None,
    follow_reasks: bool = True,
    timeout: float | None = None,
    extra_headers: Mapping[str, str] | None = None,
) -> Plan[list[str]]:
    """Return the ids of the requests of an import, once it has ended, or of a batch.

    Those of an import come in the order of its lines; where one was retried, the retry stands in
    its place. Those of a batch are all that it was made for, in its order, wherever they went.

    Args:
        import_id: either this or ``batch_id``.
        follow_reasks: False returns all that came of the import's lines: the requests, and those
            that they were retried or asked again as.
        timeout: seconds to wait for the end of the import; None waits for ever.

    Raises:
        InvalidInputError: not just one of the two is given, or the import was never started.
        WaitTimeoutError: the import had not ended after ``timeout``.
        NotFoundError: there is none in this organisation, or the import is over 7 days old.
    """
    return gathered(
        None,
        import_id=import_id,
        batch_id=batch_id,
        follow_reasks=follow_reasks,
        deadline=math.inf if timeout is None else time.monotonic() + timeout,
        timeout=timeout,
        extra_headers=extra_headers,
    )


def gathered(
    given: Iterable[str] | None,
    *,
    import_id: str | None,
    batch_id: str | None,
    follow_reasks: bool,
    deadline: float,
    timeout: float | None,
    extra_headers: Mapping[str, str] | None,
) -> Plan[list[str]]:
    """Return ids that were given, or those of an import or a batch.

    Raises:
        InvalidInputError: not just one of these is given.
    """
    if sum(one is not None for one in (given, import_id, batch_id)) != 1:
        raise InvalidInputError.at("request_ids", "either ids, or import_id, or batch_id")
    if isinstance(given, str):
        raise InvalidInputError.at("request_ids", "a list of ids, not one")
    ids = None if given is None else list(given)
    options: CallOptions = {"extra_headers": extra_headers}

    def gather(session: Session) -> Course[list[str]]:
        if ids is not None:
            return ids
        if batch_id is not None:
            rows = list_rows(batch_id, page_size=_PAGE_SIZE, **options)
            return [one.id for one in (yield from _all(session, rows))]
        assert import_id is not None
        made = yield from session.course(get_import(import_id, **options))
        if made.state == "awaiting_upload":
            raise InvalidInputError.at("import_id", "an import that was started")
        yield from until_ended(session, made, deadline=deadline, timeout=timeout, options=options)
        of_import: Listing[LlmRequestSummary] = listing(
            "llm-requests",
            read=_summaries,
            page_size=_PAGE_SIZE,
            query={"importId": import_id},
            **options,
        )
        found = yield from _all(session, of_import)
        return _last_of_each(found) if follow_reasks else [one.id for one in found]

    return gather


def _all(session: Session, page: Listing[T]) -> Course[list[T]]:
    found: list[T] = []
    cursor: str | None = None
    while True:
        items, cursor = yield from session.course(page(cursor))
        found += items
        if cursor is None:
            return found


def _last_of_each(found: list[LlmRequestSummary]) -> list[str]:
    """Return ids without those that were retried, and without those that others are asked as.

    Whoever waits for the first of those that were asked again is led to the last.
    """
    by_id = {one.id: one for one in found}
    retried = {one.retry_of for one in found if one.retry_of is not None}

    def last(one: LlmRequestSummary) -> str:
        while one.reasked_as in by_id:
            one = by_id[one.reasked_as]
        return one.id

    return [one.id for one in found if one.reask_of is None and last(one) not in retried]
