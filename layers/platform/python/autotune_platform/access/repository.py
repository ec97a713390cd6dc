"""Where organisations and keys are stored."""

from autotune_platform.access.models import Key, Organization
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.storage.registry import EntityRepository, entity_item, list_collection

_ORGANIZATIONS = "organizations"


class AccessRepository(EntityRepository[Key]):
    """Keys in the ``registry`` table, beside organisations and used request ids."""

    model = Key
    kind = "key"
    listed_as = "key"

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

    def use_request_id(self, key_id: str, request_id: str, *, now: int, until: int) -> bool:
        """Note that a key used a request id; return False where it did before.

        Args:
            now: Unix seconds.
            until: Unix seconds after which the signature is stale anyway.
        """
        return self._table.put_new(
            {"pk": f"nonce#{key_id}#{request_id}", "sk": "nonce", "expires_at": until},
            or_expired_at=now,
        )
