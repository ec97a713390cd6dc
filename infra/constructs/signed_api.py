"""The HTTP API: routes by domain, throttled, with an access log."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import jsii
from aws_cdk import Acknowledgment, RemovalPolicy, Validations
from aws_cdk import aws_apigateway as rest_apigateway
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.constructs.service_function import LOG_RETENTION, ServiceFunction

# Who called what and how it ended; no paths, in which ids of callbacks stand, no query strings, no
# headers, no bodies.
ACCESS_LOG_FIELDS = {
    "requestId": "$context.requestId",
    "requestTime": "$context.requestTime",
    "sourceIp": "$context.identity.sourceIp",
    "httpMethod": "$context.httpMethod",
    "routeKey": "$context.routeKey",
    "status": "$context.status",
    "responseLength": "$context.responseLength",
    "responseLatency": "$context.responseLatency",
    "integrationError": "$context.integrationErrorMessage",
}


@dataclass(frozen=True, kw_only=True)
class Throttle:
    """Requests that are admitted: at a steady rate, and at once above that."""

    requests_per_second: int
    burst_requests: int


WHY_NO_AUTHORIZER = (
    "Every route but the one that answers unknown paths verifies an HMAC signature over method, "
    "path, query, body hash, timestamp and request id in the function, callbacks that of a grader "
    "over its answer and the request that it answers, and reviews also the signed token of a "
    "reviewer's link: an HTTP API authorizer never sees the body that is signed. The pages of "
    "console and review are public and hold no data, and a sign-in at an OpenID provider is proven "
    "by the provider's code."
)


@jsii.implements(apigateway.IAccessLogSettings)
class AccessLog:
    """One line of JSON a request, into a log group."""

    def __init__(self, *, log_group: logs.ILogGroup) -> None:
        self._destination = apigateway.LogGroupLogDestination(log_group)

    @property
    def destination(self) -> apigateway.IAccessLogDestination:
        """Where lines go."""
        return self._destination

    @property
    def format(self) -> rest_apigateway.AccessLogFormat:
        """What a line holds."""
        return rest_apigateway.AccessLogFormat.custom(json.dumps(ACCESS_LOG_FIELDS))


class SignedApi(Construct):
    """HTTP API whose functions check the signature of each request themselves.

    Attributes:
        url: Base URL of the API, for functions that name an address to call back.
        access_log: Log group with a line for each request, also for those that it refuses itself.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        origin: str | None = None,
    ) -> None:
        """Makes the API without routes; it answers once it is open.

        Args:
            scope: Parent construct.
            construct_id: Identifier within the parent.
            name: Name of the API and of its access log.
            origin: Where MiniStack answers for the API; its own host name if None.
        """
        super().__init__(scope, construct_id)
        # A log group of this prefix needs no entry in the account's log resource policy, which
        # is limited to 5,120 characters.
        self.access_log = logs.LogGroup(
            self,
            "AccessLog",
            log_group_name=f"/aws/vendedlogs/apigateway/{name}",
            retention=LOG_RETENTION,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.api = apigateway.HttpApi(
            self,
            "Api",
            api_name=name,
            description="Autotune API",
            create_default_stage=False,
        )
        self.url: str = (
            self.api.api_endpoint
            if origin is None
            else f"{origin}/_aws/execute-api/{self.api.api_id}/$default"
        )
        self._keyless: list[apigateway.HttpRoute] = []

    def open(self, scope: Construct, *, throttle: Throttle, keyless: Throttle) -> None:
        """Lets the API answer, once all routes are made.

        A stage is refused that throttles a route which is not there yet.

        Args:
            scope: What knows the stacks of all routes.
            throttle: What the stage admits.
            keyless: What it admits to each route that anybody may call: what strangers send there
                takes nothing from those who sign.
        """
        stage = apigateway.HttpStage(
            scope,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(
                rate_limit=throttle.requests_per_second, burst_limit=throttle.burst_requests
            ),
            access_log_settings=AccessLog(log_group=self.access_log),
        )
        settings = {
            "ThrottlingRateLimit": keyless.requests_per_second,
            "ThrottlingBurstLimit": keyless.burst_requests,
        }
        stage.node.add_dependency(*self._keyless)
        described = cast("apigateway.CfnStage", stage.node.default_child)
        described.route_settings = {_key_of(route): settings for route in self._keyless}

    def route(
        self,
        handler: ServiceFunction,
        *,
        paths: Sequence[str],
        method: apigateway.HttpMethod = apigateway.HttpMethod.ANY,
        keyless: bool = False,
    ) -> None:
        """Sends every method of some paths to a function, or one.

        Routes stand beside their function: its stack knows the API's, which knows of no function.

        Args:
            handler: The function.
            paths: The paths.
            method: The method.
            keyless: Whether anybody may call without a key.
        """
        integration = self._integration(handler)
        for path in paths:
            key = apigateway.HttpRouteKey.with_(path, method)
            self._add_route(handler, path, key=key, integration=integration, keyless=keyless)

    def route_unknown_paths(self, handler: ServiceFunction) -> None:
        """Sends what no other route matches to a function, which answers in our error format."""
        self._add_route(
            handler,
            "UnknownPaths",
            key=apigateway.HttpRouteKey.DEFAULT,
            integration=self._integration(handler),
            keyless=True,
        )

    def _add_route(
        self,
        handler: ServiceFunction,
        construct_id: str,
        *,
        key: apigateway.HttpRouteKey,
        integration: integrations.HttpLambdaIntegration,
        keyless: bool,
    ) -> None:
        route = apigateway.HttpRoute(
            handler, construct_id, http_api=self.api, route_key=key, integration=integration
        )
        if keyless:
            self._keyless.append(route)
        Validations.of(route).acknowledge(
            Acknowledgment(id="AwsSolutions-APIG4", reason=WHY_NO_AUTHORIZER)
        )

    def _integration(self, handler: ServiceFunction) -> integrations.HttpLambdaIntegration:
        return integrations.HttpLambdaIntegration(
            "Integration",
            handler.function,
            payload_format_version=apigateway.PayloadFormatVersion.VERSION_2_0,
        )


def _key_of(route: apigateway.HttpRoute) -> str:
    return cast("apigateway.CfnRoute", route.node.default_child).route_key


def resource_paths(resource: str) -> list[str]:
    """Paths of a collection and of everything below it."""
    return [f"/api/v1/{resource}", f"/api/v1/{resource}/{{proxy+}}"]
