"""``client.llm``: requests to language models, which are asked in batches and paid by budget."""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar, Unpack

from autotune.client.arguments import request_of
from autotune.client.binding import (
    AsyncResource,
    InnerPart,
    ListMethod,
    Method,
    OwnMethod,
    Resource,
)
from autotune.client.calls import Call, CallOptions, Listing, call, listing, nothing, returning
from autotune.client.llm_batches import AsyncLlmBatches, LlmBatches
from autotune.client.llm_connections import AsyncLlmConnections, LlmConnections
from autotune.client.llm_enqueuing import enqueue_requests, estimate_requests, get_budget
from autotune.client.llm_filters import (
    RequestFilters,
    cancel_matching,
    delete_content_matching,
    filter_of,
    retry_matching,
)
from autotune.client.llm_gathering import request_ids
from autotune.client.llm_imports import (
    delete_import,
    get_import,
    import_errors,
    import_file,
    list_imports,
)
from autotune.client.llm_parsing import list_parses, parse_matching, parse_request
from autotune.client.llm_tokens import AsyncLlmTokens, LlmTokens
from autotune.client.llm_waiting import awaiting, get_request, wait_for_requests
from autotune.protocol import llm_batches, llm_requests

_summary = returning(llm_requests.LlmRequestSummaryResponse, lambda answer: answer.request)
_summaries = returning(llm_requests.LlmRequestList, lambda page: (page.requests, page.next_token))
_retried = returning(llm_requests.EnqueuedLlmRequests, lambda answer: answer.request_ids[0])
_costs = returning(llm_batches.LlmCosts, lambda answer: answer.costs)
_budget = returning(llm_batches.LlmBudget)


def list_requests(
    *, page_size: int | None = None, **filters: Unpack[RequestFilters]
) -> Listing[llm_requests.LlmRequestSummary]:
    """Walk through the organisation's requests without their texts, the youngest first.

    One that goes from status to status meanwhile may come twice, or not at all.

    Args:
        status: ``queued``, ``submitted``, ``completed``, ``error`` or ``canceled``.
        experiment_id: only those whose ``trace`` has this one; so ``rubric_id``, ``score_id``,
            ``evidence_id`` and ``sample_id``.
        batch_id: only those that are in this batch, or were in it last; in the batch's order.
        import_id: only those that came with this import, and what they were retried or asked again
            as; in the order of its lines.
        completion_id: only those that are about this completion.
        deck_id: only those that are for this deck.
        custom_id: only those that have this name of yours.
        error_code: only those that ended so.
        created_after: the earliest moment of their creation, included.
        created_before: the latest one, left out.
        page_size: requests fetched at a time, 1 to 200.

    Raises:
        InvalidInputError: a filter is out of its range; nothing was sent.
    """
    wanted, options = filter_of(filters)
    query = wanted.model_dump(mode="json", by_alias=True, exclude_none=True)
    return listing("llm-requests", read=_summaries, page_size=page_size, query=query, **options)


def cancel_request(
    request_id: str, **options: Unpack[CallOptions]
) -> Call[llm_requests.LlmRequestSummary]:
    """Cancel a request: at once while it is queued, later unless its model was asked by then.

    What was asked is paid, and its answer is kept. A request that has ended stays as it is.

    Raises:
        NotFoundError: there is no such request in this organisation.
    """
    return call(
        "POST",
        "llm-requests",
        request_id,
        "cancel",
        read=_summary,
        is_idempotent=True,
        **options,
    )


def retry_request(request_id: str, **options: Unpack[CallOptions]) -> Call[str]:
    """Enqueue a request that has ended once more; return the id of the new one.

    Retrying it again returns the same id.

    Raises:
        NotFoundError: there is no such request in this organisation.
        ConflictError: it has not ended, or its texts or its connection are gone.
    """
    return call(
        "POST", "llm-requests", request_id, "retry", read=_retried, is_idempotent=True, **options
    )


def delete_content(request_id: str, **options: Unpack[CallOptions]) -> Call[None]:
    """Delete what a request that has ended asked and was answered; what it cost stays.

    Raises:
        NotFoundError: there is no such request in this organisation.
        ConflictError: it has not ended.
    """
    return call("DELETE", "llm-requests", request_id, "content", read=nothing, **options)


def list_costs(
    *,
    group_by: llm_batches.LlmCostGroup | None = None,
    trace_field: llm_batches.LlmTraceField | None = None,
    first: date | None = None,
    last: date | None = None,
    **options: Unpack[CallOptions],
) -> Call[list[llm_batches.LlmCost]]:
    """Read what was spent, by day and group, oldest first; a day is one of UTC.

    Args:
        group_by: ``model`` (default), ``purpose``, ``connection``, ``day`` alone, or ``trace``.
        trace_field: of ``trace`` which id: ``experimentId`` or ``rubricId``. Ids of a batch that
            has very many share the group ``all others``; requests without one are in ``no id``.
        first: the first day; by default the 30th, ``last`` included.
        last: the last day, included; by default today. At most 400 days in all.

    Raises:
        InvalidRequestError: ``last`` is before ``first``, the days are too many, or
            ``trace_field`` is missing, or one too many.
    """
    query = {
        "groupBy": group_by,
        "traceField": trace_field,
        "from": None if first is None else f"{first:%Y-%m-%d}",
        "to": None if last is None else f"{last:%Y-%m-%d}",
    }
    return call("GET", "llm-costs", read=_costs, query=query, **options)


