"""What operators change of organisations; functions learn of it within half a minute."""

from collections.abc import Mapping, Sequence
from typing import Any

from autotune.protocol.access import OrganizationStatus
from autotune_platform.access.models import Deletion, Organization
from autotune_platform.access.repository import AccessRepository
from autotune_platform.runtime.errors import ConflictError, NotFoundError
from autotune_platform.runtime.parts import part


@part
class OrganizationService:
    """Limits, suspends and deletes organisations."""

    repository: AccessRepository

    def set_limits(self, organization_id: str, changes: Mapping[str, int | None]) -> Organization:
        """Set limits of an organisation by their names; None takes back what was set.

        Raises:
            NotFoundError: there is none.
        """
        before = self.organization(organization_id)
        own = {**before.own_limits, **changes}
        limits = {name: most for name, most in own.items() if most is not None}
        return self._change(organization_id, {"own_limits": limits})

    def set_organization_status(
        self, organization_id: str, status: OrganizationStatus
    ) -> Organization:
        """Suspend an organisation, or take it up again.

        Raises:
            NotFoundError: there is none.
            ConflictError: it is being deleted, or was.
        """
        before = self.organization(organization_id)
        if before.status in ("deleting", "deleted"):
            raise ConflictError(f"organization {organization_id} is {before.status}")
        return self._change(organization_id, {"status": status})

    def organization(self, organization_id: str) -> Organization:
        """Return an organisation as it is now.

        Raises:
            NotFoundError: there is none.
        """
        found = self.repository.get_organization(organization_id)
        if found is None:
            raise NotFoundError(f"no organization {organization_id}")
        return found

    def note_deletion(self, organization_id: str, deletion: Deletion | None) -> Organization:
        """Note where the deletion of an organisation stands, None where all of it is done."""
        if deletion is not None:
            state = deletion.model_dump(mode="json", exclude_none=True)
            return self._change(organization_id, {"status": "deleting", "deletion": state})
        gone = {"status": "deleted", "name": "", "own_limits": {}}
        return self._change(organization_id, gone, remove=["deletion"])

    def _change(
        self, organization_id: str, changes: Mapping[str, Any], *, remove: Sequence[str] = ()
    ) -> Organization:
        changed = self.repository.change_organization(organization_id, changes, remove=remove)
        if changed is None:
            raise NotFoundError(f"no organization {organization_id}")
        return changed
