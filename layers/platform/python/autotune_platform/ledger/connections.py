"""Connections: where language models are called, and with whose key."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime

from aws_lambda_powertools import Logger

from autotune.protocol import llm_connections as wire
from autotune.protocol.ids import new_id
from autotune.protocol.llm_bedrock import BedrockSettings
from autotune_platform.access.models import Caller
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.bedrock_access import BedrockAccess, bedrock_url
from autotune_platform.ledger.connection_events import connection_paused, connection_resumed
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.connection_settings import (
    changed_settings,
    next_version,
    require_sense,
)
from autotune_platform.ledger.job_sizes import has_jobs
from autotune_platform.ledger.keys import ProviderKeys
from autotune_platform.ledger.models import Connection
from autotune_platform.ledger.usable_connections import usable
from autotune_platform.outbound.addresses import check_url
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ConflictError, InvalidRequestError
from autotune_platform.runtime.parts import part

logger = Logger()

BASE_URLS: Mapping[wire.LlmProvider, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""Where the providers' own APIs begin."""

_SHOWN_CHARACTERS = 4
_LEAST_HIDDEN_CHARACTERS = 12
_RESET_BY_NULL = ("api_version", "requests_per_second", "max_rows", "max_bytes")


@part
class ConnectionService:
    """Manages an organisation's connections."""

    repository: ConnectionRepository
    keys: ProviderKeys
    batches: BatchRepository
    admit_private: bool
    clock: Clock = SYSTEM_CLOCK

    def create(self, caller: Caller, request: wire.CreateConnectionRequest) -> Connection:
        """Store a connection, and its key encrypted.

        Raises:
            InvalidRequestError: the base URL leads nowhere that may be called.
            TooManyEntitiesError: the organisation has as many connections as it may.
        """
        base_url = self._base_url(request)
        check_url(base_url, field="baseUrl", admit_private=self.admit_private)
        now = self.clock.now()
        connection = Connection(
            id=new_id("llc"),
            organization_id=caller.organization_id,
            name=request.name,
            created_by=caller.key_id,
            provider=request.provider,
            base_url=base_url,
            created_at=now,
            updated_at=now,
            bedrock=_bedrock(caller, request.bedrock),
            **{"batches": _usual_batches(request), **changed_settings(None, request)},
        )
        require_sense(connection)
        if request.api_key is not None:
            connection = self._with_key(connection, request.api_key.get_secret_value())
        self.repository.add(connection, at_most=caller.limits.connections)
        return connection

    def update(
        self, caller: Caller, connection_id: str, request: wire.UpdateConnectionRequest
    ) -> Connection:
        """Change a connection; a new key takes up again one that is paused.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
            ConflictError: it is revoked, or others are changing it.
            InvalidRequestError: a field is null that has no default to go back to.
        """
        before = self.repository.get_of(caller.organization_id, connection_id)
        if usable(before) is None:
            raise ConflictError("the connection is revoked")
        changes = {
            **changed_settings(before, request),
            **_resets(request),
            "updated_at": self.clock.now(),
        }
        if request.name is not None:
            changes["name"] = request.name
        after = next_version(before, before.model_copy(update=changes))
        require_sense(after)
        if request.api_key is not None and before.bedrock is not None:
            raise InvalidRequestError.of_field("apiKey", "left out: bedrock has a role and no key")
        if request.api_key is not None:
            after = self._with_key(after, request.api_key.get_secret_value())
        # Whoever changes a connection has seen to what paused it.
        after = after.model_copy(update={"status": "active", "paused_because": None})
        if not self._stored(before, after):
            if after.key_version != before.key_version:
                self.keys.drop(after)
            raise ConflictError("others are changing the connection; read it again")
        if after.key_version != before.key_version:
            now = self.clock.now()
            self.keys.retire(after, is_settled=self.batches.is_settled, now=now)
        if after.settings_version != before.settings_version:
            _log_settings(after)
        return after

    def _stored(self, before: Connection, after: Connection) -> bool:
        if before.status == after.status:
            return self.repository.replace(before, after)
        resumed = connection_resumed(before, after)
        return self.repository.change_status(before, after, resumed)

    def get(self, caller: Caller, connection_id: str) -> Connection:
        """Return a connection of the caller's organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.get_of(caller.organization_id, connection_id)

    def list(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[Connection], str | None]:
        """Return a page of the organisation's connections, oldest first."""
        return self.repository.list(caller.organization_id, limit=limit, next_token=next_token)

    def revoke(
        self,
        caller: Caller,
        connection_id: str,
        *,
        before_key_goes: Callable[[Connection], None] | None = None,
    ) -> Connection:
        """Revoke a connection for good, and delete its key; queued rows of it end as ``account``.

        Args:
            before_key_goes: what is done once it is revoked, with the key for the last time.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        revoked = self.repository.revoke(caller.organization_id, connection_id)
        try:
            if before_key_goes is not None:
                before_key_goes(revoked)
        finally:
            self.keys.forget(revoked)
        return revoked

    def _base_url(self, request: wire.CreateConnectionRequest) -> str:
        """Return where the provider's API begins.

        Raises:
            InvalidRequestError: AWS is to be somewhere else than in its region.
        """
        if request.bedrock is None:
            return (request.base_url or BASE_URLS[request.provider]).rstrip("/")
        if request.base_url is None:
            return bedrock_url(request.bedrock.region)
        if not self.admit_private:
            raise InvalidRequestError.of_field(
                "baseUrl", "left out", detail="Bedrock is called in its region"
            )
        return request.base_url.rstrip("/")

    def _with_key(self, connection: Connection, key: str) -> Connection:
        shown = key[-_SHOWN_CHARACTERS:] if len(key) >= _LEAST_HIDDEN_CHARACTERS else ""
        stored = self.keys.store(connection, key)
        return stored.model_copy(update={"key_ends_with": shown or None})


def pause(
    repository: ConnectionRepository, connection: Connection, because: str, now: datetime
) -> None:
    """Keep a connection's rows from being asked until somebody changes it; once is enough."""
    if connection.status != "active":
        return
    changes = {"status": "paused", "paused_because": because, "updated_at": now}
    # Changed in the meantime: its owner may have seen to it, and the next row shows it.
    paused = connection.model_copy(update=changes)
    repository.change_status(connection, paused, connection_paused(connection, paused))


