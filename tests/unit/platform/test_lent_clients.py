"""A client that a test had before is, to the next, one that was just made."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.session import Session

from tests.support.lent_clients import LentClients

CONFIG = Config(region_name="us-east-1", retries={"mode": "standard", "total_max_attempts": 2})


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> LentClients:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    return LentClients(Session())


def put(client: Any, *, status: int) -> None:
    """Call it with an answer of this status, as if it came from where it is sent."""

    def answered(**_: Any) -> Any:
        return AWSResponse("https://test", status, {}, _Raw())

    client.meta.events.register_first("before-send", answered)
    client.list_tables()


class _Raw:
    def stream(self, **_: Any) -> Iterator[bytes]:
        yield b"{}"


def quota_of(client: Any) -> Any:
    handlers = client.meta.events._emitter._handlers.prefix_search("after-call.dynamodb")
    return handlers[0].__self__._quota


def test_listeners_and_lost_retries_stay_with_their_test(lent: LentClients) -> None:
    heard: list[str] = []
    with lent.for_a_test():
        first: Any = lent.create_client("dynamodb", config=CONFIG)
        first.meta.events.register(
            "before-call.dynamodb", lambda model, **_: heard.append(model.name)
        )
        with pytest.raises(ClientError):
            put(first, status=500)
        assert heard == ["ListTables"]
        assert quota_of(first)._available_capacity < quota_of(first)._max_capacity
    with lent.for_a_test():
        second: Any = lent.create_client("dynamodb", config=CONFIG)
        assert second is first
        assert quota_of(second)._available_capacity == quota_of(second)._max_capacity
        put(second, status=200)
    assert heard == ["ListTables"]


def test_whoever_asks_twice_in_a_test_has_two(lent: LentClients) -> None:
    with lent.for_a_test():
        assert lent.create_client("sqs", config=CONFIG) is not lent.create_client(
            "sqs", config=CONFIG
        )
        assert len({id(one.client) for _, one in lent._lent}) == 2


def test_a_client_of_another_environment_is_another(
    lent: LentClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lent.for_a_test():
        first = lent.create_client("sqs", config=CONFIG)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with lent.for_a_test():
        assert lent.create_client("sqs", config=CONFIG) is not first
