"""Tokens that let a program ask through one connection in OpenAI's own words.

A token is an id and 256 random bits; of these a digest and the last four characters are stored.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from autotune.protocol import llm_tokens as wire
from autotune.protocol.ids import ID_BODY, new_id
from autotune.protocol.limits import MAX_LLM_TOKENS
from autotune_platform.access.models import Caller
from autotune_platform.ledger.connections import ConnectionRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    UnauthenticatedError,
)
from autotune_platform.runtime.parts import part
from autotune_platform.storage.registry import Entity, EntityRepository

_UNKNOWN = "no such token, or it was revoked or has expired"
_SHAPE = re.compile(rf"(llt_{ID_BODY})-([0-9a-f]{{64}})")
_NOTHING = "0" * 64


class Token(Entity):
    """What lets in; ``digest`` is the SHA-256 of its secret."""

    name: str
    connection_id: str
    purpose: str
    scopes: Sequence[wire.LlmTokenScope]
    digest: str
    ends_with: str
    status: Literal["active", "revoked"] = "active"
    created_at: datetime
    created_by: str | None = None
    expires_at: datetime | None = None

    def state_at(self, moment: datetime) -> wire.LlmTokenState:
        """Return the state at a moment; a revoked token stays revoked when it expires."""
        if self.status == "revoked":
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= moment else "active"


class TokenRepository(EntityRepository[Token]):
    """Tokens in the ``registry`` table."""

    model = Token
    kind = "llt"
    listed_as = "llmToken"
    named = "token"
    is_counted = True


@part
class TokenService:
    """Manages an organisation's tokens, and finds out whose one is."""

    repository: TokenRepository
    connections: ConnectionRepository
    clock: Clock = SYSTEM_CLOCK

    def create(self, caller: Caller, request: wire.CreateLlmTokenRequest) -> tuple[Token, str]:
        """Create a token; return it and what it is sent as, which cannot be read again.

        Raises:
            InvalidRequestError: the connection is not the organisation's or is revoked, or the
                expiry has passed.
            TooManyEntitiesError: the organisation has as many tokens as it may.
        """
        now = self.clock.now()
        if request.expires_at is not None and request.expires_at <= now:
            raise InvalidRequestError.of_field("expiresAt", "a moment in the future")
        try:
            connection = self.connections.get_of(caller.organization_id, request.connection_id)
        except NotFoundError as error:
            raise InvalidRequestError.of_field(
                "connectionId",
                "a connection of this organisation",
                detail="no such connection in this organisation",
            ) from error
        if connection.status == "revoked":
            raise InvalidRequestError.of_field("connectionId", "a connection that is not revoked")
        secret = secrets.token_hex(32)
        token = Token(
            id=new_id("llt"),
            organization_id=caller.organization_id,
            digest=_digest(secret),
            ends_with=secret[-4:],
            created_at=now,
            created_by=caller.key_id,
            **request.model_dump(),
        )
        self.repository.add(token, at_most=MAX_LLM_TOKENS)
        return token, f"{token.id}-{secret}"

    def get(self, caller: Caller, token_id: str) -> Token:
        """Return a token of the caller's organisation.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.get_of(caller.organization_id, token_id)

    def list(
        self, caller: Caller, *, limit: int, next_token: str | None
    ) -> tuple[list[Token], str | None]:
        """Return a page of the organisation's tokens, oldest first."""
        return self.repository.list(caller.organization_id, limit=limit, next_token=next_token)

    def revoke(self, caller: Caller, token_id: str) -> Token:
        """Revoke a token, at once and for good; revoking it again changes nothing.

        Raises:
            NotFoundError: there is none, or it is another organisation's.
        """
        return self.repository.revoke(caller.organization_id, token_id)

    def on_wire(self, token: Token) -> wire.LlmToken:
        """Return a token without its secret, with its state now."""
        state = token.state_at(self.clock.now())
        return wire.LlmToken.model_validate({**token.model_dump(), "state": state})

    def prove(self, authorization: str) -> Token:
        """Return the token that a header carries, also one that was revoked or has expired.

        Raises:
            UnauthenticatedError: it carries none that is genuine.
        """
        scheme, _, sent = authorization.partition(" ")
        shaped = _SHAPE.fullmatch(sent.strip())
        if scheme.lower() != "bearer" or shaped is None:
            raise UnauthenticatedError(_UNKNOWN)
        # The item is read each time, strongly consistent: what is revoked lets nobody in any more.
        token = self.repository.get(shaped[1])
        is_genuine = hmac.compare_digest(_digest(shaped[2]), token.digest if token else _NOTHING)
        if token is None or not is_genuine:
            raise UnauthenticatedError(_UNKNOWN)
        return token

    def require(self, token: Token, scope: wire.LlmTokenScope) -> None:
        """Require that a token is active and may do this.

        Raises:
            UnauthenticatedError: it was revoked or has expired, as if there were none.
            ForbiddenError: it lacks the scope.
        """
        if token.state_at(self.clock.now()) != "active":
            raise UnauthenticatedError(_UNKNOWN)
        if scope not in token.scopes:
            raise ForbiddenError(f"this token lacks the scope {scope}")


def bearer_of(token: Token) -> Caller:
    """Return the caller that the bearer of a token acts as."""
    return Caller(
        key_id=token.id,
        organization_id=token.organization_id,
        principal_id=token.id,
        role="training_operator",
        request_id=new_id("req"),
        by_link=True,
    )


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
