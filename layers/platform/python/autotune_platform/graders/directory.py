"""Looking graders up: what a caller may see of them, and what calling them needs."""

from collections.abc import Iterable

from autotune_platform.access.models import Caller, Scope
from autotune_platform.access.secrets import DerivedSecrets
from autotune_platform.gateway.models import Grader, UsableGrader
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.errors import GraderNotVerifiedError, NotFoundError
from autotune_platform.storage.registry import collection, find_entity, list_collection
from autotune_platform.storage.table import Table


class GraderDirectory:
    """Finds graders.

    A grader belongs to an organisation. Other organisations see it only if it is public, and then
    never its endpoint.
    """

    def __init__(self, *, table: Table, secrets: DerivedSecrets) -> None:
        self._table = table
        self._secrets = secrets

    def get_visible(self, caller: Caller, scope: Scope, grader_id: str) -> Grader:
        """Return a grader in the caller's scope, or a public one.

        Raises:
            NotFoundError: there is none that the caller may see.
        """
        grader = self._find(grader_id)
        if grader is None or not (manages(caller, scope, grader) or grader.visibility == "public"):
            raise NotFoundError(f"no grader {grader_id}")
        return grader

    def get_managed(self, caller: Caller, scope: Scope, grader_id: str) -> Grader:
        """Return a grader that the caller may manage.

        Raises:
            NotFoundError: there is none in the caller's scope.
        """
        grader = self._find(grader_id)
        if grader is None or not manages(caller, scope, grader):
            raise NotFoundError(f"no grader {grader_id}")
        return grader

    def managed(self, caller: Caller, scope: Scope, grader_ids: Iterable[str]) -> set[str]:
        """Return those ids that are of graders in the caller's scope."""
        found = (self._find(grader_id) for grader_id in set(grader_ids))
        return {grader.id for grader in found if grader and manages(caller, scope, grader)}

    def of_organization(self, organization_id: str, grader_ids: Iterable[str]) -> list[Grader]:
        """Return those of the graders that are an organisation's own, in their order."""
        found = (self._find(grader_id) for grader_id in grader_ids)
        return [one for one in found if one and one.organization_id == organization_id]

    def owned(self, organization_id: str, *, limit: int) -> list[Grader]:
        """Return the first graders of an organisation, oldest first."""
        name = collection(organization_id, "grader")
        return list_collection(self._table, name, Grader, limit=limit, next_token=None)[0]

    def get_usable(self, grader_id: str) -> UsableGrader | None:
        """Return a grader with its secrets, for calling it."""
        grader = self._find(grader_id)
        return self.usable(grader) if grader else None

    def usable(self, grader: Grader) -> UsableGrader:
        """Return a grader with the secrets that are valid now, the newest first.

        One without an endpoint has none.
        """
        if not grader.is_called:
            return UsableGrader(grader=grader, secrets=())
        secrets = [self._secret(grader)]
        until = grader.previous_secret_until
        if until is not None and SYSTEM_CLOCK.now() < until:
            secrets.append(self._secret(grader, before=1))
        return UsableGrader(grader=grader, secrets=tuple(secrets))

    def _find(self, grader_id: str) -> Grader | None:
        return find_entity(self._table, "grd", grader_id, Grader)

    def _secret(self, grader: Grader, *, before: int = 0) -> str:
        return self._secrets.derive("grader", grader.id, grader.secret_version - before)


def manages(caller: Caller, scope: Scope, grader: Grader) -> bool:
    """Return whether a grader is the organisation's, and within ``own`` the caller's own."""
    return grader.organization_id == caller.organization_id and (
        scope == "organization" or grader.principal_id == caller.principal_id
    )


def require_verified(grader: Grader) -> str:
    """Return the version of a verified grader.

    Raises:
        GraderNotVerifiedError: it has not passed verification at its present endpoint.
    """
    if grader.verified_at is None or grader.version is None:
        raise GraderNotVerifiedError(
            f"grader {grader.id} has to pass POST /api/v1/graders/{grader.id}/verify first"
        )
    return grader.version
