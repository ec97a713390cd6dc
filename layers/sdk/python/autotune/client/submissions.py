"""Submitting completions: what is described here is sent with an idempotency key, always."""

import re
from collections.abc import Mapping
from typing import Any, Unpack
from uuid import uuid4

import httpx

from autotune.client.answers import is_replay, read_model
from autotune.client.arguments import request_of
from autotune.client.batching import PackedBatch
from autotune.client.calls import Call, CallOptions, call
from autotune.client.errors import InvalidInputError
from autotune.protocol.completions import (
    BatchSubmitResponse,
    Priority,
    SubmitCompletionRequest,
    SubmitCompletionResponse,
)

_KEY_PATTERN = re.compile(r"[!-~]+")
LONGEST_KEY = 200
_LONGEST_BATCH_SUFFIX = 60


class SubmittedCompletion(SubmitCompletionResponse):
    """The durable completion.

    ``replayed`` tells that an earlier request with the same idempotency key had submitted it, and
    that nothing was added now.
    """

    replayed: bool = False


class SubmittedBatch(BatchSubmitResponse):
    """The durable completions of one request, in order.

    ``offset`` is the place of the first one in what was given to ``submit_many``; ``replayed``
    tells that an earlier request had submitted them, and that nothing was added now.
    """

    offset: int = 0
    replayed: bool = False


def submit_completion(
    *,
    task_id: str,
    model_id: str,
    prompt: str,
    response: str,
    metadata: Mapping[str, Any] | None = None,
    priority: Priority | None = None,
    idempotency_key: str | None = None,
    **options: Unpack[CallOptions],
) -> Call[SubmittedCompletion]:
    """Submit one completion; when this returns, it is durable and will get a verdict.

    Args:
        metadata: JSON for the grader and for you, at most 65,536 bytes.
        priority: ``low``, ``normal`` (the default) or ``high``.
        idempotency_key: 1 to 200 visible ASCII characters; the same key and arguments again
            return the first completion. A fresh one is made where none is given, so that retries
            never submit twice.

    Raises:
        InvalidInputError: a field is out of its range; nothing was sent.
        InvalidRequestError: there is no such task in this organisation, or the key came before
            with other arguments.
        ConflictError: the task's grader is gone or not verified.
    """
    request = request_of(
        SubmitCompletionRequest,
        task_id=task_id,
        model_id=model_id,
        prompt=prompt,
        response=response,
        metadata=metadata,
        priority=priority,
    )
    return call(
        "POST",
        "completions",
        read=_read_completion,
        body=request,
        idempotency_key=checked_key(idempotency_key, longest=LONGEST_KEY),
        **options,
    )


def submit_batch(
    batch: PackedBatch, *, submission_key: str, **options: Unpack[CallOptions]
) -> Call[SubmittedBatch]:
    """Describe the request for one batch of a submission."""

    def read(response: httpx.Response) -> SubmittedBatch:
        answer = read_model(response, BatchSubmitResponse)
        return SubmittedBatch(
            **answer.model_dump(), offset=batch.offset, replayed=is_replay(response)
        )

    return call(
        "POST",
        "completions",
        "batch",
        read=read,
        body=batch.body,
        idempotency_key=f"{submission_key}.{batch.index}.{batch.digest}",
        **options,
    )


def submission_key(idempotency_key: str | None) -> str:
    """Return the key that a submission's batches derive theirs from.

    Raises:
        InvalidInputError: it is not 1 to 140 visible ASCII characters.
    """
    return checked_key(idempotency_key, longest=LONGEST_KEY - _LONGEST_BATCH_SUFFIX)


def checked_key(idempotency_key: str | None, *, longest: int) -> str:
    """Return the caller's key, or a fresh one.

    Raises:
        InvalidInputError: the API would not take it.
    """
    if idempotency_key is None:
        return uuid4().hex
    if not _KEY_PATTERN.fullmatch(idempotency_key) or len(idempotency_key) > longest:
        expected = f"1 to {longest} visible ASCII characters, no spaces"
        raise InvalidInputError.at("idempotency_key", expected)
    return idempotency_key


def _read_completion(response: httpx.Response) -> SubmittedCompletion:
    answer = read_model(response, SubmitCompletionResponse)
    return SubmittedCompletion(
        completion=answer.completion,
        estimated_score_time_ms=answer.estimated_score_time_ms,
        replayed=is_replay(response),
    )
