"""An HTTP API function: signature first, then permission, then routes with typed bodies.

Every answer is in the audit log, refusals too; errors are problem+json.
"""

import gc
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import Route
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from autotune.protocol.compact_json import compact
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_REQUEST_VALUES
from autotune.protocol.problems import PROBLEM_CONTENT_TYPE, Problem
from autotune.protocol.signing import REQUEST_ID_HEADER
from autotune_platform.access.grants import Grant, Open, Rule
from autotune_platform.access.models import Caller, Scope, Signer
from autotune_platform.access.requests import SignedRequest
from autotune_platform.access.routes import ROUTES
from autotune_platform.access.service import AccessService, permitted_scope
from autotune_platform.audit.calls import CallAudit, CallInProgress
from autotune_platform.http.bodies import most_bytes
from autotune_platform.http.problems import problem_response
from autotune_platform.runtime.bounded_json import parse_strictly
from autotune_platform.runtime.errors import (
    InvalidRequestError,
    MethodNotAllowedError,
    NotFoundError,
    UnsupportedMediaTypeError,
)

logger = Logger()

# The framework's errors and frames hold each other, and with them the body. The collector goes by
# how many objects there are, not by their size: a few hundred large bodies would be kept.
_LARGE_BODY_CHARACTERS = 100_000

HandlerT = TypeVar("HandlerT", bound=Callable[..., Any])


class UndeclaredRouteError(Exception):
    """A route has no row in ``access.routes``."""


class Authenticator(Protocol):
    """What finds out who sent a request; ``AccessService`` does so by keys."""

    def claimed_key(self, request: SignedRequest) -> Signer | None:
        """Return the key or session that a request names, of any status; None if none."""

    def authenticate(self, key: Signer | None, request: SignedRequest) -> Caller:
        """Return who sent it.

        Raises:
            UnauthenticatedError: nobody who is known.
        """

    def require_active(self, caller: Caller) -> None:
        """Require that who sent a request may still do so, whatever was known before.

        Raises:
            UnauthenticatedError: not any more.
        """


class RequiredParts(Protocol):
    """What every API function is put together from; ``wiring`` has it."""

    @property
    def access(self) -> AccessService:
        """Finds out who calls, by the key that signed a request."""

    @property
    def call_audit(self) -> CallAudit:
        """Writes down what was asked and answered."""


