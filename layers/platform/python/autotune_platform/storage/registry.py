"""The ``registry`` table's layout: an item for each entity, listed by collection.

``pk`` is the entity's id and ``sk`` is ``record``, so that an entity is found by its id alone; the
index ``byCollection`` lists an organisation's entities of one kind in order of creation.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from autotune.protocol.ids import IdKind, is_id
from autotune.protocol.problems import LimitProblem
from autotune_platform.runtime.errors import NotFoundError, TooManyEntitiesError, UnavailableError
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.retry import BUSY
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.table import Item, Table
from autotune_platform.storage.transactions import Add, Condition, Put

RECORD = "record"
_COUNTS = "counts"
_ATTEMPTS = 5
_BY_COLLECTION = "byCollection"
_FREE_FORM = ("metadata", "builtin", "rubric")

EntityT = TypeVar("EntityT", bound=BaseModel)
OwnedT = TypeVar("OwnedT", bound="Entity")


class Entity(FrozenModel):
    """What belongs to an organisation and has an id of its own."""

    id: str
    organization_id: str


def collection(organization_id: str, kind: str) -> str:
    """Return the collection that holds an organisation's entities of a kind."""
    return f"{organization_id}#{kind}"


def entity_item(entity: BaseModel, *, pk: str, in_collection: str) -> Item:
    """Return the item that stores an entity."""
    return {"pk": pk, "sk": RECORD, "collection": in_collection, **entity_attributes(entity)}


def entity_attributes(entity: BaseModel) -> Item:
    """Return an entity's attributes; free-form JSON is kept as text, which loses no digit."""
    attributes = entity.model_dump(mode="json", by_alias=False, exclude_none=True)
    for name in _FREE_FORM:
        if name in attributes:
            attributes[name] = json.dumps(attributes[name], separators=(",", ":"))
    return attributes


def entity_from(item: Mapping[str, Any], model: type[EntityT]) -> EntityT:
    """Return the entity that an item stores."""
    attributes = {name: item[name] for name in model.model_fields if name in item}
    for name in _FREE_FORM:
        if name in attributes:
            attributes[name] = json.loads(attributes[name])
    return model.model_validate(attributes)


def find_entity(
    table: Table, kind: IdKind, identifier: str, model: type[EntityT]
) -> EntityT | None:
    """Return the entity of a kind and id, of any organisation; None where there is none."""
    if not is_id(kind, identifier):
        return None
    item = table.get(identifier, RECORD)
    return entity_from(item, model) if item else None


def list_collection(
    table: Table, name: str, model: type[EntityT], *, limit: int, next_token: str | None
) -> tuple[list[EntityT], str | None]:
    """Return a page of a collection, oldest first, and the token of the next page.

    Raises:
        InvalidRequestError: ``next_token`` is not from this list.
    """
    after = None
    if next_token is not None:
        (pk,) = decode_cursor(next_token, parts=1)
        if not pk:
            raise invalid_cursor()
        after = {"collection": name, "pk": pk, "sk": RECORD}
    page = table.query(
        name, partition_name="collection", index=_BY_COLLECTION, limit=limit, after=after
    )
    token = encode_cursor(page.last_key["pk"]) if page.last_key else None
    return [entity_from(item, model) for item in page.items], token


def ids_in(table: Table, name: str, *, sk: str, after: str | None, limit: int) -> list[str]:
    """Return the first ids that a collection has behind one, oldest first.

    Args:
        sk: the sort key of the collection's items.
        after: an id of this kind, whether the collection has it or not; None for the first.
    """
    at = None if after is None else {"collection": name, "pk": after, "sk": sk}
    items = table.items(
        name, partition_name="collection", index=_BY_COLLECTION, limit=limit, after=at
    )
    return [item["pk"] for item in islice(items, limit)]


