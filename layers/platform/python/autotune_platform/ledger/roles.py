"""Roles that connections to Bedrock have in place of keys: assumed, and used to sign requests.

A role is its owner's. It demands an external id that is the organisation's own, so that nobody has
the platform use another organisation's role; a role that does not is never used. What a session of
it may do is narrowed to what the ledger does: one bucket, one role that is passed on.
"""

import threading
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from cachetools import LRUCache

from autotune_platform.ledger.bedrock_access import BedrockAccess
from autotune_platform.ledger.calls import Refusal
from autotune_platform.ledger.models import Connection
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.foreign_roles import (
    AssumesRoles,
    RoleCredentials,
    RoleRefusedError,
    RoleUnavailableError,
    assume_role,
    signed_headers,
)

_CACHED: Final = 1_024
# A request that is signed with the last of a session may be looked at a little later.
_SPARE: Final = timedelta(minutes=5)


class RoleSessions:
    """Signs requests of connections with sessions of their roles, which it keeps in memory."""

    def __init__(self, *, sts: AssumesRoles, clock: Clock = SYSTEM_CLOCK) -> None:
        self._sts = sts
        self._clock = clock
        self._cache: LRUCache[tuple[str, datetime], RoleCredentials] = LRUCache(_CACHED)
        self._lock = threading.Lock()

    def signed(
        self,
        connection: Connection,
        service: Literal["bedrock", "s3"],
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
    ) -> dict[str, str] | Refusal:
        """Return the headers of a request together with its signature.

        A refusal is ``account`` where the role cannot be assumed until somebody changes it.

        Args:
            body: None for one that comes in parts.
        """
        access = connection.bedrock
        assert access is not None, "only a connection to Bedrock has a role"
        try:
            credentials = self._credentials(connection, access)
        except RoleRefusedError as error:
            return Refusal("account", str(error))
        except RoleUnavailableError as error:
            return Refusal("provider_error", str(error))
        return signed_headers(
            credentials,
            service=service,
            region=access.region,
            method=method,
            url=url,
            headers=headers,
            body=body,
        )

    def _credentials(self, connection: Connection, access: BedrockAccess) -> RoleCredentials:
        # Its owner may have revoked the sessions of a role before they changed the connection.
        name = (connection.id, connection.updated_at)
        with self._lock:
            found = self._cache.get(name)
        if found is None or found.expires_at - _SPARE <= self._clock.now():
            found = assume_role(
                self._sts,
                role_arn=access.role_arn,
                external_id=access.external_id,
                session_name=f"autotune-{connection.id}"[:64],
                may=list(_statements(access)),
            )
            with self._lock:
                self._cache[name] = found
        return found


def _statements(access: BedrockAccess) -> Iterator[Mapping[str, Any]]:
    """Yield what a session may do at most, whatever else its role may."""
    yield _allow("*", "bedrock:InvokeModel")
    if access.bucket is None:
        return
    bucket = f"arn:{access.partition}:s3:::{access.bucket}"
    yield _allow("*", *(f"bedrock:{verb}ModelInvocationJob" for verb in ("Create", "Get", "Stop")))
    yield _allow("*", "bedrock:ListModelInvocationJobs")
    yield _allow(access.batch_role_arn, "iam:PassRole")
    yield _allow(f"{bucket}/{access.prefix}*", "s3:DeleteObject", "s3:GetObject", "s3:PutObject")
    yield {
        **_allow(bucket, "s3:ListBucket"),
        "Condition": {"StringLike": {"s3:prefix": f"{access.prefix}*"}},
    }
    # Of a bucket that is encrypted by a key of its owner's.
    yield {
        **_allow("*", "kms:Decrypt", "kms:GenerateDataKey"),
        "Condition": {"StringEquals": {"kms:ViaService": f"s3.{access.region}.amazonaws.com"}},
    }


def _allow(resource: str | None, *actions: str) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": resource}
