"""Keys and sessions; also answers every path that no other function serves."""

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from autotune.protocol.access import (
    CreateKeyRequest,
    CreateKeyResponse,
    KeyList,
    KeyResponse,
    UpdateKeyRequest,
)
from autotune.protocol.access import Key as WireKey
from autotune.protocol.sessions import (
    CreateSessionRequest,
    CreateSessionResponse,
    ExchangeSessionRequest,
    ExchangeSessionResponse,
    OidcResponse,
    SessionList,
    SessionResponse,
)
from autotune.protocol.sessions import Session as WireSession
from autotune_platform.access.models import Key, Session
from autotune_platform.access.wire import session_on_wire
from autotune_platform.http.api import Api
from autotune_platform.http.parameters import NextToken, PageSize
from autotune_platform.runtime.environment.access import AccessEnvironment
from autotune_platform.wiring.access import AccessApiParts


@cache
def parts() -> AccessApiParts:
    """Return what this process is put together from."""
    return AccessApiParts(AccessEnvironment.parse())


app = Api(parts)


@app.post("/api/v1/keys", status_code=201, tags=["keys"])
def create_key(body: CreateKeyRequest) -> CreateKeyResponse:
    """Create a key in the caller's organisation; its credential is shown this once."""
    key, api_key = parts().access.create_key(app.caller, body)
    app.made(key_id=key.id)
    return CreateKeyResponse(key=_on_wire(key, {}), api_key=api_key)


@app.get("/api/v1/keys", tags=["keys"])
def list_keys(
    limit: PageSize = 50,
    next_token: NextToken = None,
) -> KeyList:
    """List the organisation's keys, oldest first."""
    keys, token = parts().access.list_keys(app.caller, limit=limit, next_token=next_token)
    uses = parts().access.last_uses(keys)
    return KeyList(keys=[_on_wire(key, uses) for key in keys], next_token=token)


@app.get("/api/v1/keys/me", tags=["keys"])
def read_own_key() -> KeyResponse:
    """Return the key that signed this request; every role may."""
    return KeyResponse(key=_on_wire(parts().access.get_key(app.caller, app.caller.key_id)))


@app.patch("/api/v1/keys/<key_id>", tags=["keys"])
def update_key(key_id: str, body: UpdateKeyRequest) -> KeyResponse:
    """Give a key another name."""
    return KeyResponse(key=_on_wire(parts().access.rename_key(app.caller, key_id, body.name)))


@app.delete("/api/v1/keys/<key_id>", tags=["keys"])
def revoke_key(key_id: str) -> KeyResponse:
    """Revoke a key for good."""
    return KeyResponse(key=_on_wire(parts().access.revoke_key(app.caller, key_id)))


@app.post("/api/v1/sessions", status_code=201, tags=["sessions"])
def create_session(body: CreateSessionRequest) -> CreateSessionResponse:
    """Make a session of the console with the caller's role; its URL opens it once, in 5 minutes.

    A session makes no sessions.
    """
    session, url = parts().sessions.create(app.caller, body)
    app.made(session_id=session.id)
    return CreateSessionResponse(session=_session_on_wire(session, {}), url=url)


@app.post("/api/v1/sessions/exchange", tags=["sessions"])
def exchange_session(body: ExchangeSessionRequest) -> ExchangeSessionResponse:
    """Exchange the code of a session for its secret; a code that comes twice ends the session."""
    proven = parts().sessions.prove(body.code)
    app.acts_for(proven.organization_id, principal_id=proven.principal_id, is_outsider=False)
    app.made(session_id=proven.id)
    begun, secret = parts().sessions.exchange(proven, request_id=app.context["request_id"])
    return ExchangeSessionResponse(session=_session_on_wire(begun, {}), secret=secret)


@app.get("/api/v1/sessions/oidc", tags=["sessions"])
def read_oidc() -> OidcResponse:
    """Return that nobody signs in here with OpenID Connect.

    Where somebody does, ``oidc_api`` answers.
    """
    return OidcResponse()


@app.get("/api/v1/sessions", tags=["sessions"])
def list_sessions(limit: PageSize = 50, next_token: NextToken = None) -> SessionList:
    """List sessions, oldest first: to admins the organisation's, to others their principal's.

    A page may be short, even empty, while its token leads to more.
    """
    sessions, token = parts().sessions.list(
        app.caller, app.scope, limit=limit, next_token=next_token
    )
    uses = parts().sessions.last_uses(sessions)
    standing = parts().sessions.standing(sessions)
    return SessionList(
        sessions=[_session_on_wire(session, uses) for session in standing], next_token=token
    )


@app.get("/api/v1/sessions/me", tags=["sessions"])
def read_own_session() -> SessionResponse:
    """Return the session that signed this request."""
    return SessionResponse(session=_session_on_wire(parts().sessions.own(app.caller)))


@app.delete("/api/v1/sessions/me", tags=["sessions"])
def revoke_own_session() -> SessionResponse:
    """End the session that signed this request."""
    return SessionResponse(session=_session_on_wire(parts().sessions.revoke_own(app.caller)))


@app.delete("/api/v1/sessions/<session_id>", tags=["sessions"])
def revoke_session(session_id: str) -> SessionResponse:
    """End a session for good."""
    ended = parts().sessions.revoke(app.caller, app.scope, session_id)
    return SessionResponse(session=_session_on_wire(ended))


def _session_on_wire(session: Session, uses: Mapping[str, datetime] | None = None) -> WireSession:
    uses = parts().sessions.last_uses([session]) if uses is None else uses
    return session_on_wire(session, now=parts().clock.now(), last_used_at=uses.get(session.id))


def _on_wire(key: Key, uses: Mapping[str, datetime] | None = None) -> WireKey:
    uses = parts().access.last_uses([key]) if uses is None else uses
    return WireKey(
        **key.model_dump(exclude={"status", "secret_version"}),
        status=key.status_at(parts().clock.now()),
        last_used_at=uses.get(key.id),
    )


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
