"""From a request to an answer: which provider is meant, whose key it is, which traps lie there."""

import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.providers import (
    batches_anthropic,
    batches_bedrock,
    batches_gemini,
    batches_openai,
    batches_openrouter,
    buckets,
    control,
    limits,
    roles,
    synchronous,
)
from tests.providers.dialects import DIALECTS
from tests.providers.downloads import spoil
from tests.providers.routes import Route
from tests.providers.state import World
from tests.providers.strict import RefusedError
from tests.providers.wire import Answer, ProviderError, Request

_AWS_CREDENTIAL = re.compile(r"Credential=([^/,]+)/")

# What is no provider's: how tests steer the fake, and what else of AWS Bedrock needs.
_OWN = {"/_fake/": control.answer, "/_s3/": buckets.answer, "/_sts": roles.answer}


@dataclass(frozen=True)
class _Compiled:
    route: Route
    pattern: re.Pattern[str]


class App:
    """Every provider at once, told apart by paths."""

    def __init__(self, world: World) -> None:
        self._world = world
        routes = [
            *batches_anthropic.ROUTES,
            *batches_openrouter.ROUTES,
            *batches_gemini.ROUTES,
            *batches_bedrock.ROUTES,
            *batches_openai.ROUTES,
            *synchronous.ROUTES,
        ]
        self._routes = [_Compiled(route, re.compile(route.pattern)) for route in routes]

    def answer(self, request: Request) -> Answer:
        """Answers one request; errors are in the provider's own shape.

        What goes wrong in the fake itself is told by ``GET /_fake/health``, so that nobody takes it
        for a trap.
        """
        try:
            return self._answer(request)
        except Exception:  # noqa: BLE001 - a fault of the fake must not look like a provider's
            text = traceback.format_exc()
            with self._world.lock:
                self._world.bugs.append(f"{request.method} {request.target}: {text}")
            return Answer.json({"error": {"message": f"The fake has a fault: {text}"}}, 599)

    def _answer(self, request: Request) -> Answer:
        for prefix, answered in _OWN.items():
            if request.path.startswith(prefix):
                with self._world.lock:
                    return answered(self._world, request)
        found = self._find(request)
        if found is None:
            return Answer.json({"error": {"message": f"Unknown path {request.path}"}}, 404)
        route, values = found
        request.provider, request.path_values = route.provider, values
        try:
            with self._world.lock:
                return self._handle(route, request)
        except ProviderError as error:
            return self._refuse(request, error)
        except RefusedError as error:
            return self._refuse(
                request, ProviderError(400, "invalid", str(error), param=error.param)
            )

    def _find(self, request: Request) -> tuple[Route, dict[str, str]] | None:
        for compiled in self._routes:
            if compiled.route.method != request.method:
                continue
            # Google's SDK and OpenAI's both say /v1: the key's header tells them apart.
            if compiled.route.provider == "gemini" and not _is_googles(request):
                continue
            if match := compiled.pattern.fullmatch(request.path):
                return compiled.route, match.groupdict()
        return None

    def _refuse(self, request: Request, error: ProviderError) -> Answer:
        with self._world.lock:
            self._world.refusals.append(
                {
                    "provider": request.provider,
                    "path": request.path,
                    "status": error.status,
                    "message": error.message,
                }
            )
        return DIALECTS[request.provider].error(error)

    def _handle(self, route: Route, request: Request) -> Answer:
        world = self._world
        world.requests[f"{route.provider}.{route.operation}"] += 1
        _authenticate(world, request)
        delay = self._before(route, request)
        if isinstance(delay, Answer):
            return delay
        answer = route.handler(world, request)
        answer.delay_seconds += delay
        if route.operation == "download" or answer.carries_results:
            answer = spoil(world, request, answer)
        if answer.status < 400 and (params := self._lost(route, answer)) is not None:
            return Answer(drop=True, delay_seconds=float(params.get("stall_seconds", 0)))
        return answer

    def _lost(self, route: Route, answer: Answer) -> dict[str, Any] | None:
        traps, name = self._world.traps, f"{route.operation}_answer_lost"
        params = traps.take(name, route.provider, quietly=True)
        if params is not None:
            tokens = [answer.token] if answer.token else []
            traps.note(name, route.provider, answer.batch_id, tokens=tokens)
        return params

    def _before(self, route: Route, request: Request) -> Answer | float:
        """What a trap answers before anything is done, or how long it waits."""
        if (params := self._take(route, "429", request)) is not None:
            wait = int(params.get("retry_after", 1))
            raise ProviderError(429, "rate", "Rate limit reached.", retry_after=wait)
        if route.operation == "chat":
            limits.keep_rate(self._world, route.provider)
        if (params := self._take(route, "500", request)) is not None:
            status = int(params.get("status", 500))
            raise ProviderError(status, "server", "The server had an error.")
        if (params := self._take(route, "timeout", request)) is not None:
            return Answer(drop=True, delay_seconds=float(params.get("stall_seconds", 30)))
        if route.operation in ("chat", "create"):
            params = self._world.traps.take("account_refused", route.provider)
            if params is not None:
                dialect = DIALECTS[route.provider]
                raise ProviderError(dialect.credit_status, "credit", dialect.credit_message)
        params = self._take(route, "slow", request)
        return 0.0 if params is None else float(params.get("seconds", 1))

    def _take(self, route: Route, fault: str, request: Request) -> dict[str, Any] | None:
        traps, name = self._world.traps, f"{route.operation}_{fault}"
        asked = request.body.decode("utf-8", "replace") if traps.wants(name) else ""
        return traps.take(name, route.provider, prompt=asked)


def _authenticate(world: World, request: Request) -> None:
    """Finds out whose key it is.

    Raises:
        ProviderError: If nobody's.
    """
    request.key = _KEYS.get(request.provider, Request.bearer)(request)
    upload = world.uploads.get(request.one("upload_id") or "")
    if request.provider == "gemini" and upload is not None:
        request.key = upload[1]  # the address of an upload is a key to it
    if request.provider == "compatible" and "compatible" not in world.keys:
        request.workspace = "main"
        return
    workspace = world.workspace_of(request.provider, request.key)
    if workspace is None:
        # Google calls a wrong key an invalid argument, and AWS forbids where others do not know.
        status = {"gemini": 400, "bedrock": 403}.get(request.provider, 401)
        raise ProviderError(status, "key", f"Incorrect API key provided: {request.key[:4]}***.")
    request.workspace = workspace
    if request.provider == "anthropic" and "anthropic-version" not in request.headers:
        raise ProviderError(400, "invalid", "anthropic-version: header is required")
    versioned = request.provider == "azure" and "/openai/v1/" not in request.path
    if versioned and request.one("api-version") is None:
        raise ProviderError(404, "not_found", "Resource not found")


def _azure_key(request: Request) -> str:
    return request.headers.get("api-key") or request.bearer()


def _is_googles(request: Request) -> bool:
    return not request.path.startswith("/v1/") or bool(_google_key(request))


def _google_key(request: Request) -> str:
    return request.headers.get("x-goog-api-key") or request.one("key") or ""


def _aws_key(request: Request) -> str:
    match = _AWS_CREDENTIAL.search(request.headers.get("authorization", ""))
    return match[1] if match else request.bearer()


_KEYS: dict[str, Callable[[Request], str]] = {
    "anthropic": lambda request: request.headers.get("x-api-key") or request.bearer(),
    "azure": _azure_key,
    "bedrock": _aws_key,
    "gemini": _google_key,
}
