"""From the code that a provider sent a browser back with to a session of the console."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from autotune.protocol.access import Role
from autotune.protocol.sessions import OidcProvider as WireProvider
from autotune.protocol.sessions import OidcSignInRequest
from autotune_platform.access.models import Person, Session
from autotune_platform.access.oidc.claims import name_of, principal_of, role_of
from autotune_platform.access.oidc.id_tokens import IdTokens
from autotune_platform.access.oidc.provider import OidcProvider
from autotune_platform.access.sessions import SessionService
from autotune_platform.runtime.errors import ForbiddenError
from autotune_platform.runtime.parts import part


@part
class OidcSignIn:
    """Makes sessions of those whom the provider vouches for.

    Attributes:
        organization_id: the one that they sign in to.
        role_claim: the claim that says what they may do.
        roles: roles by values of that claim; empty where its values are roles.
        redirect_uri: where the provider sends browsers back to.
        scope: what the provider is asked for.
        lasts: how long a session lasts.
    """

    provider: OidcProvider
    tokens: IdTokens
    sessions: SessionService
    organization_id: str
    role_claim: str
    roles: Mapping[str, Role]
    redirect_uri: str
    scope: str
    lasts: timedelta

    def beginning(self) -> WireProvider:
        """Return where a browser begins.

        Raises:
            UnavailableError: the provider does not answer.
        """
        return WireProvider(
            issuer=self.provider.issuer,
            client_id=self.provider.client_id,
            authorization_endpoint=self.provider.endpoints().authorization,
            redirect_uri=self.redirect_uri,
            scope=self.scope,
        )

    def claims_of(self, request: OidcSignInRequest) -> Mapping[str, Any]:
        """Exchange a code; return what the provider says of the person, which was checked.

        Raises:
            UnauthenticatedError: the provider refuses the code, or its ID token is not accepted.
            UnavailableError: the provider does not answer.
        """
        token = self.provider.exchange(
            request.code, code_verifier=request.code_verifier, redirect_uri=self.redirect_uri
        )
        return self.tokens.claims_of(token, nonce=request.nonce)

    def principal_of(self, claims: Mapping[str, Any]) -> str:
        """Return who claims are about."""
        return principal_of(self.provider.issuer, claims["sub"])

    def begin(
        self, claims: Mapping[str, Any], *, code: str, request_id: str
    ) -> tuple[Session, str]:
        """Begin a session for whom claims are about; return it and its secret.

        Raises:
            ForbiddenError: they have no role here.
            UnauthenticatedError, OrganizationSuspendedError, TooManyRequestsError,
            TooManyEntitiesError: as ``SessionService.begin``.
        """
        role = role_of(claims, claim=self.role_claim, roles=self.roles)
        if role is None:
            raise ForbiddenError(
                f"you are signed in at {self.provider.issuer}, and have no role here: the claim "
                f"{self.role_claim} of your ID token names none"
            )
        person = Person(
            issuer=self.provider.issuer,
            organization_id=self.organization_id,
            principal_id=self.principal_of(claims),
            name=name_of(claims),
            role=role,
        )
        return self.sessions.begin(person, code=code, lasts=self.lasts, request_id=request_id)
