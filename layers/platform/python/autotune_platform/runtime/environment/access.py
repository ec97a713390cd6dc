"""Environments of the functions of keys, sessions and signing in."""

from pydantic import Json

from autotune.protocol.access import Role
from autotune_platform.runtime.environment.base import Environment
from autotune_platform.runtime.environment.gateway import GatewayEnvironment


class AccessEnvironment(Environment):
    """For the function of keys and sessions; the console is below ``api_url``."""

    api_url: str


class OidcEnvironment(AccessEnvironment, GatewayEnvironment):
    """For the function that signs people in to the console by OpenID Connect.

    Attributes:
        oidc_organization: the organisation that they sign in to.
        oidc_role_claim: the claim that says what they may do, with dots where it lies deeper.
        oidc_roles: roles by the values of that claim; empty where these are our roles themselves.
    """

    oidc_issuer: str
    oidc_client_id: str
    oidc_organization: str
    oidc_role_claim: str
    oidc_roles: Json[dict[str, Role]]
    oidc_scope: str
    oidc_session_minutes: int
