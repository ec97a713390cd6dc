"""Filters of requests to language models, and what is done to all that match."""

from collections.abc import Callable
from datetime import datetime
from typing import Literal, Unpack

from autotune.client.arguments import request_of
from autotune.client.calls import CallOptions, call, returning, split_options
from autotune.client.exchange import Course, Plan, Session
from autotune.client.filters import with_zone
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_filters import ChangedLlmRequests, ChangeLlmRequests, LlmRequestFilter
from autotune.protocol.llm_requests import LlmErrorCode, LlmStatus

_changed = returning(ChangedLlmRequests)


class RequestFilters(CallOptions, total=False):
    """Which requests are meant: those that match all that is given.

    ``experiment_id``, ``rubric_id``, ``score_id``, ``evidence_id`` and ``sample_id`` are those of
    their ``trace``. ``created_after`` is the earliest moment of their creation, included,
    ``created_before`` the latest, left out; a time without a zone is local.
    """

    status: LlmStatus | None
    purpose: str | None
    provider: LlmProvider | None
    model: str | None
    connection_id: str | None
    batch_id: str | None
    import_id: str | None
    experiment_id: str | None
    rubric_id: str | None
    score_id: str | None
    evidence_id: str | None
    sample_id: str | None
    completion_id: str | None
    deck_id: str | None
    custom_id: str | None
    error_code: LlmErrorCode | None
    created_after: datetime | None
    created_before: datetime | None


def filter_of(options: RequestFilters) -> tuple[LlmRequestFilter, CallOptions]:
    """Check filters, and return them apart from the options of the call.

    Raises:
        InvalidInputError: a filter is out of its range.
    """
    given, call_options = split_options(options)
    for name in ("created_after", "created_before"):
        given[name] = with_zone(given.get(name))
    return request_of(LlmRequestFilter, **given), call_options


def cancel_matching(
    *, on_page: Callable[[list[str]], None] | None = None, **filters: Unpack[RequestFilters]
) -> Plan[int]:
    """Cancel all requests that match and have not ended, page by page; return how many.

    What was asked is paid, and its answer is kept. The same call again goes on where one broke off.

    Args:
        on_page: gets the ids that each page of up to 100 canceled.

    Raises:
        InvalidInputError: a filter is out of its range; nothing was sent.
        InvalidRequestError: ``status`` is none that can be canceled.
    """
    wanted, options = filter_of(filters)
    return all_pages("cancel", on_page, ChangeLlmRequests(filter=wanted), options)


def retry_matching(
    *, on_page: Callable[[list[str]], None] | None = None, **filters: Unpack[RequestFilters]
) -> Plan[int]:
    """Retry all requests that match, page by page; return how many there are.

    Without ``status`` those that ended as ``error`` or ``canceled``. Those whose texts or
    connection are gone are left out. The same call again returns the same requests.

    Args:
        on_page: gets the ids of the new requests of each page of up to 100.

    Raises:
        InvalidInputError: a filter is out of its range; nothing was sent.
        InvalidRequestError: ``status`` is none that can be retried.
        RateLimitError: too many requests are under way; see ``limit``.
    """
    wanted, options = filter_of(filters)
    return all_pages("retry", on_page, ChangeLlmRequests(filter=wanted), options)


def delete_content_matching(
    *, on_page: Callable[[list[str]], None] | None = None, **filters: Unpack[RequestFilters]
) -> Plan[int]:
    """Delete the texts of all requests that match and have ended; return how many they are.

    What they cost stays. The same call again counts them once more, and changes nothing.

    Args:
        on_page: gets the ids of each page of up to 100.

    Raises:
        InvalidInputError: a filter is out of its range; nothing was sent.
        InvalidRequestError: ``status`` is none that is for good.
        PermissionDeniedError: the key's role deletes nothing.
    """
    wanted, options = filter_of(filters)
    return all_pages("delete-content", on_page, ChangeLlmRequests(filter=wanted), options)


def all_pages(
    what: Literal["cancel", "retry", "parse", "delete-content"],
    on_page: Callable[[list[str]], None] | None,
    asked: ChangeLlmRequests,
    options: CallOptions,
) -> Plan[int]:
    """Have something done to all requests that match, page by page; return how many they are."""

    def run(session: Session) -> Course[int]:
        count, token = 0, None
        while True:
            body = asked.model_copy(update={"next_token": token})
            page = yield from session.course(
                call(
                    "POST",
                    "llm-requests",
                    what,
                    read=_changed,
                    body=body,
                    is_idempotent=True,
                    **options,
                )
            )
            count += len(page.request_ids)
            if on_page is not None and page.request_ids:
                on_page(page.request_ids)
            token = page.next_token
            if token is None:
                return count

    return run
