"""Real failures over a real connection."""

import asyncio
import dataclasses
import json
from datetime import timedelta

import pytest

from autotune import (
    APIError,
    AsyncAutotuneClient,
    AuthenticationError,
    AutotuneClient,
    AutotuneError,
    ConflictError,
    ConnectionFailedError,
    InvalidInputError,
    InvalidRequestError,
    NotFoundError,
    RateLimitError,
    RequestTimeoutError,
    RequestTooLargeError,
    ServerError,
    UnexpectedAnswerError,
)
from local.endpoint import free_port
from tests.support.clock import TurnedClock
from tests.support.http_faults import Fault

HTML = b"<html><body><h1>502 Bad Gateway</h1></body></html>"


@pytest.fixture
def hasty(client):
    """A client that does not let time pass between attempts."""
    client._session = dataclasses.replace(client.session, jitter=lambda low, high: 0.0)
    return client


def submit(client, task_id, **more):
    return client.completions.submit(
        task_id=task_id, model_id="m", prompt="p", response="r", **more
    )


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=500, code="internal_error"),
        Fault(status=503),
        Fault(status=429, code="rate_limited", headers={"Retry-After": "0"}),
        Fault(status=502, body=HTML, content_type="text/html"),
        Fault(drop_before=True),
        Fault(drop_after=True),
    ],
    ids=["500", "503", "429", "html", "dropped-request", "lost-answer"],
)
def test_a_submission_survives_failures_and_is_made_once(api, hasty, fault):
    task_id = api.new_task()
    api.misbehave(fault, fault)
    submitted = submit(hasty, task_id)
    assert api.count("POST /api/v1/completions") == 3
    assert [one.id for one in api.stored()] == [submitted.completion.id]


def test_the_asynchronous_client_survives_failures_too(api):
    task_id = api.new_task()
    api.misbehave(Fault(status=503), Fault(drop_after=True), Fault(drop_before=True))

    async def use() -> None:
        async with AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            client._session = dataclasses.replace(client.session, jitter=lambda low, high: 0.0)
            submitted = await submit(client, task_id)
            assert [one.id for one in api.stored()] == [submitted.completion.id]

    asyncio.run(use())


def test_a_create_whose_answer_is_lost_is_told_and_not_repeated(api, hasty):
    api.misbehave(Fault(drop_after=True))
    with pytest.raises(ConnectionFailedError):
        hasty.keys.create(name="x", role="admin")
    assert api.count("POST /api/v1/keys") == 1


def test_a_slow_server_is_a_timeout(api):
    api.misbehave(Fault(delay_seconds=0.5))
    with (
        AutotuneClient(
            base_url=api.base_url, api_key=api.api_key, timeout=0.1, max_retries=0
        ) as client,
        pytest.raises(RequestTimeoutError),
    ):
        client.keys.me()


def test_a_closed_port_is_a_failed_connection():
    port = free_port()
    with (
        AutotuneClient(
            base_url=f"http://127.0.0.1:{port}", api_key="key_1.aa", max_retries=0
        ) as client,
        pytest.raises(ConnectionFailedError, match="/api/v1/keys/me"),
    ):
        client.keys.me()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequestError),
        (401, AuthenticationError),
        (404, NotFoundError),
        (405, APIError),
        (409, ConflictError),
        (413, RequestTooLargeError),
        (422, InvalidRequestError),
        (429, RateLimitError),
        (503, ServerError),
    ],
)
def test_each_status_has_its_error(api, status, kind):
    api.misbehave(Fault(status=status, code="some_code", headers={"Retry-After": "11"}))
    with (
        AutotuneClient(base_url=api.base_url, api_key=api.api_key, max_retries=0) as client,
        pytest.raises(kind) as caught,
    ):
        client.keys.me()
    error = caught.value
    assert type(error) is kind
    assert isinstance(error, AutotuneError)
    assert (error.status, error.code, error.detail) == (status, "some_code", "injected")
    assert error.retry_after == 11
    assert error.request_id == api.received[0].headers["x-autotune-request-id"]
    for part in (str(status), "some_code", "injected", error.request_id):
        assert part in str(error)


