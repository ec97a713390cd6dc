"""The ASGI application over a real server on loopback, and its corners without one."""

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from autotune.grader import GradedCompletion, grader
from autotune.protocol.grading import ScoreResponse
from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_GRADER_REQUEST_BYTES
from autotune.protocol.signing import sign_grader_request, verify_grader_response


@pytest.fixture
def graded(secret: str) -> Any:
    @grader(name="asgi", version="3", secrets=secret)
    async def half(completion: GradedCompletion) -> float:
        return 0.5

    return half


def test_scores_are_served_and_signed(
    graded: Any, secret: str, completion: Any, serving: Any
) -> None:
    request_id = new_id("req")
    body = json.dumps({"requestId": request_id, "completion": completion(prompt="日本")}).encode()
    headers = sign_grader_request([secret], request_id=request_id, body=body)
    with serving(graded.asgi) as url:
        response = httpx.post(f"{url}/some/prefix/score", content=body, headers=headers)
        again = httpx.post(f"{url}/score", content=body, headers=headers)
    assert ScoreResponse.model_validate_json(response.content).score is not None
    assert response.headers["content-type"] == "application/json"
    verify_grader_response(
        response.headers, response.content, [secret], request_id=request_id, request_body=body
    )
    assert (again.status_code, again.json()["code"]) == (401, "replayed_request")


def test_a_body_over_the_limit_is_answered_413_and_the_server_lives(
    graded: Any, serving: Any
) -> None:
    with serving(graded.asgi) as url:
        response = httpx.post(f"{url}/score", content=b"a" * (MAX_GRADER_REQUEST_BYTES + 1))
        assert response.status_code == 413
        assert response.json()["limit"]["name"] == "graderRequestBytes"
        assert httpx.get(f"{url}/health").json()["version"] == "3"


def converse(application: Any, scope: dict[str, Any], incoming: list[dict[str, Any]]) -> list[Any]:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return incoming.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(application(scope, receive, send))
    return sent


def test_lifespan_is_acknowledged(graded: Any) -> None:
    incoming = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent = converse(graded.asgi, {"type": "lifespan"}, incoming)
    assert [message["type"] for message in sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


def test_websockets_are_closed(graded: Any) -> None:
    sent = converse(graded.asgi, {"type": "websocket"}, [{"type": "websocket.connect"}])
    assert sent == [{"type": "websocket.close", "code": 1000}]


def test_nothing_is_sent_to_a_client_that_left(graded: Any) -> None:
    scope = {"type": "http", "method": "POST", "path": "/score", "headers": []}
    assert converse(graded.asgi, scope, [{"type": "http.disconnect"}]) == []


def test_reading_stops_where_a_client_never_ends(graded: Any) -> None:
    scope = {"type": "http", "method": "POST", "path": "/score", "headers": []}
    chunk = {"type": "http.request", "body": b"a" * 1_000_000, "more_body": True}
    incoming = [chunk] * 100
    sent = converse(graded.asgi, scope, incoming)
    assert sent[0]["status"] == 413
    assert len(incoming) > 70


def test_a_flood_of_signatures_holds_up_nobody_else(graded: Any, serving: Any) -> None:
    body = b"a" * MAX_GRADER_REQUEST_BYTES
    flood = {
        "x-autotune-signature": "v1= " * 10_000 + "v1=",
        "x-autotune-timestamp": str(int(time.time())),
        "x-autotune-request-id": new_id("req"),
    }
    with serving(graded.asgi) as url, ThreadPoolExecutor(2) as senders:
        # Each took 33 s where a MAC over the body was computed for each of them.
        refused = [
            senders.submit(httpx.post, f"{url}/score", content=body, headers=flood, timeout=60)
            for _ in range(20)
        ]
        while not all(one.done() for one in refused):
            assert httpx.get(f"{url}/health", timeout=5).status_code == 200
        assert {one.result().status_code for one in refused} == {401}


def test_many_headers_are_refused_before_they_are_read(graded: Any) -> None:
    raw = [(b"x-autotune-signature", b"v1=" + b"0" * 64)] * 20_000
    scope = {"type": "http", "method": "POST", "path": "/score", "headers": raw}
    started = time.process_time()
    sent = converse(graded.asgi, scope, [{"type": "http.request", "body": b"{}"}])
    assert sent[0]["status"] == 431
    # Joined one by one they took 3.5 s.
    assert time.process_time() - started < 1


def test_a_repeated_signature_header_verifies_nobody(
    graded: Any, secret: str, completion: Any
) -> None:
    request_id = new_id("req")
    body = json.dumps({"requestId": request_id, "completion": completion()}).encode()
    headers = sign_grader_request([secret], request_id=request_id, body=body)
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    raw.append((b"X-Autotune-Signature", b"v1=00"))
    scope = {"type": "http", "method": "POST", "path": "/score", "headers": raw}
    sent = converse(graded.asgi, scope, [{"type": "http.request", "body": body}])
    assert sent[0]["status"] == 401
