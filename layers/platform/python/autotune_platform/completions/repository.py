"""Where completions and batches are stored, and large texts in S3."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from autotune.protocol.ids import is_id
from autotune_platform.completions.batch_index import listing_of
from autotune_platform.completions.content import CONTENT, object_key, pack, unpack
from autotune_platform.completions.generations import Generation
from autotune_platform.completions.models import (
    Batch,
    Completion,
    CompletionText,
    PackedText,
)
from autotune_platform.completions.open_counts import OpenCounts
from autotune_platform.completions.stored_batches import batch_attributes, batch_from
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.retry import BUSY
from autotune_platform.runtime.threads import in_parallel
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.due_index import DueIndex
from autotune_platform.storage.packing import outgrows_item
from autotune_platform.storage.table import Item, Table
from autotune_platform.verdicts.models import CompletionHeader

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_BATCH = "batch"
_CONCURRENT_DELETIONS = 8
_CONCURRENT_UPDATES = 8
_OPEN_BATCHES = "openBatches"
OPEN_SHARDS = 16
_ATTEMPTS = 8
# Of a completion: what its item has in another form.
_LATER = {"generation", "rescored_at"}
_NOT_ATTRIBUTES = {"id", "prompt", "response", "metadata", "expires_at", "alone", *_LATER}
# Of a completion's item: its text, and whether that is gone.
_TEXT = ("body", "body_key", "deleted_at", "expires_at")


class CompletionRepository:
    """Completions and batches in the ``completions`` table, large texts in the content bucket."""

    def __init__(self, *, table: Table, bucket: str, s3: "S3Client") -> None:
        self._table = table
        self.due = DueIndex(table, sk=_BATCH, index=_OPEN_BATCHES, shards=OPEN_SHARDS)
        self._bucket = bucket
        self._s3 = s3

    @cached_property
    def open_counts(self) -> OpenCounts:
        """How many completions are undecided."""
        return OpenCounts(table=self._table)

    def add_batch(self, batch: Batch) -> bool:
        """Store a new batch; return False where its id is taken."""
        return self._table.put_new(
            {
                "pk": batch.id,
                "sk": _BATCH,
                **listing_of(batch),
                **batch_attributes(batch),
            }
        )

    def get_batch(self, batch_id: str) -> Batch | None:
        """Return a batch of any organisation."""
        item = self._table.get(batch_id, _BATCH) if is_id("bat", batch_id) else None
        return batch_from(batch_id, item) if item else None

    def get_batches(self, batch_ids: Iterable[str]) -> dict[str, Batch]:
        """Return those batches that exist, of any organisation, by id."""
        items = self._table.get_many((batch_id, _BATCH) for batch_id in batch_ids)
        return {pk: batch_from(pk, item) for (pk, _), item in items.items()}

    def claim_batch(self, before: Batch, after: Batch) -> bool:
        """Store where a submission stands; return False where another request did since."""
        changes = after.model_dump(mode="json", include={"status", "attempted_at"})
        expected = before.model_dump(mode="json", include={"status", "attempted_at"})
        return self._table.update(before.id, _BATCH, changes, only_if=expected) is not None

    def mark_interrupted(self, batch: Batch) -> None:
        """Note that the attempt that holds a batch failed."""
        expected = batch.model_dump(mode="json", include={"attempted_at"})
        self._table.update(batch.id, _BATCH, {"status": "interrupted"}, only_if=expected)

    def mark_accepted(self, batch: Batch, *, due_at: datetime) -> None:
        """Note that a batch is stored and queued, and when the sweeper shall look after it.

        Its completions count as open from then on. Where another attempt holds the batch, nothing
        is noted.

        Raises:
            UnavailableError: others kept writing the same items.
        """
        changes = {
            "status": "accepted",
            "one_run": batch.is_one_run,
            **self.due.opened(batch.id, due_at),
        }
        attempt = batch.model_dump(mode="json", include={"attempted_at"})
        for _ in BUSY.attempts(_ATTEMPTS):
            if self._open(batch, batch.size, batch.created_at, changes, only_if=attempt):
                return
            stored = self.get_batch(batch.id)
            if stored is None or stored.attempted_at != batch.attempted_at:
                return
        raise UnavailableError("the batch is busy", retry_after_seconds=1)

    def add_generation(self, batch: Batch, latest: Generation, *, due_at: datetime) -> bool:
        """Note that some of a batch is scored again, and when the sweeper shall look after it.

        Returns:
            False where it was done to the batch since it was read.
        """
        changes = {
            "generation": latest.number,
            latest.attribute: latest.packed(),
            "one_run": False,
            **self.due.opened(batch.id, due_at),
        }
        before = {"generation": batch.generation or None, "status": "accepted"}
        return self._open(batch, latest.size, latest.requested_at, changes, only_if=before)

    def _open(
        self,
        batch: Batch,
        count: int,
        at: datetime,
        changes: Mapping[str, Any],
        *,
        only_if: Mapping[str, int | str | None],
    ) -> bool:
        """Change a batch, and count so many of its completions as open; False where neither was."""
        change = Addition(
            table=self._table.name, pk=batch.id, sk=_BATCH, changes=changes, only_if=only_if
        )
        opened = self.open_counts.opened(batch.organization_id, count, at=at)
        if not self._table.add_together([change, *opened]):
            self.open_counts.lane.leave()
            return False
        self.open_counts.added(batch.organization_id, count)
        return True

    def mark_propagated(self, batch: Batch) -> None:
        """Note that completions and lists of verdicts know of all of a batch's generations."""
        changes = {"propagated": batch.generation}
        self._table.update(batch.id, _BATCH, changes, rising="propagated")

    def renew(self, headers: Sequence[CompletionHeader]) -> None:
        """Have completions know their latest generation; an earlier one never comes back."""

        def renew(header: CompletionHeader) -> None:
            assert header.rescored_at is not None, "it is scored again"
            changes = {
                "generation": header.generation,
                "rescored_at": header.rescored_at.isoformat(),
                "deadline_seconds": header.deadline_seconds,
            }
            self._table.update(header.id, CONTENT, changes, rising="generation")

        if headers:
            in_parallel(renew, headers, at_most=_CONCURRENT_UPDATES)

    def batches_of(self, completion_ids: Iterable[str], *, organization_id: str) -> dict[str, str]:
        """Return the batches of those completions of an organisation that are stored, by id."""
        wanted = ((id_, CONTENT) for id_ in completion_ids if is_id("cmp", id_))
        items = self._table.get_many(wanted, attributes=("organization_id", "batch_id"))
        return {
            pk: item["batch_id"]
            for (pk, _), item in items.items()
            if item["organization_id"] == organization_id
        }

    def models_of(self, completion_ids: Iterable[str]) -> dict[str, str]:
        """Return which models made those completions that are stored, by id."""
        items = self._table.get_many(
            ((id_, CONTENT) for id_ in completion_ids), attributes=("model_id",)
        )
        return {pk: item["model_id"] for (pk, _), item in items.items()}

    def add_all(self, completions: Iterable[Completion]) -> None:
        """Store completions; storing the same ones again changes nothing."""
        self._table.put_many(self._item(completion) for completion in completions)

    def get(self, completion_id: str, *, organization_id: str) -> Completion | None:
        """Return a completion of an organisation, unless its text was deleted or has expired."""
        item = self._table.get(completion_id, CONTENT) if is_id("cmp", completion_id) else None
        # Looked at first: reading a text from S3 would tell others by its time that there is one.
        if item is None or item["organization_id"] != organization_id:
            return None
        return self._completion(item)

    def get_many(self, completion_ids: Iterable[str]) -> dict[str, Completion]:
        """Return those completions that exist and whose text is neither deleted nor expired."""
        items = self._table.get_many((completion_id, CONTENT) for completion_id in completion_ids)
        found = (self._completion(item) for item in items.values())
        return {completion.id: completion for completion in found if completion is not None}

    def get_packed(self, completion_ids: Iterable[str]) -> dict[str, PackedText]:
        """Return the packed texts of those completions that ``get_many`` would return, by id.

        Packed, a hundred of them are at most some 30 MB; unpacked, they may be fifteen times that.
        """
        items = self._table.get_many(
            ((completion_id, CONTENT) for completion_id in completion_ids), attributes=_TEXT
        )
        return {
            pk: PackedText(item.get("body"), item.get("body_key"))
            for (pk, _), item in items.items()
            if not _is_gone(item)
        }

    def unpack(self, packed: PackedText) -> CompletionText | None:
        """Return a text, read from the bucket where it is there; None if it was deleted since."""
        body = packed.body
        if packed.object_key is not None:
            body = self._read_object(packed.object_key)
        return None if body is None else CompletionText(*unpack(body))

    def text_gone_at(self, header: CompletionHeader, now: datetime) -> datetime | None:
        """Return when a text was deleted or expired, by then; None where it is there."""
        item = self._table.get_many([(header.id, CONTENT)], attributes=("deleted_at",))
        deleted_at = item.get((header.id, CONTENT), {}).get("deleted_at")
        if deleted_at is not None:
            return datetime.fromisoformat(deleted_at)
        is_over = header.expires_at is not None and header.expires_at <= now
        return header.expires_at if is_over else None

    def get_headers(self, completion_ids: Iterable[str]) -> dict[str, CompletionHeader]:
        """Return what is known of completions beside their text, deleted or not, by id."""
        wanted = (completion_id for completion_id in completion_ids if is_id("cmp", completion_id))
        items = self._table.get_many((completion_id, CONTENT) for completion_id in wanted)
        return {
            pk: CompletionHeader.model_validate({**item, "id": pk})
            for (pk, _), item in items.items()
        }

    def erase_completions(self, completion_ids: Sequence[str], *, at: datetime) -> None:
        """Delete prompts, responses and metadata; that there were completions stays known.

        What is deleted or expired already is left as it is.
        """
        items = self._table.get_many((completion_id, CONTENT) for completion_id in completion_ids)

        def delete(item: Item) -> None:
            # The object first: once the item says deleted, nobody would come back for it.
            if "body_key" in item:
                self._s3.delete_object(Bucket=self._bucket, Key=item["body_key"])
            changes = {"body": b"", "deleted_at": at.isoformat()}
            self._table.update(item["pk"], CONTENT, changes)

        present = [item for item in items.values() if "deleted_at" not in item]
        in_parallel(delete, present, at_most=_CONCURRENT_DELETIONS)

    def _item(self, completion: Completion) -> Item:
        packed = pack(completion.prompt, completion.response, completion.metadata)
        item: Item = {
            "pk": completion.id,
            "sk": CONTENT,
            **completion.model_dump(exclude=_NOT_ATTRIBUTES, exclude_none=True),
            "created_at": completion.created_at.isoformat(),
        }
        if completion.alone:
            item["alone"] = True
        if completion.expires_at is not None:
            item["expires_at"] = int(completion.expires_at.timestamp())
        if outgrows_item(packed):
            key = object_key(completion.id)
            self._s3.put_object(Bucket=self._bucket, Key=key, Body=packed)
            return {**item, "body_key": key}
        return {**item, "body": packed}

    def _completion(self, item: Mapping[str, Any]) -> Completion | None:
        if _is_gone(item):
            return None
        text = self.unpack(PackedText(item.get("body"), item.get("body_key")))
        if text is None:
            return None
        return Completion.model_validate({**item, "id": item["pk"], **text._asdict()})

    def _read_object(self, key: str) -> bytes | None:
        try:
            stored = self._s3.get_object(Bucket=self._bucket, Key=key)
        except self._s3.exceptions.NoSuchKey:
            return None
        return stored["Body"].read()


def _is_gone(item: Mapping[str, Any]) -> bool:
    # The table removes what has expired, but days later at times.
    return "deleted_at" in item or bool(item.get("expires_at", math.inf) <= SYSTEM_CLOCK.unix())
