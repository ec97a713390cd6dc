"""Registering graders, changing them, and keeping their health."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

from autotune.protocol.graders import (
    GraderStatusChange,
    GraderVersionChange,
    RegisterGraderRequest,
    StatusReason,
    UpdateGraderRequest,
)
from autotune.protocol.ids import derived_id, new_id
from autotune_platform.access.models import Caller, Scope
from autotune_platform.access.secrets import DerivedSecrets
from autotune_platform.gateway.models import Grader
from autotune_platform.graders.directory import GraderDirectory, manages
from autotune_platform.graders.health import Health, Probe
from autotune_platform.graders.kinds import check_fields, configuration_changes, initial_status
from autotune_platform.graders.repository import GraderRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError, NotFoundError
from autotune_platform.storage.table import Table
from autotune_platform.webhooks.models import Event

_CONFIGURATIONS = frozenset({"builtin", "openai", "rubric", "connection_id", "max_tokens"})

ROTATION = timedelta(hours=24)
"""How long the secret before a rotation is valid, too."""


class GraderService(GraderDirectory):
    """Keeps the registry of graders: the directory, and all that changes what it holds.

    Who only looks graders up uses ``GraderDirectory``, whose imports cost a cold start less.
    """

    def __init__(self, *, table: Table, secrets: DerivedSecrets) -> None:
        super().__init__(table=table, secrets=secrets)
        self._repository = GraderRepository(table)

    def register(
        self, caller: Caller, request: RegisterGraderRequest, *, grader_id: str | None = None
    ) -> tuple[Grader, str | None]:
        """Register a grader; return it and, for one with an endpoint, its shared secret.

        One with an endpoint is not yet verified; the others are.

        Args:
            grader_id: its id, where that follows from what it is made of; where there is such a
                grader by now, that one stays as it is.

        Raises:
            InvalidRequestError: a field is missing, or makes no sense for the kind.
        """
        now = SYSTEM_CLOCK.now()
        fields = {**_fields(request), **initial_status(request, now=now)}
        grader = Grader(
            id=grader_id or new_id("grd"),
            organization_id=caller.organization_id,
            principal_id=caller.principal_id,
            status_changed_at=now,
            created_at=now,
            updated_at=now,
            **fields,
        )
        self._repository.add(grader, at_most=caller.limits.graders)
        return grader, self._secret(grader) if grader.is_called else None

    def list(
        self, caller: Caller, scope: Scope, *, limit: int, next_token: str | None
    ) -> tuple[list[Grader], str | None]:
        """Return a page of the graders in the caller's scope, oldest first; a page may be short."""
        graders, token = self._repository.list(
            caller.organization_id, limit=limit, next_token=next_token
        )
        return [grader for grader in graders if manages(caller, scope, grader)], token

    def update(
        self, caller: Caller, scope: Scope, grader_id: str, request: UpdateGraderRequest
    ) -> Grader:
        """Change a grader; a new endpoint makes it unverified, a new configuration another version.

        Raises:
            NotFoundError: there is none in the caller's scope.
            InvalidRequestError: a field makes no sense for its kind.
            ConflictError: it changed at the same time.
        """
        before = self.get_managed(caller, scope, grader_id)
        check_fields(request, before.kind)
        configuration = configuration_changes(request, before.kind, stored=before.rubric)
        changes = {**_fields(request), **configuration}
        if changes.get("endpoint", before.endpoint) != before.endpoint:
            changes |= {"status": "inactive", "verified_at": None, "version": None}
            return self._set_status(before, changes, reason="endpoint_changed", health=None)
        if changes.get("version", before.version) != before.version:
            changes |= {"status": before.status}
            return self._set_status(before, changes, reason="verification_passed", health=None)
        after = before.model_copy(update={**changes, "updated_at": SYSTEM_CLOCK.now()})
        if not self._repository.replace(before, after):
            raise _changed_meanwhile(before)
        return after

    def rotate_secret(self, caller: Caller, scope: Scope, grader_id: str) -> tuple[Grader, str]:
        """Give a grader its next secret; for 24 hours the one before is valid, too.

        Raises:
            NotFoundError: there is none in the caller's scope.
            InvalidRequestError: it has no endpoint, and so no secret.
            ConflictError: it changed at the same time.
        """
        before = self.get_managed(caller, scope, grader_id)
        if not before.is_called:
            raise InvalidRequestError(f"a grader of kind {before.kind} has no secret")
        now = SYSTEM_CLOCK.now()
        changes = {
            "secret_version": before.secret_version + 1,
            "previous_secret_until": now + ROTATION,
            "updated_at": now,
        }
        after = before.model_copy(update=changes)
        if not self._repository.replace(before, after):
            raise _changed_meanwhile(before)
        return after, self._secret(after)

    def record_verification(self, before: Grader, *, version: str | None) -> Grader:
        """Mark a grader verified in ``version``, or inactive where ``version`` is None.

        Raises:
            ConflictError: it changed while it was verified.
        """
        changes: dict[str, Any] = {"status": "inactive", "verified_at": None}
        if version is None:
            return self._set_status(before, changes, reason="verification_failed", health=None)
        now = SYSTEM_CLOCK.now()
        changes = {"status": "active", "verified_at": now, "version": version}
        health = Health(grader_id=before.id, updated_at=now)
        return self._set_status(before, changes, reason="verification_passed", health=health)

    def health(self, grader: Grader) -> Health | None:
        """Return what probes of a grader found, None where it is not probed."""
        return self._repository.health(grader.id)

    def probed(self, shard: int) -> Iterator[Health]:
        """Yield the health of every probed grader in a shard, of any organisation."""
        return self._repository.health_in(shard)

    def record_probe(self, grader: Grader, before: Health, probe: Probe) -> Grader | None:
        """Store what a probe found, and the status and the version that follow from it.

        Returns:
            The grader as it is now; None where it, or its health, changed during the probe, which
            then counts for nothing.
        """
        after = before.after(probe)
        status, version = after.status(grader.status), after.version(grader.version)
        if (status, version) == (grader.status, grader.version):
            return grader if self._repository.replace_health(before, after) else None
        changes = {"status": status, "version": version}
        if version != grader.version:
            after = after.model_copy(update={"scored_as": None})
        reason = probe.reason_code or "probes_passed"
        with suppress(ConflictError):
            return self._set_status(
                grader, changes, reason=reason, health=after, health_before=before
            )
        return None

    def delete(self, caller: Caller, scope: Scope, grader_id: str) -> None:
        """Delete a grader; what still waits for it ends ``failed``.

        Raises:
            NotFoundError: there is none in the caller's scope.
        """
        if not self._repository.delete(self.get_managed(caller, scope, grader_id)):
            raise NotFoundError(f"no grader {grader_id}")

    def _set_status(
        self,
        before: Grader,
        changes: Mapping[str, Any],
        *,
        reason: StatusReason,
        health: Health | None,
        health_before: Health | None = None,
    ) -> Grader:
        """Set a grader's status or version, with an event for each that is another.

        No other place sets them.

        Raises:
            ConflictError: something of it changed at the same time.
        """
        now = SYSTEM_CLOCK.now()
        since = before.status_changed_at if changes["status"] == before.status else now
        after = before.model_copy(update={**changes, "status_changed_at": since, "updated_at": now})
        stored = self._repository.change_status(
            before,
            after,
            events=[*_status_event(before, after, reason), *_version_event(before, after)],
            health=health,
            health_before=health_before,
        )
        if not stored:
            raise _changed_meanwhile(before)
        return after