def _log_settings(connection: Connection) -> None:
    """Log what a version of a connection's settings is: batches name the version alone."""
    logger.info(
        "connection settings changed",
        connection_id=connection.id,
        settings_version=connection.settings_version,
        own_limits=connection.own_limits.model_dump(exclude_none=True),
        timings=connection.timings.model_dump(),
    )


def connection_on_wire(connection: Connection) -> wire.LlmConnection:
    """Return a connection without its key."""
    known = {**connection.model_dump(), "limits": asdict(connection.limits)}
    return wire.LlmConnection.model_validate(known)


def _resets(request: wire.UpdateConnectionRequest) -> dict[str, None]:
    """Return the fields that go back to their defaults, because they were given as null.

    Raises:
        InvalidRequestError: another field is null.
    """
    nulls = [name for name in request.model_fields_set if getattr(request, name) is None]
    for name in sorted(nulls):
        if name not in _RESET_BY_NULL:
            field = type(request).model_fields[name].alias or name
            raise InvalidRequestError.of_field(field, "a value, or left out to stay as it is")
    return dict.fromkeys(nulls)


def _usual_batches(request: wire.CreateConnectionRequest) -> wire.Batches:
    has_bucket = request.bedrock is None or request.bedrock.bucket is not None
    has_batches = has_jobs(request.provider) and has_bucket
    return "unless_urgent" if has_batches else "never"


def _bedrock(caller: Caller, settings: BedrockSettings | None) -> BedrockAccess | None:
    """Return how Bedrock is called; a role demands the organisation's id as its external id."""
    if settings is None:
        return None
    return BedrockAccess(**settings.model_dump(), external_id=caller.organization_id)
