"""Keys, sessions of the console, and every path that no other function serves."""

from aws_cdk import aws_apigatewayv2 as apigateway
from constructs import Construct

from infra.constructs.signed_api import resource_paths
from infra.oidc import OidcConfig
from infra.stacks.domain_stack import USED_REQUEST_IDS, USES_OF_KEYS, DomainStack, Shared
from infra.stacks.http import HttpStack
from infra.tables import BY_COLLECTION_INDEX

OIDC = "/api/v1/sessions/oidc"
ORGANIZATIONS = "org_*"
SESSIONS = "ses_*"


class AccessStack(DomainStack):
    """Holds the function of keys and sessions."""

    def __init__(self, scope: Construct, *, shared: Shared, http: HttpStack) -> None:
        super().__init__(
            scope, domain="access", shared=shared, holds="keys, sessions, and unknown paths"
        )
        keys = self.create_api("AccessApi", environment=http.url_environment)
        for read in (USES_OF_KEYS, "key_*"):
            shared.data.registry.grant_read(keys.function, "BatchGetItem", keys=read)
        shared.data.registry.grant_write(keys.function, "PutItem", "UpdateItem", keys="key_*")
        shared.data.registry.grant_write(keys.function, "PutItem", "UpdateItem", keys=SESSIONS)
        shared.data.registry.grant_query_index(keys.function, index_name=BY_COLLECTION_INDEX)
        self.grant_count_entities(keys)
        http.api.route(keys, paths=[*resource_paths("keys"), *resource_paths("sessions")])
        http.api.route(
            keys,
            paths=["/api/v1/sessions/exchange"],
            method=apigateway.HttpMethod.POST,
            keyless=True,
        )
        if shared.config.oidc is None:
            http.api.route(keys, paths=[OIDC], method=apigateway.HttpMethod.GET, keyless=True)
        else:
            self._sign_people_in(shared.config.oidc, http)
        http.api.route_unknown_paths(keys)

    def _sign_people_in(self, oidc: OidcConfig, http: HttpStack) -> None:
        """Makes the function that asks the provider; others hold no library for that."""
        registry = self.shared.data.registry
        function = self.create_keyless_api(
            "OidcApi",
            module="oidc_api",
            environment={**http.url_environment, **self.grader_environment, **oidc.environment},
            checks_id_tokens=True,
            # Anybody may have it ask the provider, which may be slow.
            most_at_once=self.shared.config.slow_functions or None,
        )
        registry.grant_read(function.function, "GetItem", keys=ORGANIZATIONS)
        for keys in (SESSIONS, USED_REQUEST_IDS):
            registry.grant_write(function.function, "PutItem", keys=keys)
        self.grant_count_requests(function)
        self.shared.data.secrets_keys.grant_derive(function, "api-key")
        http.api.route(function, paths=[OIDC], keyless=True)