def _changed_meanwhile(grader: Grader) -> ConflictError:
    return ConflictError(f"grader {grader.id} changed at the same time; read it again")


def _fields(request: RegisterGraderRequest | UpdateGraderRequest) -> dict[str, Any]:
    """Return what a request sets, with models kept as models; a configuration is read apart."""
    given = {name: value for name, value in request if value is not None}
    return {name: value for name, value in given.items() if name not in _CONFIGURATIONS}


def _version_event(before: Grader, after: Grader) -> Iterator[Event]:
    """Yield the event of another version, of a grader that had one and has one."""
    if before.version is None or after.version is None or before.version == after.version:
        return
    change = GraderVersionChange(
        grader_id=after.id, previous_version=before.version, current_version=after.version
    )
    yield Event(
        id=derived_id("evt", "grader.version_changed", before.id, before.updated_at.isoformat()),
        type="grader.version_changed",
        organization_id=after.organization_id,
        occurred_at=after.updated_at,
        data=change.model_dump(mode="json", by_alias=True),
    )


def _status_event(before: Grader, after: Grader, reason: StatusReason) -> Iterator[Event]:
    """Yield the event of another status."""
    if before.status == after.status:
        return
    change = GraderStatusChange(
        grader_id=after.id,
        previous_status=before.status,
        current_status=after.status,
        reason=reason,
    )
    yield Event(
        # A grader is changed once from each state that it was ever in.
        id=derived_id("evt", "grader.status_changed", before.id, before.updated_at.isoformat()),
        type="grader.status_changed",
        organization_id=after.organization_id,
        occurred_at=after.updated_at,
        data=change.model_dump(mode="json", by_alias=True),
    )
