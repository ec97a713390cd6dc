"""Texts of rows: compressed in items of their own, or in S3 where a write costs less there."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from aws_lambda_powertools import Logger

from autotune.protocol.compact_json import compact
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.objects import TEXT_KINDS, TextKind, text_key
from autotune_platform.ledger.parses import LaterParse, LatestParse, packed, unpacked
from autotune_platform.ledger.row_repository import ROW
from autotune_platform.ledger.row_texts import RowInput, RowOutput
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.grouping import groups
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.objects import delete_objects
from autotune_platform.storage.table import Item, Table

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

logger = Logger()

_COMPRESSED_FROM_BYTES = 512
# Where a put in S3 (5 USD a million) costs what the write units of an item do.
_LARGEST_IN_ITEM_BYTES = 8_000
# A transaction's writes cost twice as much.
_LARGEST_IN_TRANSACTION_BYTES = 4_000
# An item holds 400 KB at most.
_PART_BYTES = 350_000
_PLAIN, _ZLIB = b"p", b"z"
_READ_BYTES = 65_536
# S3 deletes 1,000 objects at once, and a row has two texts.
_ROWS_ERASED_AT_ONCE = 500
# Parses are in the item that the answer begins in: they are erased, and go, with it.
_LATER, _LATER_COUNT = "later_parses", "later_count"


@dataclass(frozen=True)
class PackedText:
    """A text as it is stored: items, and the objects that they lead to, by key."""

    items: Sequence[Item]
    objects: Mapping[str, bytes] = field(default_factory=dict)


@part
class RowTexts:
    """Stores what rows ask and what they were answered."""

    table: Table
    bucket: str
    s3: "S3Client"
    clock: Clock = SYSTEM_CLOCK

    def packed(self, row: Row, kind: TextKind, text: RowInput | RowOutput) -> PackedText:
        """Return what holds a text; its first item says where the rest is. Nothing is stored.

        What outgrows an item is an object, unless it is to go by itself: S3 knows no time of an
        object's own, so that further items hold it.
        """
        content = _pack(text)
        item: Item = {"pk": row.id, "sk": kind, "organization_id": row.organization_id}
        if row.expires_at is not None:
            item["expires_at"] = int(row.expires_at.timestamp())
        if len(content) <= _LARGEST_IN_ITEM_BYTES:
            return PackedText([{**item, "body": content}])
        if row.expires_at is None:
            key = text_key(row.id, kind)
            return PackedText([{**item, "object_key": key}], {key: content})
        bodies = [content[at : at + _PART_BYTES] for at in range(0, len(content), _PART_BYTES)]
        parts = [
            {**item, "sk": sk, "body": body}
            for sk, body in zip(_part_names(kind, len(bodies)), bodies, strict=True)
        ]
        return PackedText([{**item, "parts": len(parts)}, *parts])

    def put_objects(self, packed: PackedText) -> None:
        """Store the objects of a text, before the items that lead to them."""
        for key, content in packed.objects.items():
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=content)

    def put(self, row: Row, kind: TextKind, text: RowInput | RowOutput) -> None:
        """Store a text in place of what is there."""
        packed = self.packed(row, kind, text)
        self.put_objects(packed)
        head, *parts = packed.items
        for item in (*parts, head):
            self.table.put(item)

    def put_most(self, row: Row, kind: TextKind, text: RowInput | RowOutput) -> list[Addition]:
        """Store what of a text is large; return the rest, to be written with its row."""
        packed = self.packed(row, kind, text)
        self.put_objects(packed)
        head, *parts = packed.items
        is_large = len(head.get("body", b"")) > _LARGEST_IN_TRANSACTION_BYTES
        for item in (*parts, *([head] if is_large else [])):
            self.table.put(item)
        if is_large:
            return []
        changes = {name: value for name, value in head.items() if name not in ("pk", "sk")}
        return [Addition(table=self.table.name, pk=row.id, sk=kind, changes=changes)]

    def inputs(self, row_ids: Iterable[str]) -> dict[str, RowInput]:
        """Return what rows ask, by id, without those whose texts are erased."""
        found = self._documents(row_ids, "input")
        return {row_id: RowInput.model_validate(one) for row_id, (one, _) in found.items()}

    def outputs(self, row_ids: Iterable[str]) -> dict[str, RowOutput]:
        """Return what rows were answered, by id, without those that were not or are erased."""
        found = self._documents(row_ids, "output")
        return {
            row_id: RowOutput.model_validate(
                {**one, "later": unpacked(item[_LATER]) if _LATER in item else ()}
            )
            for row_id, (one, item) in found.items()
        }

    def input_of(self, row_id: str) -> RowInput | None:
        """Return what a row asks; None where it is erased."""
        return self.inputs([row_id]).get(row_id)

    def output_of(self, row_id: str) -> RowOutput | None:
        """Return what a row was answered; None where it was not, or it is erased."""
        return self.outputs([row_id]).get(row_id)

    def output_sizes(self, row_ids: Iterable[str]) -> dict[str, int]:
        """Return how many bytes of JSON answers are, by row; no whole one is in memory for it."""
        found = self.table.get_many((row_id, "output") for row_id in row_ids)
        return {row_id: self._size(item) for (row_id, _), item in found.items()}

    def _size(self, item: Mapping[str, Any]) -> int:
        if "object_key" not in item:
            return _unpacked_bytes([self._packed(item) or _PLAIN])
        found = self.s3.get_object(Bucket=self.bucket, Key=item["object_key"])
        with closing(found["Body"]) as stream:
            return _unpacked_bytes(stream.iter_chunks(_READ_BYTES))

    def has_input(self, row_id: str) -> bool:
        """Return whether what a row asks was stored, and is not erased."""
        return self.table.get(row_id, "input") is not None

    def add_parse(self, row: Row, before: Sequence[LaterParse], parse: LaterParse) -> bool:
        """Store one more parse of an answer, together with what its row shows of it.

        Returns:
            False where another was stored meanwhile, or the answer was erased.
        """
        stored = Addition(
            table=self.table.name,
            pk=row.id,
            sk="output",
            changes={_LATER: packed([*before, parse]), _LATER_COUNT: len(before) + 1},
            only_if={
                "organization_id": row.organization_id,  # it is there
                _LATER_COUNT: len(before) or None,
            },
        )
        latest = LatestParse(version=parse.version, error=parse.error)
        shown = Addition(
            table=self.table.name,
            pk=row.id,
            sk=ROW,
            changes={"latest_parse": latest.model_dump(mode="json", exclude_none=True)},
            only_if={"status": "completed"},
        )
        return self.table.add_together([stored, shown])

    def erase(self, row_ids: Iterable[str]) -> None:
        """Delete the texts of rows; erasing again changes nothing.

        Raises:
            UnavailableError: the bucket or the table kept refusing some.
        """
        for some in groups(row_ids, _ROWS_ERASED_AT_ONCE):
            heads = [(row_id, kind) for row_id in some for kind in TEXT_KINDS]
            # An object may be there without its item: whoever stored it was killed between the two.
            delete_objects(self.s3, self.bucket, (text_key(*head) for head in heads))
            found = self.table.get_many(heads, attributes=["parts"])
            # The item that says how many parts there are goes last.
            self.table.delete_many(
                (row_id, name)
                for (row_id, kind), item in found.items()
                for name in _part_names(cast("TextKind", kind), item.get("parts", 0))
            )
            self.table.delete_many(heads)

    def _documents(
        self, row_ids: Iterable[str], kind: TextKind
    ) -> dict[str, tuple[Any, Mapping[str, Any]]]:
        """Return texts as JSON, each with its first item.

        Those that are not there, whose time is over, or that cannot be read are left out: one text
        must not hold the batch that its row is in.
        """
        now = self.clock.unix()
        found = self.table.get_many((row_id, kind) for row_id in row_ids)
        kept = {
            pk: (self._packed(item), item)
            for (pk, _), item in found.items()
            if item.get("expires_at", now + 1) > now  # the table deletes them late
        }
        read: dict[str, tuple[Any, Mapping[str, Any]]] = {}
        for pk, (body, item) in kept.items():
            if body is None:
                continue
            try:
                read[pk] = _unpack(body), item
            except (ValueError, zlib.error):
                logger.exception("text cannot be read", request_id=pk, kind=kind)
        return read

    def _packed(self, item: Mapping[str, Any]) -> bytes | None:
        if "body" in item:
            body: bytes = item["body"]
            return body
        if "parts" in item:
            return self._joined(item)
        try:
            found = self.s3.get_object(Bucket=self.bucket, Key=item["object_key"])
        except self.s3.exceptions.NoSuchKey:
            return None  # whoever erased it was killed before the item went
        with closing(found["Body"]) as stream:
            return stream.read()

    def _joined(self, item: Mapping[str, Any]) -> bytes | None:
        names = _part_names(item["sk"], item["parts"])
        found = self.table.get_many((item["pk"], name) for name in names)
        if len(found) < len(names):
            return None  # the table has begun to delete them
        return b"".join(found[item["pk"], name]["body"] for name in names)


def _part_names(kind: TextKind, count: int) -> list[str]:
    return [f"{kind}#{number:03}" for number in range(count)]


def _pack(text: RowInput | RowOutput) -> bytes:
    document = text.model_dump(mode="json", exclude={"later"}, exclude_none=True)
    encoded = compact(document).encode()
    if len(encoded) < _COMPRESSED_FROM_BYTES:
        return _PLAIN + encoded
    return _ZLIB + zlib.compress(encoded, level=6)


def _unpack(content: bytes) -> Any:
    return json.loads(content[1:] if content[:1] == _PLAIN else zlib.decompress(content[1:]))


def _unpacked_bytes(chunks: Iterable[bytes]) -> int:
    """Return how long a packed text is without its compression."""
    size, kind = 0, b""
    expanding = zlib.decompressobj()
    for chunk in chunks:
        left = chunk if kind else chunk[1:]
        kind = kind or chunk[:1]
        if kind == _PLAIN:
            size += len(left)
        while kind == _ZLIB and left:
            size += len(expanding.decompress(left, _READ_BYTES))
            left = expanding.unconsumed_tail
    return size + len(expanding.flush())