@pytest.mark.parametrize(
    ("body", "content_type", "told"),
    [
        (HTML, "text/html", "text/html"),
        (b'{"message": "Not Found"}', "application/json", "Not Found"),
        (b"", "", "empty body"),
        (b"[1]", "application/json", "application/json"),
        (b"\xff\xfe", "application/json", "application/json"),
    ],
)
def test_an_answer_of_something_else_is_told_without_a_crash(api, body, content_type, told):
    api.misbehave(Fault(status=404, body=body, content_type=content_type))
    with (
        AutotuneClient(base_url=api.base_url, api_key=api.api_key) as client,
        pytest.raises(NotFoundError, match=told) as caught,
    ):
        client.keys.me()
    assert caught.value.code == "unexpected_answer"


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=200, body=HTML, content_type="text/html"),
        Fault(status=200, body=b'{"key": {}}', content_type="application/json"),
        Fault(status=302, body=b"", headers={"Location": "https://elsewhere.example"}),
    ],
    ids=["page", "other-json", "redirect"],
)
def test_a_success_that_is_none_is_told(api, client, fault):
    api.misbehave(fault)
    with pytest.raises(UnexpectedAnswerError):
        client.keys.me()
    assert len(api.received) == 1


@pytest.mark.parametrize(("ahead", "side"), [(400, "behind"), (-400, "ahead of")])
def test_a_wrong_clock_is_named_with_its_error(api, client, ahead, side, monkeypatch):
    api.clock_ahead_seconds = ahead
    clock = TurnedClock(timedelta(seconds=ahead))
    monkeypatch.setattr("autotune_platform.access.service.SYSTEM_CLOCK", clock)
    with pytest.raises(AuthenticationError, match=rf"clock is (399|400|401) s {side}") as caught:
        client.keys.me()
    assert caught.value.code == "stale_request"


def test_a_wrong_secret_is_refused(api):
    with (
        AutotuneClient(base_url=api.base_url, api_key=api.api_key + "0") as client,
        pytest.raises(AuthenticationError, match="unauthenticated"),
    ):
        client.keys.me()


def test_fields_and_limits_reach_the_caller(api, client):
    with pytest.raises(InvalidRequestError) as caught:
        submit(client, "task_" + "0" * 26)
    assert caught.value.errors[0].field == "taskId"
    assert "taskId" in str(caught.value)
    task_id = api.new_task()
    with pytest.raises(RequestTooLargeError) as too_large:
        client.completions.submit(
            task_id=task_id, model_id="m", prompt="p" * 5_000_000, response="r"
        )
    assert too_large.value.limit.maximum == 5_000_000
    assert "5000000 bytes" in str(too_large.value)


def test_what_the_detail_says_is_not_said_twice(api, client):
    expected = "a URL that begins with https://"
    problem = {
        "type": "urn:autotune:problem:invalid-request",
        "title": "Unprocessable Content",
        "status": 422,
        "code": "invalid_request",
        "detail": f"endpoint: expected {expected}",
        "requestId": "req_1",
        "errors": [{"field": "endpoint", "expected": expected}],
    }
    api.misbehave(Fault(status=422, body=json.dumps(problem).encode()))
    with pytest.raises(InvalidRequestError) as caught:
        client.keys.me()
    assert str(caught.value).count(expected) == 1


def test_a_closed_client_says_so(api, client):
    client.close()
    with pytest.raises(InvalidInputError, match="this client was closed"):
        client.keys.me()
    with pytest.raises(InvalidInputError, match="this client was closed"):
        list(client.tasks.list())

    async def call_closed():
        client = AsyncAutotuneClient(base_url=api.base_url, api_key=api.api_key)
        await client.close()
        with pytest.raises(InvalidInputError, match="this client was closed"):
            await client.keys.me()

    asyncio.run(call_closed())
    assert api.received == []


def test_a_key_that_was_used_with_other_arguments_is_told(api, client):
    task_id = api.new_task()
    submit(client, task_id, idempotency_key="once")
    with pytest.raises(InvalidRequestError) as caught:
        submit(client, task_id, idempotency_key="once", priority="high")
    assert caught.value.code == "idempotency_key_reused"
