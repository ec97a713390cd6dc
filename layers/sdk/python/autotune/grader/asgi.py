"""A grader as an ASGI 3 application, for uvicorn, hypercorn or inside any ASGI framework.

Written against https://asgi.readthedocs.io/en/stable/specs/main.html; it needs no framework.
"""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from autotune.grader.exchange import HttpRequest, HttpResponse, too_large_headers
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_GRADER_REQUEST_BYTES, MAX_HEADER_BYTES

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_MAX_DRAINED_BYTES = 4 * MAX_GRADER_REQUEST_BYTES


class _DisconnectedError(Exception):
    pass


def asgi_app(respond: Callable[[HttpRequest], Awaitable[HttpResponse]]) -> AsgiApp:
    """Return the ASGI application that answers with ``respond``."""

    async def application(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await _serve_request(respond, scope, receive, send)
        elif scope["type"] == "lifespan":
            await _serve_lifespan(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1000})

    return application


async def _serve_request(
    respond: Callable[[HttpRequest], Awaitable[HttpResponse]],
    scope: MutableMapping[str, Any],
    receive: Receive,
    send: Send,
) -> None:
    try:
        body = await _read_body(receive)
    except _DisconnectedError:
        return
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADER_BYTES:
        response = too_large_headers().to_response(new_id("req"))
    else:
        request = HttpRequest(
            method=scope["method"], path=scope["path"], headers=_headers(scope), body=body
        )
        response = await respond(request)
    headers = {**response.headers, "content-length": str(len(response.body))}
    await send(
        {
            "type": "http.response.start",
            "status": response.status,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": response.body})


async def _read_body(receive: Receive) -> bytes:
    """Return the body, cut one byte over the limit.

    The rest is read and dropped up to a bound, because a client that is still sending when the
    connection closes loses the 413 that says why.
    """
    parts: list[bytes] = []
    kept = drained = 0
    more = True
    while more and drained <= _MAX_DRAINED_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _DisconnectedError
        chunk: bytes = message.get("body", b"")
        drained += len(chunk)
        chunk = chunk[: MAX_GRADER_REQUEST_BYTES + 1 - kept]
        kept += len(chunk)
        parts.append(chunk)
        more = message.get("more_body", False)
    return b"".join(parts)


def _headers(scope: MutableMapping[str, Any]) -> dict[str, str]:
    values: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return {name: ",".join(several) for name, several in values.items()}


async def _serve_lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
