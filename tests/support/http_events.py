"""HTTP requests as API Gateway gives them to a function."""

import base64
from typing import Any
from urllib.parse import parse_qsl


def api_event(
    method: str, path: str, query: str, headers: dict[str, str], body: bytes
) -> dict[str, Any]:
    """Return the event of an HTTP API, payload format 2.0."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "queryStringParameters": _joined(parse_qsl(query, keep_blank_values=True)),
        "requestContext": {
            "stage": "$default",
            "http": {"method": method, "path": path, "sourceIp": "192.0.2.7"},
        },
        **_body(body),
    }


def _joined(parameters: list[tuple[str, str]]) -> dict[str, str]:
    """Return parameters as payload format 2.0 does: those that are repeated, joined by commas."""
    found: dict[str, str] = {}
    for name, value in parameters:
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def _body(sent: bytes) -> dict[str, Any]:
    try:
        return {"body": sent.decode(), "isBase64Encoded": False}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(sent).decode(), "isBase64Encoded": True}