class EntityRepository(Generic[OwnedT]):
    """An organisation's entities of one kind, in the ``registry`` table.

    Attributes:
        kind: of their ids.
        listed_as: the kind in the names of their collections.
        named: the kind in errors.
        is_counted: whether an organisation may have only so many.
    """

    model: type[OwnedT]
    kind: IdKind
    listed_as: str
    named: str
    is_counted = False

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(self, entity: OwnedT, *, at_most: int | None = None) -> None:
        """Store a new entity.

        Args:
            at_most: how many of the kind the organisation may have, where they are counted.

        Raises:
            TooManyEntitiesError: it has as many.
            UnavailableError: the table is busy.
        """
        if not self.is_counted or at_most is None:
            self._table.put_new(self._item(entity))
            return
        new = Put(item=self._item(entity), condition=Condition(exists=False))
        counted = replace(self._one_more(entity.organization_id), below=at_most)
        if self._table.transact([new, counted]) == [1]:
            raise TooManyEntitiesError(
                f"the organization has {at_most} {self.named}s; remove one first",
                limit=LimitProblem(
                    name=f"{self.named}s", maximum=at_most, unit=f"{self.named}s", actual=at_most
                ),
            )

    def one_less(self, organization_id: str) -> Add:
        """Return what takes one off the count, to be written together with its removal."""
        return replace(self._one_more(organization_id), by=-1)

    def _one_more(self, organization_id: str) -> Add:
        return Add(pk=_counts_of(organization_id), sk=_COUNTS, name=self.kind, by=1)

    def get(self, identifier: str) -> OwnedT | None:
        """Return an entity of any organisation."""
        return find_entity(self._table, self.kind, identifier, self.model)

    def get_of(self, organization_id: str, identifier: str) -> OwnedT:
        """Return an entity of an organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        entity = self.get(identifier)
        if entity is None or entity.organization_id != organization_id:
            raise self._missing(identifier)
        return entity

    def list(
        self, organization_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[OwnedT], str | None]:
        """Return a page of an organisation's entities, oldest first.

        Raises:
            InvalidRequestError: ``next_token`` is not from this list.
        """
        name = collection(organization_id, self.listed_as)
        return list_collection(self._table, name, self.model, limit=limit, next_token=next_token)

    def replace(self, before: OwnedT, after: OwnedT) -> bool:
        """Store a changed entity; return False where it changed or went in the meantime."""
        was = {**unchanged(before), **_status(before)}
        return self._table.replace(before.id, RECORD, self._item(after), only_if=was)

    def revoke(self, organization_id: str, identifier: str) -> OwnedT:
        """Mark an entity of an organisation revoked, and return it; revoking twice is fine.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        revoked = {"status": "revoked"}
        if not self.is_counted:
            return self._set(self.get_of(organization_id, identifier), revoked)
        for _ in BUSY.attempts(_ATTEMPTS):
            entity = self.get_of(organization_id, identifier)
            if getattr(entity, "status", None) == "revoked":
                return entity
            change = Addition(
                table=self._table.name,
                pk=entity.id,
                sk=RECORD,
                changes=revoked,
                only_if=_status(entity),
            )
            less = Addition(
                table=self._table.name,
                pk=_counts_of(organization_id),
                sk=_COUNTS,
                numbers={self.kind: -1},
            )
            if self._table.add_together([change, less]):
                return entity.model_copy(update=revoked)
        raise UnavailableError("the table is busy", retry_after_seconds=1)

    def _set(self, entity: OwnedT, changes: Mapping[str, Any]) -> OwnedT:
        """Set attributes of an entity and return it.

        Raises:
            NotFoundError: it is gone.
        """
        item = self._table.update(entity.id, RECORD, changes)
        if item is None:
            raise self._missing(entity.id)
        return entity_from(item, self.model)

    def _missing(self, identifier: str) -> NotFoundError:
        return NotFoundError(f"no {self.named} {identifier}")

    def _item(self, entity: OwnedT) -> Item:
        listed = collection(entity.organization_id, self.listed_as)
        return entity_item(entity, pk=entity.id, in_collection=listed)


def _counts_of(organization_id: str) -> str:
    return f"entities#{organization_id}"


def _status(entity: Entity) -> dict[str, str]:
    """Return the status that an entity was read with: its revocation is no update."""
    status = getattr(entity, "status", None)
    return {} if status is None else {"status": status}


def unchanged(before: BaseModel) -> dict[str, str]:
    """Return what an entity's item holds unless it was changed since it was read."""
    return {"updated_at": entity_attributes(before)["updated_at"]}
