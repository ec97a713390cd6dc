"""Calls of DynamoDB are signed as AWS has it, whoever computes the signature."""

import socket
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore import auth
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import EndpointConnectionError, NoCredentialsError

from autotune_platform.runtime import clients, signing
from autotune_platform.runtime.signing import DynamoDbAuth

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
BODY = b'{"TableName": "ledger", "Key": {"pk": {"S": "llm_1"}}}'


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    now = [NOON]
    for module in (auth, signing):
        monkeypatch.setattr(module, "get_current_datetime", lambda: now[0])
    return now


def request(url: str = "https://dynamodb.eu-central-1.amazonaws.com/") -> AWSRequest:
    headers = {
        "X-Amz-Target": "DynamoDB_20120810.GetItem",
        "Content-Type": "application/x-amz-json-1.0",
    }
    return AWSRequest(method="POST", url=url, headers=headers, data=BODY)


def signed(kind: Any, one: AWSRequest, token: str | None = "t/k+n==") -> dict[str, Any]:
    kind(Credentials("AKID", "secret", token), "dynamodb", "eu-central-1").add_auth(one)
    return dict(one.headers.items())


@pytest.mark.parametrize("token", ["t/k+n==", None])
@pytest.mark.parametrize(
    "url",
    [
        "https://dynamodb.eu-central-1.amazonaws.com/",
        "https://dynamodb.eu-central-1.amazonaws.com:443",
        "http://127.0.0.1:4566",
        "http://[::1]:4566/",
        "http://Proxy.internal:80/aws",
    ],
)
def test_the_signature_is_botocores(url: str, token: str | None) -> None:
    assert signed(DynamoDbAuth, request(url), token) == signed(SigV4Auth, request(url), token)


def test_a_request_that_is_tried_again_has_one_signature_of_its_own_moment(
    noon: list[datetime],
) -> None:
    again = request()
    before = signed(DynamoDbAuth, again)
    noon[0] = NOON + timedelta(days=1)
    assert signed(DynamoDbAuth, again) == signed(SigV4Auth, request()) != before
    assert len(again.headers.get_all("Authorization")) == 1


def test_what_is_asked_is_signed() -> None:
    other = request()
    other.data = BODY.replace(b"llm_1", b"llm_2")
    assert signed(DynamoDbAuth, other) != signed(DynamoDbAuth, request())


def test_nothing_is_sent_without_credentials() -> None:
    with pytest.raises(NoCredentialsError):
        DynamoDbAuth(None, "dynamodb", "eu-central-1").add_auth(request())


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "known")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("eu-central-1", "dynamodb.eu-central-1.amazonaws.com"),
        ("cn-north-1", "dynamodb.cn-north-1.amazonaws.com.cn"),
        ("us-gov-west-1", "dynamodb.us-gov-west-1.amazonaws.com"),
    ],
)
def test_the_host_is_the_regions(environment: pytest.MonkeyPatch, region: str, host: str) -> None:
    environment.setenv("AWS_DEFAULT_REGION", region)
    client = _new_client()
    assert client.meta.endpoint_url == f"https://{host}"


def test_the_environment_may_name_another_place(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    environment.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    with pytest.raises(EndpointConnectionError, match=f"127.0.0.1:{port}"):
        _new_client().get_item(TableName="ledger", Key={"pk": {"S": "a"}})


def _new_client() -> Any:
    """Return what a new process would have; nothing is tried twice."""
    once = Config(retries={"total_max_attempts": 1})
    return clients._client.__wrapped__("dynamodb", once)
