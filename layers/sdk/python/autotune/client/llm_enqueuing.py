"""Enqueuing and estimating requests to language models, any number, packed as they come.

Each request of the API has an idempotency key that follows from the caller's, its place and its
content, so that a repetition enqueues nothing twice.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Unpack

import httpx

from autotune.client.answers import is_replay, read_model
from autotune.client.calls import Call, CallOptions, call, returning
from autotune.client.errors import APIError, AutotuneError
from autotune.client.exchange import Course, Plan, Session
from autotune.client.llm_packing import PackedRows, RowPacker
from autotune.client.submissions import submission_key
from autotune.protocol.llm_batches import EstimateLlmRequests, LlmBudget, LlmEstimate
from autotune.protocol.llm_requests import (
    EnqueuedLlmRequests,
    EnqueueLlmRequest,
    EnqueueLlmRequests,
)
from autotune.protocol.problems import FieldProblem

_PLACE_IN_BODY = re.compile(r"^requests\[(\d+)\]")

_estimated = returning(LlmEstimate)
_budget = returning(LlmBudget)


class EnqueuedRequests(EnqueuedLlmRequests):
    """Ids of what is enqueued, in the order of what was given.

    ``replayed`` is how many of them an earlier call with the same idempotency key had enqueued.
    """

    replayed: int = 0


def enqueue_requests(
    requests: Iterable[EnqueueLlmRequest | Mapping[str, Any]],
    *,
    idempotency_key: str | None = None,
    on_progress: Callable[[int], None] | None = None,
    **options: Unpack[CallOptions],
) -> Plan[EnqueuedRequests]:
    """Enqueue any number of requests, read lazily and sent up to 1,000 at a time.

    When this returns, all are durable. Where it raises, those that were sent before are enqueued: a
    note on the error says which, and the same call with the same key goes on with the others.

    Args:
        requests: ``EnqueueLlmRequest``s, or mappings with their fields.
        idempotency_key: 1 to 140 visible ASCII characters; the same requests in the same order with
            the same key are enqueued once. A fresh one is made where none is given.
        on_progress: gets how many are enqueued, each time that some are.

    Raises:
        InvalidInputError: a request is out of its range, or lacks a variable that its texts name;
            nothing of its thousand was sent.
        InvalidRequestError: a connection is not the organisation's, a model has no known price, or
            the provider does not take a parameter. ``errors`` names requests by their place.
        RateLimitError: too many requests are under way; see ``limit``.
    """
    key = submission_key(idempotency_key)

    def enqueue(session: Session) -> Course[EnqueuedRequests]:
        ids: list[str] = []
        replayed = 0
        with _noting(ids, key):
            for rows in RowPacker(most_values=EnqueueLlmRequests.most_values).pack(requests):
                answer = yield from enqueue_packed(rows, key, **options)(session)
                ids += answer.request_ids
                replayed += answer.replayed
                if on_progress is not None:
                    on_progress(len(ids))
        return EnqueuedRequests(request_ids=ids, replayed=replayed)

    return enqueue


def estimate_requests(
    requests: Iterable[EnqueueLlmRequest | Mapping[str, Any]], **options: Unpack[CallOptions]
) -> Plan[LlmEstimate]:
    """Return what requests cost at most, any number; nothing is stored, and no model is asked.

    Raises:
        InvalidInputError: a request is out of its range.
        InvalidRequestError: one of them could not be enqueued.
    """

    def estimate(session: Session) -> Course[LlmEstimate]:
        parts: list[LlmEstimate] = []
        for rows in RowPacker(most_values=EstimateLlmRequests.most_values).pack(requests):
            asked: Call[LlmEstimate] = call(
                "POST",
                "llm-estimates",
                read=_estimated,
                body=rows.body,
                is_idempotent=True,
                **options,
            )
            with _placing(rows.offset):
                parts.append((yield from session.course(asked)))
        if len(parts) == 1:
            return parts[0]
        bound = sum(one.bound_nano_usd for one in parts)
        budget = yield from session.course(get_budget(**options))
        return LlmEstimate(
            rows=sum(one.rows for one in parts),
            input_bytes=sum(one.input_bytes for one in parts),
            bound_nano_usd=bound,
            worst_case_nano_usd=sum(one.worst_case_nano_usd for one in parts),
            fits=all(
                one.limit_nano_usd is None
                or one.spent_nano_usd + one.reserved_nano_usd + bound <= one.limit_nano_usd
                for one in budget.periods
            ),
        )

    return estimate


def get_budget(**options: Unpack[CallOptions]) -> Call[LlmBudget]:
    """Read the budget for language models, and what its present periods have used."""
    return call("GET", "llm-budget", read=_budget, **options)


def enqueue_packed(
    rows: PackedRows, key: str, **options: Unpack[CallOptions]
) -> Plan[EnqueuedRequests]:
    """Enqueue one body of a stream, all of its rows or none, once for each key.

    Raises:
        APIError: as ``enqueue_requests``; ``errors`` names rows by their place in the stream.
    """

    def read(response: httpx.Response) -> EnqueuedRequests:
        answer = read_model(response, EnqueuedRequests)
        return answer.model_copy(update={"replayed": rows.count if is_replay(response) else 0})

    asked = call(
        "POST",
        "llm-requests",
        "batch",
        read=read,
        body=rows.body,
        idempotency_key=f"{key}.{rows.index}.{rows.digest}",
        **options,
    )

    def enqueue(session: Session) -> Course[EnqueuedRequests]:
        with _placing(rows.offset):
            return (yield from session.course(asked))

    return enqueue


@contextmanager
def _placing(offset: int) -> Iterator[None]:
    """Have an error name rows by their place in the stream, in place of that in their body."""

    def placed(text: str) -> str:
        return _PLACE_IN_BODY.sub(lambda place: f"requests[{int(place[1]) + offset}]", text)

    try:
        yield
    except APIError as error:
        error.errors = tuple(
            FieldProblem(field=placed(one.field), expected=one.expected) for one in error.errors
        )
        error.detail = placed(error.detail)
        raise


@contextmanager
def _noting(ids: list[str], key: str) -> Iterator[None]:
    """Note on an error what is enqueued already, and with which key to go on."""
    try:
        yield
    except AutotuneError as error:
        if ids:
            error.add_note(f"requests[0] to requests[{len(ids) - 1}] are enqueued")
        error.add_note(f"idempotency_key {key!r} goes on")
        raise
