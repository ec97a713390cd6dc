"""A grader as a Lambda handler, behind a function URL or an API Gateway HTTP API.

Both send events in payload format 2.0:
https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html#urls-payloads
"""

import asyncio
import base64
import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from autotune.grader.exchange import HttpRequest, HttpResponse


class UnsupportedEventError(ValueError):
    """The function was invoked with something else than an HTTP event in payload format 2.0."""


class LambdaHandler:
    """Answers function URL events.

    One event loop is kept for each thread, so that an async grader may hold clients open between
    invocations. Call it from synchronous code, as Lambda does.
    """

    def __init__(self, respond: Callable[[HttpRequest], Awaitable[HttpResponse]]) -> None:
        self._respond = respond
        self._of_thread = threading.local()

    def __call__(self, event: Mapping[str, Any], context: object) -> dict[str, Any]:
        """Return the answer in payload format 2.0.

        Args:
            event: what Lambda hands over.
            context: Lambda's context object; not used.

        Raises:
            UnsupportedEventError: ``event`` is no payload format 2.0 event.
        """
        del context
        request = _request_of(event)
        response = self._loop().run_until_complete(self._respond(request))
        return {
            "statusCode": response.status,
            "headers": dict(response.headers),
            "body": response.body.decode(),
            "isBase64Encoded": False,
        }

    def _loop(self) -> asyncio.AbstractEventLoop:
        loop: asyncio.AbstractEventLoop | None = getattr(self._of_thread, "loop", None)
        if loop is None:
            loop = self._of_thread.loop = asyncio.new_event_loop()
            weakref.finalize(self, loop.close)
        return loop


def _request_of(event: Mapping[str, Any]) -> HttpRequest:
    try:
        method, path = event["requestContext"]["http"]["method"], event["rawPath"]
    except (KeyError, TypeError):
        raise UnsupportedEventError(
            "a grader is invoked by a Lambda function URL or an HTTP API with payload format 2.0"
        ) from None
    text = event.get("body") or ""
    return HttpRequest(
        method=method,
        path=path,
        headers={name.lower(): value for name, value in event.get("headers", {}).items()},
        body=base64.b64decode(text) if event.get("isBase64Encoded") else text.encode(),
    )
