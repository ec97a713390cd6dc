"""Parts that sign people in by OpenID Connect."""

from datetime import timedelta
from functools import cached_property

from autotune_platform.access.oidc.id_tokens import IdTokens
from autotune_platform.access.oidc.provider import OidcProvider
from autotune_platform.access.oidc.sign_in import OidcSignIn
from autotune_platform.runtime.environment.access import OidcEnvironment
from autotune_platform.wiring.access import AccessApiParts
from autotune_platform.wiring.outbound import OutboundParts


class OidcParts(AccessApiParts, OutboundParts):
    """What exchanges codes of the provider for sessions."""

    environment: OidcEnvironment

    @cached_property
    def oidc(self) -> OidcSignIn:
        told = self.environment
        provider = OidcProvider(
            issuer=told.oidc_issuer,
            client_id=told.oidc_client_id,
            connections=self.connections,
            admit_private=told.admit_private_addresses,
        )
        return OidcSignIn(
            provider=provider,
            tokens=IdTokens(provider=provider),
            sessions=self.sessions,
            organization_id=told.oidc_organization,
            role_claim=told.oidc_role_claim,
            roles=told.oidc_roles,
            redirect_uri=f"{told.api_url}/console",
            scope=told.oidc_scope,
            lasts=timedelta(minutes=told.oidc_session_minutes),
        )
