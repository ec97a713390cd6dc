"""Sessions of the console on the wire: a key lends its role to a browser, for some hours."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from autotune.protocol import limits
from autotune.protocol.access import Role
from autotune.protocol.types import Name, RequestModel, ResponseModel, Timestamp

SessionStatus = Literal["pending", "active", "revoked", "expired"]

SessionCode = Annotated[str, StringConstraints(min_length=1, max_length=limits.MAX_SESSION_CODE)]


class CreateSessionRequest(RequestModel):
    """A session for a browser; without a name it has that of the key that makes it."""

    name: Name | None = None
    expires_in_minutes: Annotated[
        int, Field(ge=limits.MIN_SESSION_MINUTES, le=limits.MAX_SESSION_MINUTES)
    ] = limits.DEFAULT_SESSION_MINUTES


class ExchangeSessionRequest(RequestModel):
    """The code of a session, which works once and for five minutes."""

    most_bytes: ClassVar[int] = limits.MAX_EXCHANGE_BYTES

    code: SessionCode


class OidcSignInRequest(RequestModel):
    """What an OpenID provider sent a browser back with, and what the browser began with.

    Attributes:
        code: the authorization code.
        code_verifier: whose SHA-256 the provider was given as the code challenge (RFC 7636).
        nonce: the one that the provider was given; the ID token has to repeat it.
    """

    code: Annotated[
        str, StringConstraints(pattern=rf"^[!-~]{{1,{limits.MAX_AUTHORIZATION_CODE}}}$")
    ]
    code_verifier: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._~-]{43,128}$")]
    nonce: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{22,128}$")]


class OidcProvider(ResponseModel):
    """Where people sign in to the console with OpenID Connect, and as which client.

    Attributes:
        authorization_endpoint: where a browser goes, with a code challenge, a state and a nonce.
        redirect_uri: where the provider sends it back to.
        scope: what is asked for, ``openid`` among it.
    """

    issuer: str
    client_id: str
    authorization_endpoint: str
    redirect_uri: str
    scope: str


class OidcResponse(ResponseModel):
    """``oidc`` is null where this installation has no provider."""

    oidc: OidcProvider | None = None


class Session(ResponseModel):
    """What signs requests in place of a key, with that key's role and principal.

    Attributes:
        key_id: the key that made it; it ends with that key at the latest. None where a person
            signed in by OpenID Connect.
        issuer: the provider where that was.
        status: ``pending`` until its code is exchanged, which is ``expired`` after five minutes.
        expires_at: when it ends by its time.
        exchanged_at: when a browser got its secret.
        last_used_at: when it last signed a request that was accepted, to within an hour.
    """

    id: str
    organization_id: str
    name: str
    role: Role
    principal_id: str
    key_id: str | None = None
    issuer: str | None = None
    status: SessionStatus
    created_at: Timestamp
    expires_at: Timestamp
    exchanged_at: Timestamp | None = None
    last_used_at: Timestamp | None = None


class CreateSessionResponse(ResponseModel):
    """``url`` opens the console, once and within five minutes."""

    session: Session
    url: str


class ExchangeSessionResponse(ResponseModel):
    """``secret`` is shown this once: it signs requests under the id of the session."""

    session: Session
    secret: str


class SessionResponse(ResponseModel):
    """One session."""

    session: Session


class SessionList(ResponseModel):
    """A page of sessions; it may be short, even empty, while its token leads to more."""

    sessions: list[Session]
    next_token: str | None = None
