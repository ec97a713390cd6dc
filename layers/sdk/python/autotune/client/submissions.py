"""Submitting completions, one or packed into batches; always with an idempotency key.

A stream of completions is packed by count and by bytes, as it comes.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Unpack
from uuid import uuid4

import httpx
from pydantic import ValidationError

from autotune.client.answers import is_replay, read_model
from autotune.client.arguments import request_of
from autotune.client.calls import Call, CallOptions, call
from autotune.client.errors import InvalidInputError
from autotune.protocol.completions import (
    BatchSubmitResponse,
    NewCompletion,
    Priority,
    SubmitCompletionRequest,
    SubmitCompletionResponse,
)
from autotune.protocol.limits import MAX_BATCH_COMPLETIONS, MAX_REQUEST_BYTES

DEFAULT_BATCH_SIZE = 100

BATCH_BYTES_TARGET = 3_000_000
"""A batch of several stays below this: inside Lambda's 6 MB event the body's quotes are escaped."""

_ENVELOPE_BYTES = 100
_DIGEST_CHARACTERS = 32

LONGEST_KEY = 200
_LONGEST_BATCH_SUFFIX = 60
_KEY_PATTERN = re.compile(r"[!-~]+")


@dataclass(frozen=True, kw_only=True)
class PackedBatch:
    """The body of one ``POST /api/v1/completions/batch``.

    Attributes:
        index: its place among the batches, from 0.
        offset: the place of its first completion in the stream, from 0.
        digest: of the completions; the same completions in the same order have the same.
    """

    index: int
    offset: int
    count: int
    body: bytes
    digest: str


class BatchPacker:
    """Takes completions one by one and gives a batch whenever one is full.

    Memory is bounded by one batch. The same stream, batch size and priority always give the same
    bodies.
    """

    def __init__(
        self, *, batch_size: int = DEFAULT_BATCH_SIZE, priority: Priority = "normal"
    ) -> None:
        """Check the settings.

        Raises:
            InvalidInputError: ``batch_size`` is not from 1 to 500.
        """
        if not 1 <= batch_size <= MAX_BATCH_COMPLETIONS:
            raise InvalidInputError.at("batch_size", f"1 to {MAX_BATCH_COMPLETIONS}")
        self._batch_size = batch_size
        self._priority = priority
        self._items: list[bytes] = []
        self._bytes = 0
        self._taken = 0
        self._packed = 0

    def take(self, completion: NewCompletion | Mapping[str, Any]) -> PackedBatch | None:
        """Add a completion; return the batch that had to be closed for it, if any.

        Raises:
            InvalidInputError: it is not a completion, or larger than a request may be; the batch
                that it was to join is not given out.
        """
        item = encode_completion(completion, place=f"completions[{self._taken}]")
        full = len(self._items) == self._batch_size
        heavy = bool(self._items) and self._bytes + len(item) > BATCH_BYTES_TARGET
        closed = self.close() if full or heavy else None
        self._items.append(item)
        self._bytes += len(item) + 1
        self._taken += 1
        return closed

    def close(self) -> PackedBatch | None:
        """Return what has been taken since the last batch, None if nothing has."""
        if not self._items:
            return None
        completions = b",".join(self._items)
        batch = PackedBatch(
            index=self._packed,
            offset=self._taken - len(self._items),
            count=len(self._items),
            body=b'{"completions":[%b],"priority":"%b"}' % (completions, self._priority.encode()),
            digest=hashlib.sha256(completions).hexdigest()[:_DIGEST_CHARACTERS],
        )
        self._items = []
        self._bytes = 0
        self._packed += 1
        return batch


def encode_completion(
    completion: NewCompletion | Mapping[str, Any], *, place: str = "completion"
) -> bytes:
    """Check a completion and return its JSON.

    Args:
        place: names it in errors.

    Raises:
        InvalidInputError: it is not a completion, or larger than a request may be.
    """
    try:
        checked = NewCompletion.model_validate(completion)
    except ValidationError as error:
        raise InvalidInputError.of(error, within=place) from error
    encoded = checked.model_dump_json(by_alias=True).encode()
    largest = MAX_REQUEST_BYTES - _ENVELOPE_BYTES
    if len(encoded) > largest:
        expected = f"at most {largest} bytes as JSON, not {len(encoded)}"
        raise InvalidInputError.at(place, expected)
    return encoded


def pack(
    completions: Iterable[NewCompletion | Mapping[str, Any]], packer: BatchPacker
) -> Iterator[PackedBatch]:
    """Yield the batches of ``completions`` as they fill.

    Raises:
        InvalidInputError: as ``BatchPacker.take``; the batches before have been yielded.
    """
    for completion in completions:
        batch = packer.take(completion)
        if batch is not None:
            yield batch
    last = packer.close()
    if last is not None:
        yield last


class SubmittedCompletion(SubmitCompletionResponse):
    """The durable completion.

    ``replayed`` is whether an earlier request with the same idempotency key had submitted it;
    then nothing was added now.
    """

    replayed: bool = False


class SubmittedBatch(BatchSubmitResponse):
    """The durable completions of one request, in order.

    ``offset`` is the place of the first one in what was given to ``submit_many``; ``replayed``
    is whether an earlier request had submitted them; then nothing was added now.
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
        known = {"offset": batch.offset, "replayed": is_replay(response)}
        return read_model(response, SubmittedBatch).model_copy(update=known)

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
    answer = read_model(response, SubmittedCompletion)
    return answer.model_copy(update={"replayed": is_replay(response)})
