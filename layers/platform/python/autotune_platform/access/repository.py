"""Where organisations and keys are stored."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from autotune.protocol.ids import is_id
from autotune_platform.access.models import Key, Organization
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.storage.registry import (
    RECORD,
    EntityRepository,
    entity_from,
    entity_item,
    find_entity,
    list_collection,
)

_ORGANIZATIONS = "organizations"
_USE = "use"


class AccessRepository(EntityRepository[Key]):
    """Keys in the ``registry`` table, beside organisations and used request ids."""

    model = Key
    kind = "key"
    listed_as = "key"
    named = "key"
    is_counted = True

    def add_organization(self, organization: Organization) -> None:
        """Store a new organisation."""
        self._table.put_new(
            entity_item(organization, pk=organization.id, in_collection=_ORGANIZATIONS)
        )

    def get_organization(self, organization_id: str) -> Organization | None:
        """Return an organisation; None where there is none."""
        return find_entity(self._table, "org", organization_id, Organization)

    def change_organization(
        self, organization_id: str, changes: Mapping[str, Any], *, remove: Sequence[str] = ()
    ) -> Organization | None:
        """Set and remove attributes of an organisation; return it, or None where there is none."""
        if not is_id("org", organization_id):
            return None
        item = self._table.update(organization_id, RECORD, changes, remove=remove)
        return entity_from(item, Organization) if item else None

    def list_organizations(self, *, after: str | None, limit: int) -> list[Organization]:
        """Return organisations in order of their creation, from that after an id on."""
        token = None if after is None else encode_cursor(after)
        found, _ = list_collection(
            self._table, _ORGANIZATIONS, Organization, limit=limit, next_token=token
        )
        return found

    def note_use(self, key_id: str, moment: datetime) -> None:
        """Note when a key was last used, apart from what it is and may do."""
        self._table.put({"pk": _use_of(key_id), "sk": _USE, "used_at": moment.isoformat()})

    def last_uses(self, key_ids: Iterable[str]) -> dict[str, datetime]:
        """Return when keys were last used, as far as they were."""
        wanted = {(_use_of(key_id), _USE): key_id for key_id in key_ids}
        found = self._table.get_many(wanted)
        return {wanted[at]: datetime.fromisoformat(found[at]["used_at"]) for at in found}

    def revoked(self, key_ids: Iterable[str]) -> set[str]:
        """Return those keys that are revoked."""
        found = self._table.get_many(((id_, RECORD) for id_ in key_ids), attributes=("status",))
        return {id_ for (id_, _), item in found.items() if item["status"] == "revoked"}

    def rename(self, organization_id: str, key_id: str, name: str) -> Key:
        """Give a key of an organisation another name, and return it.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self._set(self.get_of(organization_id, key_id), {"name": name})

    def use_request_id(self, key_id: str, request_id: str, *, now: int, until: int) -> bool:
        """Note that a key used a request id; return False where it did before.

        Args:
            now: Unix seconds.
            until: Unix seconds after which the signature is stale anyway.
        """
        return self._table.put_new(
            {"pk": f"nonce#{key_id}#{request_id}", "sk": "nonce", "expires_at": until},
            or_expired_at=now,
            writer=secrets.token_hex(8),
        )


def _use_of(key_id: str) -> str:
    return f"use#{key_id}"