class Api(APIGatewayHttpResolver):
    """Routes of one domain; what each needs stands in ``access.routes`` and is enforced here.

    Args:
        parts: what the process is put together from.
        authenticator: finds out who calls; by default, by the key that signed the request.
        keyless: whether nobody ever signs: tokens stand in paths, so that no error repeats one.

    Handlers ask ``caller`` who is calling and ``scope`` how far that reaches; they let errors
    escape. Those of public routes check ``signed_request`` themselves. Who may not send a request
    at all learns nothing of its fields: bodies are parsed after that. Requests are answered one at
    a time, as Lambda gives a process: the framework has one event for all of its resolvers.
    """

    def __init__(
        self,
        parts: Callable[[], RequiredParts],
        *,
        authenticator: Callable[[], Authenticator] | None = None,
        keyless: bool = False,
        rules: Mapping[tuple[str, str], Rule] = ROUTES,
    ) -> None:
        super().__init__(
            enable_validation=True, json_body_deserializer=self._parsed_body, serializer=_to_json
        )
        self._rules = rules
        self._unrouted = Open.PUBLIC if keyless else Open.ANY_KEY
        self._parts = parts
        self._authenticator = authenticator or (lambda: parts().access)
        self._call = CallInProgress(request_id="")
        self.exception_handler(Exception)(self._problem)

    @property
    def caller(self) -> Caller:
        """Who sent the request that is being answered; nobody is known on a public route."""
        return cast("Caller", self.context["caller"])

    @property
    def scope(self) -> Scope:
        """How far the caller's permission reaches on this route, where it needs one."""
        return cast("Scope", self.context["scope"])

    @property
    def signed_request(self) -> SignedRequest:
        """The request that is being answered, with its body as it came."""
        return cast("SignedRequest", self.context["request"])

    @property
    def routes(self) -> list[Route]:
        """Every route, in the order in which they are tried."""
        return [*self._static_routes, *self._dynamic_routes]

    def route(
        self, rule: str, method: str | list[str] | tuple[str], *options: Any, **named: Any
    ) -> Callable[[HandlerT], HandlerT]:
        """Serve a method of a path, which has to have its row.

        Raises:
            UndeclaredRouteError: it has none.
        """
        for one in [method] if isinstance(method, str) else method:
            if (one, rule) not in self._rules:
                raise UndeclaredRouteError(f"{one} {rule} has no row in access.routes")
        return super().route(rule, method, *options, **named)

    def acts_for(self, organization_id: str, *, principal_id: str, is_outsider: bool) -> None:
        """Note for the audit log on whose behalf a public route is called, once that is proven.

        Args:
            is_outsider: whether the organisation is not to learn where the caller is.
        """
        self._call.acts_for(organization_id, principal_id=principal_id)
        if is_outsider:
            self._call.source_address = ""

    def made(self, **ids: str) -> None:
        """Note for the audit log what a call made or changed, such as ``key_id="key_…"``.

        What a path names by a word or a number is ``invalid`` there until this says what it is.
        """
        self._call.ids |= ids

    def require_known_parameters(self) -> None:
        """Require that the route has every query parameter: a misspelt filter filters nothing.

        Raises:
            InvalidRequestError: one is not, and it is named.
        """
        known = {one.alias for one in self.context["_route"].dependant.query_params}
        for name in sorted(self.current_event.query_string_parameters or {}):
            if name not in known:
                expected = f"one of {', '.join(sorted(known))}" if known else "left out"
                raise InvalidRequestError.of_field(name, expected)

    def handle(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        """Authenticate a request, answer it, and write it into the audit log."""
        request_id = _request_id(event)
        logger.append_keys(request_id=request_id)
        self._call = call = CallInProgress(request_id=request_id)
        try:
            answer = self._answer(event, context, call)
        except Exception as error:  # noqa: BLE001 - the boundary: any error must become a response
            answer = _serialized(problem_response(error, request_id=request_id))
        answer["headers"][REQUEST_ID_HEADER] = request_id
        self._parts().call_audit.write(
            call, status=answer["statusCode"], code=_problem_code(answer)
        )
        if len(event.get("body") or "") > _LARGE_BODY_CHARACTERS:
            gc.collect()
        return answer

    def _answer(self, event: dict[str, Any], context: Any, call: CallInProgress) -> dict[str, Any]:
        request = SignedRequest.from_event(event)
        call.received(method=request.method, source_address=request.source_address)
        path = APIGatewayProxyEventV2(event).path
        route, ids = self._find(request.method, path)
        rule = self._rules[route.method, route.path] if route else self._unrouted
        if route is not None:
            # What is in a public path proves something, so that it is kept nowhere.
            kept = {} if rule is Open.PUBLIC else ids
            call.routed(action=route.func.__name__, route=route.openapi_path, ids=kept)
        known: dict[str, Any] = {"request": request, "request_id": call.request_id}
        if rule is Open.PUBLIC:
            request.require_within_limit(most_bytes(route.dependant.body_params if route else []))
        else:
            known["caller"] = caller = self._authenticate(request, call)
            if isinstance(rule, Grant):
                known["scope"] = _permit(caller, rule, request)
                if rule.mints:
                    self._authenticator().require_active(caller)
        if route is None:
            return self._no_route(path, request_id=call.request_id)
        request.require_text()
        if route.dependant.body_params:
            _require_json(request)
        self.append_context(**known)  # type: ignore[no-untyped-call]
        answer: dict[str, Any] = self.resolve(event, context)
        if answer["statusCode"] == 204:
            # RFC 9110, 15.3.5: no content, where the serializer would send "null".
            answer["body"] = ""
        return answer

    def _find(self, method: str, path: str) -> tuple[Route | None, dict[str, str]]:
        """Return the route that will be resolved, and what its path names."""
        for route in self.routes:
            matched = route.rule.match(path) if route.method == method.upper() else None
            if matched:
                return route, matched.groupdict()
        return None, {}

    def _authenticate(self, request: SignedRequest, call: CallInProgress) -> Caller:
        authenticator = self._authenticator()
        key = authenticator.claimed_key(request)
        call.claimed(key)
        request.require_within_limit()
        caller = authenticator.authenticate(key, request)
        call.authenticated_as(caller)
        return self._parts().access.admit(caller)

    def _parsed_body(self, text: str) -> Any:
        """Parse a body that has no more values than the model of its route can mean."""
        (body,) = self.context["_route"].dependant.body_params
        most_values = getattr(body.type_, "most_values", MAX_REQUEST_VALUES)
        return parse_strictly(text.encode(), most_values=most_values)

    def _problem(self, error: Exception) -> Response[str]:
        return problem_response(error, request_id=self.context["request_id"])

    def _no_route(self, path: str, *, request_id: str) -> dict[str, Any]:
        methods = {route.method for route in self.routes if route.rule.match(path)}
        named = "this path" if self._unrouted is Open.PUBLIC else path
        if not methods:
            raise NotFoundError(f"no route {named}")
        supported = ", ".join(sorted(methods))
        error = MethodNotAllowedError(f"{named} supports {supported}")
        answer = _serialized(problem_response(error, request_id=request_id))
        answer["headers"]["Allow"] = supported
        return answer


def _require_json(request: SignedRequest) -> None:
    """Require a body to be JSON, since the framework parses forms without any bound."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type not in {"", "application/json"}:
        raise UnsupportedMediaTypeError("the body must be application/json")


def _permit(caller: Caller, rule: Grant, request: SignedRequest) -> Scope:
    scope = permitted_scope(caller, rule.resource, rule.action)
    for parameter, more in rule.with_parameter.items():
        if request.values_of(parameter):  # whatever they are
            permitted_scope(caller, more.resource, more.action)
    return scope


def _problem_code(answer: Mapping[str, Any]) -> str | None:
    if answer["headers"].get("Content-Type") != PROBLEM_CONTENT_TYPE:
        return None
    return Problem.model_validate_json(answer["body"]).code


def _request_id(event: Mapping[str, Any]) -> str:
    """Return the caller's request id, or a new one: every answer names one."""
    headers = {name.lower(): value for name, value in event.get("headers", {}).items()}
    given: str = headers.get(REQUEST_ID_HEADER, "")
    if given.isascii() and given.replace("_", "").replace("-", "").isalnum() and len(given) <= 128:
        return given
    return new_id("req")


def _serialized(response: Response[str]) -> dict[str, Any]:
    return {
        "statusCode": response.status_code,
        "headers": {name: str(value) for name, value in response.headers.items()},
        "body": response.body,
        "isBase64Encoded": False,
    }


def _to_json(body: Any) -> str:
    # Not escaped to ASCII: text would grow up to threefold, past what Lambda may return.
    return compact(body)
