"""Signing people in to the console by OpenID Connect; deployed where there is a provider."""

from functools import cache
from typing import Any

from autotune.protocol.sessions import (
    ExchangeSessionResponse,
    OidcResponse,
    OidcSignInRequest,
)
from autotune_platform.access.wire import session_on_wire
from autotune_platform.http.api import Api
from autotune_platform.runtime.environment.access import OidcEnvironment
from autotune_platform.wiring.oidc import OidcParts


@cache
def parts() -> OidcParts:
    """Return what this process is put together from."""
    return OidcParts(OidcEnvironment.parse())


app = Api(parts, keyless=True)


@app.get("/api/v1/sessions/oidc", tags=["sessions"])
def read_oidc() -> OidcResponse:
    """Return where people sign in to the console with OpenID Connect, null if nowhere."""
    return OidcResponse(oidc=parts().oidc.beginning())


@app.post("/api/v1/sessions/oidc", tags=["sessions"])
def sign_in(body: OidcSignInRequest) -> ExchangeSessionResponse:
    """Exchange an OpenID provider's authorization code for a session and its secret, once."""
    oidc = parts().oidc
    claims = oidc.claims_of(body)
    app.acts_for(oidc.organization_id, principal_id=oidc.principal_of(claims), is_outsider=False)
    session, secret = oidc.begin(claims, code=body.code, request_id=app.context["request_id"])
    app.made(session_id=session.id)
    wire = session_on_wire(session, now=parts().clock.now())
    return ExchangeSessionResponse(session=wire, secret=secret)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one HTTP request."""
    return app.handle(event, context)
