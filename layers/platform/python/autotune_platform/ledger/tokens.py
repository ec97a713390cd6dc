"""Tokens that let a program ask through one connection in OpenAI's own words.

A token is an id and 256 random bits; of these a digest and the last four characters are stored.
"""

from autotune.protocol import llm_tokens as wire
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_LLM_TOKENS
from autotune_platform.access.capabilities import NewSecret, is_genuine, require_future, split
from autotune_platform.access.models import Caller
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.token_repository import Token as Token  # noqa: PLC0414
from autotune_platform.ledger.token_repository import TokenRepository
from autotune_platform.ledger.usable_connections import require_usable
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ForbiddenError, UnauthenticatedError
from autotune_platform.runtime.parts import part

_UNKNOWN = "no such token, or it was revoked or has expired"


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
        require_future(request.expires_at, now)
        require_usable(
            self.connections, caller.organization_id, request.connection_id, field="connectionId"
        )
        secret = NewSecret()
        token = Token(
            id=new_id("llt"),
            organization_id=caller.organization_id,
            **secret.stored,
            created_at=now,
            created_by=caller.key_id,
            **request.model_dump(),
        )
        self.repository.add(token, at_most=MAX_LLM_TOKENS)
        return token, secret.text(token.id)

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
        known = split("llt", sent.strip())
        if scheme.lower() != "bearer" or known is None:
            raise UnauthenticatedError(_UNKNOWN)
        token_id, digits = known
        # The item is read each time, strongly consistent: what is revoked lets nobody in any more.
        token = self.repository.get(token_id)
        if not is_genuine(token, digits) or token is None:
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
