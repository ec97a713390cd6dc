"""Finding out whose token it is that a program sends, and whether it lets it do something."""

from autotune.protocol import llm_tokens as wire
from autotune_platform.access.capabilities import is_genuine, split
from autotune_platform.ledger.token_repository import Token as Token  # noqa: PLC0414
from autotune_platform.ledger.token_repository import TokenRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.errors import ForbiddenError, UnauthenticatedError
from autotune_platform.runtime.parts import part

UNKNOWN = "no such token, or it was revoked or has expired"


@part
class TokenProofs:
    """Reads tokens of all organisations."""

    repository: TokenRepository
    clock: Clock = SYSTEM_CLOCK

    def prove(self, authorization: str) -> Token:
        """Return the token that a header carries, also one that was revoked or has expired.

        Raises:
            UnauthenticatedError: it carries none that is genuine.
        """
        scheme, _, sent = authorization.partition(" ")
        known = split("llt", sent.strip())
        if scheme.lower() != "bearer" or known is None:
            raise UnauthenticatedError(UNKNOWN)
        token_id, digits = known
        # The item is read each time, strongly consistent: what is revoked lets nobody in any more.
        token = self.repository.get(token_id)
        if not is_genuine(token, digits) or token is None:
            raise UnauthenticatedError(UNKNOWN)
        return token

    def require(self, token: Token, scope: wire.LlmTokenScope) -> None:
        """Require that a token is active and may do this; its task may be gone all the same.

        Raises:
            UnauthenticatedError: it was revoked or has expired, as if there were none.
            ForbiddenError: it lacks the scope.
        """
        if token.state_at(self.clock.now()) != "active":
            raise UnauthenticatedError(UNKNOWN)
        if scope not in token.scopes:
            raise ForbiddenError(f"this token lacks the scope {scope}")
