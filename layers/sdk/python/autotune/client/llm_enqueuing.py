"""Enqueuing and estimating requests to language models, any number, packed as they come.

A request of the API takes so many rows, bytes and JSON values. Each has an idempotency key that
follows from the caller's, its place and its content, so that a repetition enqueues nothing twice.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Unpack

import httpx
from pydantic import ValidationError

from autotune.client.answers import is_replay, read_model
from autotune.client.calls import Call, CallOptions, call, returning
from autotune.client.errors import AutotuneError, InvalidInputError
from autotune.client.exchange import Course, Plan, Session
from autotune.client.submissions import BATCH_BYTES_TARGET, submission_key
from autotune.protocol import limits
from autotune.protocol.llm_batches import EstimateLlmRequests, LlmBudget, LlmEstimate
from autotune.protocol.llm_requests import (
    EnqueuedLlmRequests,
    EnqueueLlmRequest,
    EnqueueLlmRequests,
)

_ENVELOPE_BYTES = 100
_ENVELOPE_VALUES = 2
_DIGEST_CHARACTERS = 32

_estimated = returning(LlmEstimate)
_budget = returning(LlmBudget)


@dataclass(frozen=True, kw_only=True)
class PackedRows:
    """The body of one request of the API.

    Attributes:
        index: its place among the bodies, from 0.
        offset: the place of its first row in the stream, from 0.
        digest: of the rows; the same rows in the same order have the same.
    """

    index: int
    offset: int
    count: int
    body: bytes
    digest: str


class EnqueuedRequests(EnqueuedLlmRequests):
    """Ids of what is enqueued, in the order of what was given.

    ``replayed`` is how many of them an earlier call with the same idempotency key had enqueued.
    """

    replayed: int = 0


def encode_row(
    row: EnqueueLlmRequest | Mapping[str, Any], *, place: str = "request"
) -> tuple[bytes, int]:
    """Check a row; return its JSON, and how many JSON values that has.

    Args:
        place: names it in errors.

    Raises:
        InvalidInputError: it is no such row, or larger than a request may be.
    """
    try:
        checked = EnqueueLlmRequest.model_validate(row)
    except ValidationError as error:
        raise InvalidInputError.of(error, within=place) from error
    try:
        # pydantic would send null in place of NaN.
        json.dumps([checked.params.extra, checked.params.response_format], allow_nan=False)
        document = checked.model_dump(mode="json", by_alias=True, exclude_unset=True)
        encoded = json.dumps(document, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:  # NaN, Python objects, lone surrogates
        raise InvalidInputError.at(place, f"what JSON can hold ({error})") from error
    largest = limits.MAX_REQUEST_BYTES - _ENVELOPE_BYTES
    if len(encoded) > largest:
        raise InvalidInputError.at(place, f"at most {largest} bytes as JSON, not {len(encoded)}")
    return encoded, _values_in(document)


class RowPacker:
    """Packs rows of a stream into bodies; memory is bounded by one of them."""

    def __init__(self, *, most_values: int) -> None:
        self._most_values = most_values - _ENVELOPE_VALUES
        self._items: list[bytes] = []
        self._bytes = 0
        self._values = 0
        self._taken = 0
        self._packed = 0

    def pack(self, rows: Iterable[EnqueueLlmRequest | Mapping[str, Any]]) -> Iterator[PackedRows]:
        """Yield bodies as they fill.

        Raises:
            InvalidInputError: a row cannot be sent; nothing of its own body is yielded.
        """
        for row in rows:
            item, values = encode_row(row, place=f"requests[{self._taken}]")
            if self._items and (
                self._bytes + len(item) > BATCH_BYTES_TARGET
                or self._values + values > self._most_values
            ):
                yield self._close()
            self._items.append(item)
            self._bytes += len(item) + 1
            self._values += values
            self._taken += 1
            if len(self._items) == limits.MAX_LLM_ROWS:
                yield self._close()
        if self._items:
            yield self._close()

    def _close(self) -> PackedRows:
        rows = b",".join(self._items)
        packed = PackedRows(
            index=self._packed,
            offset=self._taken - len(self._items),
            count=len(self._items),
            body=b'{"requests":[%b]}' % rows,
            digest=hashlib.sha256(rows).hexdigest()[:_DIGEST_CHARACTERS],
        )
        self._items, self._bytes, self._values = [], 0, 0
        self._packed += 1
        return packed


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
        InvalidInputError: a request is out of its range; nothing of its thousand was sent.
        InvalidRequestError: a connection is not the organisation's, a model has no known price, a
            variable is missing, or the provider does not take a parameter.
        RateLimitError: too many requests are under way; see ``limit``.
    """
    key = submission_key(idempotency_key)

    def enqueue(session: Session) -> Course[EnqueuedRequests]:
        ids: list[str] = []
        replayed = 0
        with _noting(ids, key):
            for rows in RowPacker(most_values=EnqueueLlmRequests.most_values).pack(requests):
                answer = yield from session.course(_enqueuing(rows, key, options))
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
            parts.append((yield from session.course(asked)))
        if len(parts) == 1:
            return parts[0]
        bound = sum(one.bound_nano_usd for one in parts)
        budget = yield from session.course(get_budget(**options))
        return LlmEstimate(
            rows=sum(one.rows for one in parts),
            input_bytes=sum(one.input_bytes for one in parts),
            bound_nano_usd=bound,
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


def _enqueuing(rows: PackedRows, key: str, options: CallOptions) -> Call[EnqueuedRequests]:
    def read(response: httpx.Response) -> EnqueuedRequests:
        answer = read_model(response, EnqueuedRequests)
        return answer.model_copy(update={"replayed": rows.count if is_replay(response) else 0})

    return call(
        "POST",
        "llm-requests",
        "batch",
        read=read,
        body=rows.body,
        idempotency_key=f"{key}.{rows.index}.{rows.digest}",
        **options,
    )


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


def _values_in(document: Any) -> int:
    """Count JSON values as the API does: what is empty counts twice."""
    if not isinstance(document, dict | list):
        return 1
    members = document.values() if isinstance(document, dict) else document
    return 1 + (sum(map(_values_in, members)) if document else 1)
