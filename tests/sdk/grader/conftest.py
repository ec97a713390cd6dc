import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn

from autotune.grader.asgi import AsgiApp
from autotune.protocol.ids import new_id
from autotune.protocol.signing import sign_grader_request

SECRET = "1f" * 32

Event = dict[str, Any]


@pytest.fixture
def secret() -> str:
    return SECRET


@pytest.fixture
def completion() -> Callable[..., dict[str, Any]]:
    """Make a completion in wire form, under a fresh id."""

    def make(**changes: Any) -> dict[str, Any]:
        plain = {"prompt": "2 + 2 = ?", "response": "A: 4", "metadata": {"answer": "4"}}
        return {"id": new_id("cmp"), "taskId": new_id("task"), **plain, **changes}

    return make


@pytest.fixture
def score_event(secret: str, completion: Callable[..., dict[str, Any]]) -> Callable[..., Event]:
    """Make a signed Lambda event for POST /score."""

    def make(options: dict[str, Any] | None = None, **changes: Any) -> Event:
        request_id = new_id("req")
        body = {
            "requestId": request_id,
            "completion": completion(**changes),
            "options": options or {},
        }
        return signed_event("POST", "/score", json.dumps(body).encode(), request_id, secret)

    return make


@pytest.fixture
def batch_event(secret: str) -> Callable[..., Event]:
    """Make a signed Lambda event for POST /score/batch."""

    def make(completions: list[Any], **changes: Any) -> Event:
        request_id = new_id("req")
        body = {"requestId": request_id, "completions": completions, **changes}
        return signed_event("POST", "/score/batch", json.dumps(body).encode(), request_id, secret)

    return make


@pytest.fixture
def make_event(secret: str) -> Callable[..., Event]:
    """Make a signed Lambda event of any kind."""

    def make(method: str, path: str, body: bytes = b"", **changes: Any) -> Event:
        signing_secret = changes.get("secret", secret)
        return signed_event(
            method, path, body, new_id("req"), signing_secret, changes.get("timestamp")
        )

    return make


def signed_event(
    method: str,
    path: str,
    body: bytes,
    request_id: str,
    secret: str,
    timestamp: int | None = None,
) -> Event:
    headers = sign_grader_request([secret], request_id=request_id, body=body, timestamp=timestamp)
    return {
        "version": "2.0",
        "rawPath": path,
        "headers": {"content-type": "application/json", **headers},
        "requestContext": {"http": {"method": method, "path": path}},
        "body": body.decode(),
        "isBase64Encoded": False,
    }


@pytest.fixture(scope="session")
def serving() -> Callable[[AsgiApp], Any]:
    """Serve an ASGI application on a free loopback port: ``with serving(app) as url``."""
    return serve


@contextmanager
def serve(application: AsgiApp) -> Iterator[str]:
    config = uvicorn.Config(
        application, host="127.0.0.1", port=0, log_level="error", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.005)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)
