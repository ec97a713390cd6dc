"""Stores exports: their records, files, summaries, idempotency keys and slots.

All are items of the ``registry`` table and expire together. The record, the files and the summaries
of segments lie under the export's id, and each idempotency key under its own.

An open export holds one of its organisation's numbered slots. There are as many slots as exports
that may be open, so the conditions of the writes alone keep the limit. All slot items are one
collection, in which the sweeper finds the open exports of every organisation.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotune.protocol.ids import derived_id
from autotune.protocol.limits import MAX_OPEN_EXPORTS
from autotune.protocol.problems import LimitProblem
from autotune_platform.exports.models import Export, FileKind, StoredFile
from autotune_platform.exports.statistics import Summary
from autotune_platform.runtime.errors import TooManyExportsError
from autotune_platform.storage.registry import (
    RECORD,
    EntityRepository,
    entity_attributes,
    entity_from,
)
from autotune_platform.storage.table import Item
from autotune_platform.storage.transactions import ANYTHING, Condition, Delete, Put, Write

_BY_COLLECTION = "byCollection"
_CLAIM = "exp_key#"
_OPEN_EXPORTS = "openExports"
_SUMMARY = "summary"
_RETRY_AFTER_SECONDS = 300


@dataclass(frozen=True)
class KeyClaim:
    """An idempotency key, and the export that was created with it, expired or not."""

    pk: str
    export_id: str | None


class ExportRepository(EntityRepository[Export]):
    """Exports in the ``registry`` table; those that are found may have expired."""

    model = Export
    kind = "exp"
    listed_as = "export"
    named = "export"

    def claim(self, organization_id: str, idempotency_key: str) -> KeyClaim:
        """Return the claim of an idempotency key; it has no export if the key is new."""
        pk = _CLAIM + derived_id("exp", organization_id, idempotency_key)
        item = self._table.get(pk, RECORD)
        return KeyClaim(pk, item["export_id"] if item else None)

    def open(self, export: Export, *, claim: KeyClaim | None = None) -> bool:
        """Store a new export; return False if another one has taken its idempotency key.

        Args:
            claim: its idempotency key, which may have an export that has expired.

        Raises:
            TooManyExportsError: the organisation has as many open exports as are allowed.
        """
        claims = [] if claim is None else [_claimed(claim, export)]
        slots = _slots(export.organization_id)
        taken = {item["sk"] for item in self._table.query(slots).items}
        for slot in range(MAX_OPEN_EXPORTS):
            if str(slot) in taken:
                continue
            listed = {"collection": _OPEN_EXPORTS, "export_id": export.id}
            slot_item = _item(export, slots, str(slot), listed)
            in_slot = export.model_copy(update={"slot": slot})
            refused = self._table.transact(
                [
                    Put(item=slot_item, condition=Condition(exists=False)),
                    Put(item=self._item(in_slot), condition=Condition(exists=False)),
                    *claims,
                ]
            )
            if not refused:
                return True
            if refused != [0]:
                return False
        raise TooManyExportsError(
            f"{MAX_OPEN_EXPORTS} exports are under way; wait for one to end, or delete one",
            limit=LimitProblem(name="open exports", maximum=MAX_OPEN_EXPORTS, unit="exports"),
            retry_after_seconds=_RETRY_AFTER_SECONDS,
        )

    def replace(self, before: Export, after: Export) -> bool:
        """Store a changed export; return False if it was changed by others in the meantime.

        An export that is no longer open releases its slot.
        """
        return self._change(before, after, [])

    def advance(
        self,
        before: Export,
        after: Export,
        *,
        files: Iterable[tuple[FileKind, StoredFile]],
        summary: Summary,
    ) -> bool:
        """Store the result of a segment in one transaction.

        Return False if the export changed in the meantime: another worker stored the same segment,
        the export was redriven, or it is no longer open.
        """
        results = {f"{_SUMMARY}#{before.segments:06}": {"packed": summary.pack()}}
        for index, (kind, file) in enumerate(files):
            results[f"{kind}#{before.segments:06}#{index:03}"] = entity_attributes(file)
        writes = [Put(item=_item(after, after.id, sk, result)) for sk, result in results.items()]
        return self._change(before, after, writes)

    def files(self, export: Export, kind: FileKind) -> Iterator[StoredFile]:
        """Yield the files of a kind in the order in which they were stored."""
        items = self._table.items(export.id, starting=f"{kind}#")
        return (entity_from(item, StoredFile) for item in items)

    def summaries(self, export: Export) -> Iterator[Summary]:
        """Yield the summary of each segment."""
        items = self._table.items(export.id, starting=f"{_SUMMARY}#")
        return (Summary.unpack(item["packed"]) for item in items)

    def open_ids(self) -> Iterator[str]:
        """Yield the ids of open exports of every organisation, and of some that just ended."""
        items = self._table.items(_OPEN_EXPORTS, partition_name="collection", index=_BY_COLLECTION)
        return (item["export_id"] for item in items)

    def _change(self, before: Export, after: Export, others: Sequence[Write]) -> bool:
        writes: list[Write] = [Put(item=self._item(after), condition=_unchanged(before)), *others]
        if before.is_open and not after.is_open:
            slots = _slots(after.organization_id)
            writes.append(Delete(pk=slots, sk=str(after.slot), condition=ANYTHING))
        return not self._table.transact(writes)

    def _item(self, export: Export) -> Item:
        return _item(export, export.id, RECORD, super()._item(export))


def _item(export: Export, pk: str, sk: str, attributes: Mapping[str, Any]) -> Item:
    """Return an item that expires with an export."""
    return {"pk": pk, "sk": sk, "expires_at": int(export.expires_at.timestamp()), **attributes}


def _claimed(claim: KeyClaim, export: Export) -> Put:
    condition = Condition(exists=False)
    if claim.export_id is not None:
        condition = Condition(only_if={"export_id": claim.export_id})
    return Put(item=_item(export, claim.pk, RECORD, {"export_id": export.id}), condition=condition)


def _slots(organization_id: str) -> str:
    # Functions that write exports may only write keys that begin with ``exp_``.
    return f"exp_open#{organization_id}"


def _unchanged(export: Export) -> Condition:
    stored = entity_attributes(export)
    names = ("state", "redrive", "segments")
    return Condition(only_if={name: stored[name] for name in names})
