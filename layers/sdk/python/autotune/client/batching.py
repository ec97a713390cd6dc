"""Packs a stream of completions into requests, by count and by bytes, as it comes."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from autotune.client.errors import InvalidInputError
from autotune.protocol.completions import NewCompletion, Priority
from autotune.protocol.limits import MAX_BATCH_COMPLETIONS, MAX_REQUEST_BYTES

DEFAULT_BATCH_SIZE = 100

BATCH_BYTES_TARGET = 3_000_000
"""A batch of several stays below this: inside Lambda's 6 MB event the body's quotes are escaped."""

_ENVELOPE_BYTES = 100
_DIGEST_CHARACTERS = 32


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