def set_budget(
    *,
    day_usd: str | Decimal | int | None = None,
    week_usd: str | Decimal | int | None = None,
    month_usd: str | Decimal | int | None = None,
    **options: Unpack[CallOptions],
) -> Call[llm_batches.LlmBudget]:
    """Replace all limits of the budget; a period that is left out has none.

    Requests that a limit has no room for wait in their queue for its next period.

    Args:
        day_usd: US dollars, such as ``"12.50"``, from midnight to midnight in UTC.
        week_usd: the same from Monday on.
        month_usd: the same from the first day of a month on.

    Raises:
        InvalidInputError: a limit is no amount of US dollars; nothing was sent.
        PermissionDeniedError: the key's role does not set budgets.
    """
    request = request_of(
        llm_batches.LlmBudgetLimits,
        day_usd=_spelled(day_usd),
        week_usd=_spelled(week_usd),
        month_usd=_spelled(month_usd),
    )
    return call("PUT", "llm-budget", read=_budget, body=request, **options)


def _spelled(amount: str | Decimal | int | None) -> Any:
    """Return an amount in digits; a float stays one, and is refused."""
    is_exact = isinstance(amount, Decimal | int) and not isinstance(amount, bool)
    return f"{amount:f}" if isinstance(amount, Decimal) else str(amount) if is_exact else amount


class LlmMethods:
    """Methods of requests to language models."""

    _place: ClassVar = "llm"

    connections = InnerPart(LlmConnections, AsyncLlmConnections)
    tokens = InnerPart(LlmTokens, AsyncLlmTokens)
    batches = InnerPart(LlmBatches, AsyncLlmBatches)

    enqueue = Method(enqueue_requests)
    get = Method(get_request)
    list = ListMethod(list_requests)
    wait = Method(wait_for_requests)
    request_ids = Method(request_ids)
    cancel = Method(cancel_request)
    retry = Method(retry_request)
    cancel_matching = Method(cancel_matching)
    retry_matching = Method(retry_matching)
    parse = Method(parse_request)
    parse_matching = Method(parse_matching)
    parses = Method(list_parses)
    delete_content = Method(delete_content)
    delete_content_matching = Method(delete_content_matching)
    import_file = Method(import_file)
    get_import = Method(get_import)
    list_imports = ListMethod(list_imports)
    import_errors = Method(import_errors)
    delete_import = Method(delete_import)
    costs = Method(list_costs)
    estimate = Method(estimate_requests)
    budget = Method(get_budget)
    set_budget = Method(set_budget)


class Llm(LlmMethods, Resource):
    """Requests to language models, blocking."""

    @OwnMethod
    def results(
        self,
        request_ids: Iterable[str] | None = None,
        *,
        import_id: str | None = None,
        batch_id: str | None = None,
        timeout: float | None = None,
        follow_reasks: bool = True,
        on_reask: Callable[[llm_requests.LlmRequest], None] | None = None,
        on_pending: Callable[[llm_requests.LlmRequest], None] | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> Iterator[llm_requests.LlmRequest]:
        """Wait for requests, and yield each with its texts when it has ended, about in that order.

        Where ``onParseFailure`` had a request asked again, the last one that came of it is yielded
        in its place; its ``first_request_id`` is the id that was given.

        Args:
            request_ids: either these, or ``import_id``, or ``batch_id``.
            import_id: waits for the end of this import, too; ``request_ids`` says which are its.
            batch_id: all that this batch was made for, wherever they went.
            timeout: seconds to wait in all; None waits for ever. What has ended by then still
                comes. Each attempt has the client's own.
            follow_reasks: False yields just the requests whose ids are given.
            on_reask: gets each request that was asked again, of which another is yielded; each has
                a cost of its own.
            on_pending: gets each request that a look finds pending, with its ``waiting_because``.

        Raises:
            InvalidInputError: not just one of ids, import and batch is given.
            WaitTimeoutError: some were still pending after ``timeout``.
            NotFoundError: one of them is not in this organisation, or the import is over 7 days
                old.
        """
        begin = awaiting(
            request_ids,
            import_id=import_id,
            batch_id=batch_id,
            timeout=timeout,
            extra_headers=extra_headers,
            follow_reasks=follow_reasks,
            on_reask=on_reask,
            on_pending=on_pending,
        )
        awaited = self.carry_out(begin)
        while not awaited.is_over:
            yield self.carry_out(awaited.next_ended)[1]


class AsyncLlm(LlmMethods, AsyncResource):
    """Requests to language models, for an event loop."""

    @OwnMethod
    async def results(
        self,
        request_ids: Iterable[str] | None = None,
        *,
        import_id: str | None = None,
        batch_id: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - of all attempts together
        follow_reasks: bool = True,
        on_reask: Callable[[llm_requests.LlmRequest], None] | None = None,
        on_pending: Callable[[llm_requests.LlmRequest], None] | None = None,
        extra_headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[llm_requests.LlmRequest, None]:
        """Wait and yield as ``AutotuneClient.llm.results`` does."""
        begin = awaiting(
            request_ids,
            import_id=import_id,
            batch_id=batch_id,
            timeout=timeout,
            extra_headers=extra_headers,
            follow_reasks=follow_reasks,
            on_reask=on_reask,
            on_pending=on_pending,
        )
        awaited = await self.carry_out(begin)
        while not awaited.is_over:
            yield (await self.carry_out(awaited.next_ended))[1]
