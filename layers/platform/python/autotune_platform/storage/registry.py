"""The ``registry`` table's layout: an item for each entity, listed by collection.

``pk`` is the entity's id and ``sk`` is ``record``, so that an entity is found by its id alone; the
index ``byCollection`` lists an organisation's entities of one kind in order of creation.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from autotune.protocol.ids import IdKind, is_id
from autotune_platform.storage.cursors import decode_cursor, encode_cursor, invalid_cursor
from autotune_platform.storage.table import Item, Table

RECORD = "record"
_BY_COLLECTION = "byCollection"
_FREE_FORM = ("metadata", "builtin")

EntityT = TypeVar("EntityT", bound=BaseModel)


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
    found: list[str] = []
    at = None if after is None else {"collection": name, "pk": after, "sk": sk}
    while len(found) < limit:  # the store cuts pages at 1 MB
        page = table.query(
            name,
            partition_name="collection",
            index=_BY_COLLECTION,
            limit=limit - len(found),
            after=at,
        )
        found += [item["pk"] for item in page.items]
        at = page.last_key
        if at is None:
            break
    return found
