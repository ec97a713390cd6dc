"""Texts of rows: compressed in items of their own, or in S3 where a write costs less there."""

import json
import zlib
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from autotune_platform.ledger.models import Row, RowInput, RowOutput
from autotune_platform.ledger.objects import TEXT_KINDS, TextKind, text_key
from autotune_platform.runtime.parts import part
from autotune_platform.storage.table import Item, Table

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_COMPRESSED_FROM_BYTES = 512
# Where a put in S3 (5 USD a million) costs what the write units of an item do.
_LARGEST_IN_ITEM_BYTES = 8_000
_PLAIN, _ZLIB = b"p", b"z"


@part
class RowTexts:
    """Stores what rows ask and what they were answered."""

    table: Table
    bucket: str
    s3: "S3Client"

    def item(self, row: Row, kind: TextKind, text: RowInput | RowOutput) -> Item:
        """Return the item that holds a text, or names the object that this stores it in."""
        packed = _pack(text)
        item: Item = {"pk": row.id, "sk": kind, "organization_id": row.organization_id}
        if row.expires_at is not None:
            item["expires_at"] = int(row.expires_at.timestamp())
        if len(packed) <= _LARGEST_IN_ITEM_BYTES:
            return {**item, "body": packed}
        key = text_key(row.id, kind)
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=packed)
        return {**item, "object_key": key}

    def put(self, row: Row, kind: TextKind, text: RowInput | RowOutput) -> None:
        """Store a text in place of what is there."""
        self.table.put(self.item(row, kind, text))

    def inputs(self, row_ids: Iterable[str]) -> dict[str, RowInput]:
        """Return what rows ask, by id, without those whose texts are erased."""
        found = self.table.get_many((row_id, "input") for row_id in row_ids)
        return {pk: RowInput.model_validate(self._load(item)) for (pk, _), item in found.items()}

    def outputs(self, row_ids: Iterable[str]) -> dict[str, RowOutput]:
        """Return what rows were answered, by id, without those that were not or are erased."""
        found = self.table.get_many((row_id, "output") for row_id in row_ids)
        return {pk: RowOutput.model_validate(self._load(item)) for (pk, _), item in found.items()}

    def input_of(self, row_id: str) -> RowInput | None:
        """Return what a row asks; None where it is erased."""
        return self.inputs([row_id]).get(row_id)

    def output_of(self, row_id: str) -> RowOutput | None:
        """Return what a row was answered; None where it was not, or it is erased."""
        item = self.table.get(row_id, "output")
        return RowOutput.model_validate(self._load(item)) if item else None

    def erase(self, row_id: str) -> None:
        """Delete the texts of a row; erasing again changes nothing."""
        for kind in TEXT_KINDS:
            self.s3.delete_object(Bucket=self.bucket, Key=text_key(row_id, kind))
            self.table.delete(row_id, kind)

    def _load(self, item: Mapping[str, Any]) -> Any:
        if "body" in item:
            return _unpack(item["body"])
        body = self.s3.get_object(Bucket=self.bucket, Key=item["object_key"])["Body"]
        with closing(body):
            return _unpack(body.read())


def _pack(text: RowInput | RowOutput) -> bytes:
    document = text.model_dump(mode="json", exclude_none=True)
    encoded = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    if len(encoded) < _COMPRESSED_FROM_BYTES:
        return _PLAIN + encoded
    return _ZLIB + zlib.compress(encoded, level=6)


def _unpack(packed: bytes) -> Any:
    return json.loads(packed[1:] if packed[:1] == _PLAIN else zlib.decompress(packed[1:]))
