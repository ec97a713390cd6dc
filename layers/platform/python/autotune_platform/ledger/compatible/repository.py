"""Stores files and batches of OpenAI's batch API in the ``registry`` table.

``pk=llf_…`` is a file and ``pk=lob_…`` a batch, listed by connection. ``pk=openai-batch#<sha256>``
names the batch that a creation makes, so that a repeated creation meets the first.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar

from autotune.protocol.ids import IdKind, is_id
from autotune_platform.ledger.compatible.models import Batch, File
from autotune_platform.ledger.models import as_stored
from autotune_platform.runtime.errors import NotFoundError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.storage.registry import RECORD, entity_attributes, entity_from
from autotune_platform.storage.table import Table

_INDEX = "byCollection"
_CLAIM = "claim"

ThingT = TypeVar("ThingT", File, Batch)


class Creation(FrozenModel):
    """The batch that a creation makes, and since when it does."""

    batch_id: str
    output_file_id: str
    error_file_id: str
    fingerprint: str
    begun_at: datetime


class ThingRepository(Generic[ThingT]):
    """Things of one kind, by id and by connection."""

    model: type[ThingT]
    kind: IdKind
    listed_as: str
    named: str

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, thing: ThingT) -> bool:
        """Store a thing; False where it was stored before."""
        return self._table.put_new(
            {
                "pk": thing.id,
                "sk": RECORD,
                "collection": self._collection(thing.organization_id, thing.connection_id),
                **entity_attributes(thing),
                "expires_at": int(thing.expires_at.timestamp()),
            }
        )

    def find(
        self, organization_id: str, connection_id: str, thing_id: str, now: datetime
    ) -> ThingT:
        """Return a thing of a connection.

        Raises:
            NotFoundError: there is none, it has expired, or it is another connection's.
        """
        item = self._table.get(thing_id, RECORD) if is_id(self.kind, thing_id) else None
        thing = entity_from(item, self.model) if item else None
        if (
            thing is None
            or (thing.organization_id, thing.connection_id) != (organization_id, connection_id)
            or thing.expires_at <= now
        ):
            raise NotFoundError(f"no {self.named} {thing_id[:64]}")
        return thing

    def list(
        self,
        organization_id: str,
        connection_id: str,
        *,
        after: str | None,
        limit: int,
        newest_first: bool,
        where: Mapping[str, str],
        now: datetime,
    ) -> tuple[list[ThingT], bool]:
        """Return things of a connection behind one, and whether there are more."""
        collection = self._collection(organization_id, connection_id)
        behind = {"collection": collection, "pk": after, "sk": RECORD} if after else None
        found: list[ThingT] = []
        for item in self._table.items(
            collection,
            partition_name="collection",
            index=_INDEX,
            limit=min(limit + 1, 1_000),
            after=behind,
            newest_first=newest_first,
        ):
            thing = entity_from(item, self.model)
            if thing.expires_at > now and all(item.get(name) == one for name, one in where.items()):
                found.append(thing)
            if len(found) > limit:
                return found[:limit], True
        return found, False

    def change(self, thing: ThingT, changes: Mapping[str, Any]) -> ThingT | None:
        """Change a thing that is open; None where it is not any more."""
        stored = as_stored(changes)
        item = self._table.update(thing.id, RECORD, stored, only_if={"status": "open"})
        return entity_from(item, self.model) if item else None

    def delete(self, thing_id: str) -> None:
        """Delete a thing, if it is there."""
        self._table.delete(thing_id, RECORD)

    def _collection(self, organization_id: str, connection_id: str) -> str:
        return f"{organization_id}#{self.listed_as}#{connection_id}"


class FileRepository(ThingRepository[File]):
    """Files."""

    model = File
    kind = "llf"
    listed_as = "openaiFile"
    named = "file"


class BatchRepository(ThingRepository[Batch]):
    """Batches."""

    model = Batch
    kind = "lob"
    listed_as = "openaiBatch"
    named = "batch"

    def begin(self, digest: str, creation: Creation, *, expires_at: int) -> Creation:
        """Return the creation of this digest: this one, or that which came first."""
        pk = f"openai-batch#{digest}"
        item = {"pk": pk, "sk": _CLAIM, **creation.model_dump(mode="json")}
        now = int(creation.begun_at.timestamp())
        if self._table.put_new({**item, "expires_at": expires_at}, or_expired_at=now):
            return creation
        before = self._table.get(pk, _CLAIM) or item
        return Creation.model_validate({name: before[name] for name in Creation.model_fields})
