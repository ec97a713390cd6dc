"""Texts of rows: compressed in items of their own, or in S3 where a write costs less there."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from autotune_platform.ledger.models import Row, RowInput, RowOutput
from autotune_platform.ledger.objects import TEXT_KINDS, TextKind, text_key
from autotune_platform.ledger.parses import LaterParse, LatestParse, packed, unpacked
from autotune_platform.ledger.row_repository import ROW
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Item, Table

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_COMPRESSED_FROM_BYTES = 512
# Where a put in S3 (5 USD a million) costs what the write units of an item do.
_LARGEST_IN_ITEM_BYTES = 8_000
# An item holds 400 KB at most.
_PART_BYTES = 350_000
_PLAIN, _ZLIB = b"p", b"z"
# Parses are in the item that the answer begins in: they are erased, and go, with it.
_LATER, _LATER_COUNT = "later_parses", "later_count"


@part
class RowTexts:
    """Stores what rows ask and what they were answered."""

    table: Table
    bucket: str
    s3: "S3Client"
    clock: Clock = SYSTEM_CLOCK

    def items(self, row: Row, kind: TextKind, text: RowInput | RowOutput) -> list[Item]:
        """Return the items that hold a text, the first of which says where the rest is.

        What outgrows one is stored here as an object, unless it is to go by itself: S3 knows no
        time of an object's own, so that further items hold it.
        """
        content = _pack(text)
        item: Item = {"pk": row.id, "sk": kind, "organization_id": row.organization_id}
        if row.expires_at is not None:
            item["expires_at"] = int(row.expires_at.timestamp())
        if len(content) <= _LARGEST_IN_ITEM_BYTES:
            return [{**item, "body": content}]
        if row.expires_at is None:
            key = text_key(row.id, kind)
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=content)
            return [{**item, "object_key": key}]
        bodies = [content[at : at + _PART_BYTES] for at in range(0, len(content), _PART_BYTES)]
        parts = [
            {**item, "sk": sk, "body": body}
            for sk, body in zip(_part_names(kind, len(bodies)), bodies, strict=True)
        ]
        return [{**item, "parts": len(parts)}, *parts]

    def put(self, row: Row, kind: TextKind, text: RowInput | RowOutput) -> None:
        """Store a text in place of what is there."""
        head, *parts = self.items(row, kind, text)
        for item in (*parts, head):
            self.table.put(item)

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

    def erase(self, row_id: str) -> None:
        """Delete the texts of a row; erasing again changes nothing."""
        for kind in TEXT_KINDS:
            self.s3.delete_object(Bucket=self.bucket, Key=text_key(row_id, kind))
            item = self.table.get(row_id, kind) or {}
            for name in _part_names(kind, item.get("parts", 0)):
                self.table.delete(row_id, name)
            self.table.delete(row_id, kind)

    def _documents(
        self, row_ids: Iterable[str], kind: TextKind
    ) -> dict[str, tuple[Any, Mapping[str, Any]]]:
        """Return texts as JSON, each with its first item.

        Those that are not there or whose time is over are left out.
        """
        now = self.clock.unix()
        found = self.table.get_many((row_id, kind) for row_id in row_ids)
        kept = {
            pk: (self._packed(item), item)
            for (pk, _), item in found.items()
            if item.get("expires_at", now + 1) > now  # the table deletes them late
        }
        return {pk: (_unpack(body), item) for pk, (body, item) in kept.items() if body is not None}

    def _packed(self, item: Mapping[str, Any]) -> bytes | None:
        if "body" in item:
            body: bytes = item["body"]
            return body
        if "parts" in item:
            return self._joined(item)
        found = self.s3.get_object(Bucket=self.bucket, Key=item["object_key"])
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
    encoded = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    if len(encoded) < _COMPRESSED_FROM_BYTES:
        return _PLAIN + encoded
    return _ZLIB + zlib.compress(encoded, level=6)


def _unpack(content: bytes) -> Any:
    return json.loads(content[1:] if content[:1] == _PLAIN else zlib.decompress(content[1:]))
