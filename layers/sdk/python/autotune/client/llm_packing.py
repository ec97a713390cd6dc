"""Packing requests to language models into bodies, each of so many rows, bytes and JSON values."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from autotune.client.errors import InvalidInputError
from autotune.client.submissions import BATCH_BYTES_TARGET
from autotune.protocol import limits
from autotune.protocol.llm_params import LlmInput
from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune.protocol.llm_templates import MissingVariableError, filled_length

_LONGEST_TEXT = limits.MAX_FILLED_CHARACTERS
_ENVELOPE_BYTES = 100
_ENVELOPE_VALUES = 2
_DIGEST_CHARACTERS = 32
# A body that has come so far is closed. Where it ends then follows from its own rows alone, so that
# a change of a later row leaves it, and its idempotency key, as they are.
_CLOSED_AT_PART = 2 / 3


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


def encode_row(
    row: EnqueueLlmRequest | Mapping[str, Any], *, place: str = "request"
) -> tuple[bytes, int]:
    """Check a row; return its JSON, and how many JSON values that has.

    Args:
        place: names it in errors.

    Raises:
        InvalidInputError: it is no such row, lacks a variable that its texts name, or is larger
            than a request may be.
    """
    try:
        checked = EnqueueLlmRequest.model_validate(row)
    except ValidationError as error:
        raise InvalidInputError.of(error, within=place) from error
    _require_variables(checked.input, f"{place}.input")
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
    """Packs rows of a stream into bodies; memory is bounded by one of them.

    A change of a row leaves the bodies before its own as they are, unless it is a row of over 1 MB.
    """

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
            if (
                len(self._items) == limits.MAX_LLM_ROWS
                or self._bytes >= BATCH_BYTES_TARGET * _CLOSED_AT_PART
                or self._values >= self._most_values * _CLOSED_AT_PART
            ):
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


def _require_variables(asked: LlmInput, place: str) -> None:
    """Refuse texts that name a variable that is not given, or become too long by what is."""
    try:
        for text in (asked.system, asked.user):
            if text is not None and filled_length(text, asked.variables) > _LONGEST_TEXT:
                expected = f"at most {_LONGEST_TEXT} characters once variables are put in"
                raise InvalidInputError.at(place, expected)
    except MissingVariableError as error:
        raise InvalidInputError.at(f"{place}.variables", f"a value for {error.name}") from error


def _values_in(document: Any) -> int:
    """Count JSON values as the API does: what is empty counts twice."""
    if not isinstance(document, dict | list):
        return 1
    members = document.values() if isinstance(document, dict) else document
    return 1 + (sum(map(_values_in, members)) if document else 1)
