"""Where organisations and keys are stored."""

from autotune_platform.access.models import Key, Organization
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.storage.registry import (
    RECORD,
    collection,
    entity_from,
    entity_item,
    find_entity,
    list_collection,
)
from autotune_platform.storage.table import Table

_ORGANIZATIONS = "organizations"


class AccessRepository:
    """Organisations, keys and used request ids in the ``registry`` table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add_organization(self, organization: Organization) -> None:
        """Store a new organisation."""
        self._table.put_new(
            entity_item(organization, pk=organization.id, in_collection=_ORGANIZATIONS)
        )

    def list_organizations(self, *, after: str | None, limit: int) -> list[Organization]:
        """Return organisations in order of their creation, from that after an id on."""
        token = None if after is None else encode_cursor(after)
        found, _ = list_collection(
            self._table, _ORGANIZATIONS, Organization, limit=limit, next_token=token
        )
        return found

    def add_key(self, key: Key) -> None:
        """Store a new key."""
        self._table.put_new(
            entity_item(key, pk=key.id, in_collection=collection(key.organization_id, "key"))
        )

    def get_key(self, key_id: str) -> Key | None:
        """Return a key of any organisation."""
        return find_entity(self._table, "key", key_id, Key)

    def list_keys(
        self, organization_id: str, *, limit: int, next_token: str | None
    ) -> tuple[list[Key], str | None]:
        """Return a page of an organisation's keys."""
        name = collection(organization_id, "key")
        return list_collection(self._table, name, Key, limit=limit, next_token=next_token)

    def revoke_key(self, key: Key) -> Key | None:
        """Mark a key revoked; return it, or None if it is gone."""
        item = self._table.update(key.id, RECORD, {"status": "revoked"})
        return entity_from(item, Key) if item else None

    def use_request_id(self, key_id: str, request_id: str, *, now: int, until: int) -> bool:
        """Note that a key used a request id; return False where it did before.

        Args:
            now: Unix seconds.
            until: Unix seconds after which the signature is stale anyway.
        """
        return self._table.put_new(
            {"pk": f"nonce#{key_id}#{request_id}", "sk": "nonce", "expiresAt": until},
            or_expired_at=now,
        )
