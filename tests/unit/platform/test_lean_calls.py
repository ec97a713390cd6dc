"""Calls of DynamoDB do what botocore's own do, with a fraction of its work."""

import datetime
import json
import ssl
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    HTTPClientError,
    ReadTimeoutError,
    SSLError,
)
from botocore.parsers import ResponseParserError
from botocore.session import Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from autotune_platform.runtime import clients, lean_http
from autotune_platform.runtime.dynamodb_wire import WireSerializer
from autotune_platform.runtime.lean_http import Connections
from tests.support.python_calls import python_calls
from tests.support.scripted_server import CLOSES, SLEEPS, answer, scripted

KEY = {"pk": {"S": "p"}, "sk": {"S": "s"}}
WRITES = [{"Delete": {"TableName": "t", "Key": KEY}}]
ITEM = {"pk": {"S": "p"}, "text": {"B": b"\x00\xff"}, "n": {"N": "7"}}
FOUND = answer(json.dumps({"Item": {**ITEM, "text": {"B": "AP8="}}}).encode())
CODE = "com.amazonaws.dynamodb.v20120810#"
BUSY = answer(
    json.dumps({"__type": f"{CODE}ThrottlingException", "message": "slower"}).encode(), status=400
)
LOST = {
    "closed": (CLOSES, ConnectionClosedError),
    "late": (SLEEPS, ReadTimeoutError),
    "broken-off": (b"HTTP/1.1 200", HTTPClientError),
}
MOMENTS = ("before-call", "before-send", "after-call")
REFUSALS = {
    "conflict": {
        "__type": f"{CODE}ConditionalCheckFailedException",
        "message": "The conditional request failed",
        "Item": {"text": {"B": "AP8="}, "n": {"N": "7"}},
    },
    "canceled": {
        "__type": f"{CODE}TransactionCanceledException",
        "Message": "Transaction cancelled",
        "CancellationReasons": [
            {"Code": "None"},
            {
                "Code": "ConditionalCheckFailed",
                "Message": "The conditional request failed",
                "Item": {"text": {"BS": ["AP8="]}},
            },
        ],
    },
    "unknown": {"__type": "AccessDeniedException", "Message": "no"},
}
TWICE = Config(
    retries={"mode": "standard", "total_max_attempts": 2},
    connect_timeout=1,
    read_timeout=1,
    parameter_validation=False,
)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "known")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    for name in ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    # What is tried again is so at once.
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    # Credentials are a session's for as long as it is there.
    monkeypatch.setattr(clients, "_session", cache(clients._session.__wrapped__))
    return monkeypatch


def lean(monkeypatch: pytest.MonkeyPatch, url: str, config: Config = TWICE) -> Any:
    """Return the client that a new process would have."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    return clients._client.__wrapped__("dynamodb", config)


def usual(monkeypatch: pytest.MonkeyPatch, url: str) -> Any:
    """Return botocore's own client."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    return Session().create_client("dynamodb", config=TWICE)


def _names_of(head: str) -> set[str]:
    return {line.partition(":")[0].lower() for line in head.splitlines()[1:]}


def test_an_answer_is_botocores(environment: pytest.MonkeyPatch) -> None:
    with scripted([FOUND]) as server:
        found = lean(environment, server.url).get_item(TableName="t", Key=KEY)
        assert found == usual(environment, server.url).get_item(TableName="t", Key=KEY)
    assert found["Item"] == ITEM
    assert json.loads(server.bodies[0]) == json.loads(server.bodies[1])
    ours, theirs = map(_names_of, server.heads)
    assert ours == theirs - {"amz-sdk-invocation-id", "amz-sdk-request"}


@pytest.mark.parametrize("kind", REFUSALS)
def test_a_refusal_is_botocores_and_asked_once(environment: pytest.MonkeyPatch, kind: str) -> None:
    refusal = answer(json.dumps(REFUSALS[kind]).encode(), status=400)
    raised = []
    with scripted([refusal]) as server:
        for client in (lean(environment, server.url), usual(environment, server.url)):
            asked = len(server.bodies)
            with pytest.raises(ClientError) as error:
                client.transact_write_items(TransactItems=WRITES, ClientRequestToken="t")
            raised.append((type(error.value).__name__, error.value.response, str(error.value)))
            assert len(server.bodies) == asked + 1
    assert raised[0] == raised[1]
    assert raised[0][1].get("CancellationReasons") or kind != "canceled"


@pytest.mark.parametrize(
    "first",
    [
        *(BUSY, answer(b"", status=500), answer(b"{}", checksum=1), CLOSES, SLEEPS),
        *(b"what?\r\n\r\n", b"HTTP/1.1 103 Hints\r\nContent-Length: 0\r\n\r\n"),
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: -1\r\n\r\n{}",
    ],
    ids=["throttled", "failed", "damaged", "closed", "late", "no-http", "not-final", "negative"],
)
def test_botocore_tries_again(environment: pytest.MonkeyPatch, first: bytes) -> None:
    with scripted([first, FOUND]) as server:
        found = lean(environment, server.url).get_item(TableName="t", Key=KEY)
    assert found["Item"] == ITEM
    assert found["ResponseMetadata"]["RetryAttempts"] == 1
    assert len(server.bodies) == 2


@pytest.mark.parametrize(("said", "error"), LOST.values(), ids=LOST)
def test_what_is_lost_is_botocores_error_after_as_many_tries(
    environment: pytest.MonkeyPatch, said: bytes, error: type[Exception]
) -> None:
    with scripted([said]) as server, pytest.raises(error):
        lean(environment, server.url).get_item(TableName="t", Key=KEY)
    assert len(server.bodies) == 2


def test_an_answer_that_botocore_alone_can_read_is_asked_once(
    environment: pytest.MonkeyPatch,
) -> None:
    metrics = {"ItemCollectionKey": KEY, "SizeEstimateRangeGB": [0.0, 1.0]}
    said = answer(json.dumps({"ItemCollectionMetrics": metrics}).encode())
    with scripted([said]) as server:
        found = lean(environment, server.url).delete_item(TableName="t", Key=KEY)
    assert found["ItemCollectionMetrics"] == metrics
    assert len(server.bodies) == 1


@pytest.mark.parametrize("value", [{"B": None}, {"M": []}, None], ids=str)
def test_an_answer_of_another_shape_is_botocores_and_asked_once(
    environment: pytest.MonkeyPatch, value: Any
) -> None:
    said = answer(json.dumps({"Item": {"first": {"B": "AP8="}, "second": value}}).encode())
    with scripted([said]) as server:
        outcomes = []
        for client in (lean(environment, server.url), usual(environment, server.url)):
            try:
                outcomes.append(client.get_item(TableName="t", Key=KEY)["Item"])
            except (AttributeError, ResponseParserError, TypeError) as error:
                outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]
    assert len(server.bodies) == 2


def test_a_connection_is_used_again_until_the_other_side_has_closed_it(
    environment: pytest.MonkeyPatch,
) -> None:
    last = FOUND.replace(b"X-Amzn-RequestId", b"Connection: close\r\nX-Amzn-RequestId")
    with scripted([FOUND, last, FOUND]) as server:
        client = lean(environment, server.url)
        for _ in range(3):
            assert client.get_item(TableName="t", Key=KEY)["Item"] == ITEM
    assert (len(server.bodies), server.connections) == (3, 2)


def test_a_connection_that_was_closed_while_nobody_looked_is_not_asked(
    environment: pytest.MonkeyPatch,
) -> None:
    with scripted([FOUND]) as server:
        client = lean(environment, server.url)
        client.get_item(TableName="t", Key=KEY)
        port = int(server.url.rpartition(":")[2])
    with scripted([FOUND], port=port) as again:
        found = client.get_item(TableName="t", Key=KEY)
    assert found["ResponseMetadata"]["RetryAttempts"] == 0
    assert len(again.bodies) == 1


def test_listeners_hear_of_a_call_and_answer_it(environment: pytest.MonkeyPatch) -> None:
    heard = []
    with scripted([FOUND]) as server:
        client = lean(environment, server.url)
        for moment in MOMENTS:
            client.meta.events.register(
                f"{moment}.dynamodb", lambda event_name, **_: heard.append(event_name)
            )
        client.get_item(TableName="t", Key=KEY)
        assert heard == [f"{moment}.dynamodb.GetItem" for moment in MOMENTS]
        client.meta.events.register("before-call", lambda **_: (_Made(), {"Item": {}}))
        assert client.get_item(TableName="t", Key=KEY) == {"Item": {}}
    assert len(server.bodies) == 1


class _Made:
    status_code = 200


def test_successes_give_back_what_tries_again_took(environment: pytest.MonkeyPatch) -> None:
    with scripted([CLOSES, CLOSES, FOUND]) as server:
        client = lean(environment, server.url)
        quota = _quota_of(client)
        with pytest.raises(ConnectionClosedError):
            client.get_item(TableName="t", Key=KEY)
        spent = quota._available_capacity
        client.get_item(TableName="t", Key=KEY)
    assert spent < quota._available_capacity


def _quota_of(client: Any) -> Any:
    handlers = client.meta.events._emitter._handlers.prefix_search("after-call.dynamodb")
    return handlers[0].__self__._quota


def test_calls_through_a_proxy_are_botocores_own(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    environment.delenv("NO_PROXY", raising=False)
    client = lean(environment, "http://dynamodb.internal")
    assert not isinstance(client._serializer, WireSerializer)


def test_a_botocore_that_writes_in_another_way_writes_its_own(
    environment: pytest.MonkeyPatch,
) -> None:
    environment.setattr("autotune_platform.runtime.lean_calls.JSONSerializer", WireSerializer)
    with scripted([FOUND]) as server:
        found = lean(environment, server.url).get_item(TableName="t", Key=KEY)
    assert found["Item"] == ITEM
    assert "amz-sdk-request" in server.heads[0].lower()


def test_this_botocore_is_one_whose_work_is_spared(environment: pytest.MonkeyPatch) -> None:
    """What it rests on: else each call is right, and takes three times as long."""
    with scripted([FOUND]) as server:
        client = lean(environment, server.url)
        client.get_item(TableName="t", Key=KEY)
        assert isinstance(client._serializer, WireSerializer)
        ours, theirs = (
            python_calls(partial(one.get_item, TableName="t", Key=KEY))
            for one in (client, usual(environment, server.url))
        )
    assert "amz-sdk-request" not in server.heads[0].lower()
    assert ours < theirs / 3


def test_a_header_of_more_than_one_line_is_not_sent() -> None:
    with scripted([FOUND]) as server:
        place = Connections(server.url, connect_timeout=1, read_timeout=1, most_idle=1)
        with pytest.raises(ValueError, match="more than one line"):
            place.post("any", "/", {"token": "known\r\nx-other: 1"}, b"")
    assert server.connections == 0


@pytest.mark.parametrize("said_by", ["AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"])
def test_a_certificate_is_trusted_where_the_environment_says_so(
    environment: pytest.MonkeyPatch, tmp_path: Path, said_by: str
) -> None:
    with _secure(tmp_path) as server:
        environment.setenv(said_by, str(tmp_path / "certificate.pem"))
        found = lean(environment, server.url).get_item(TableName="t", Key=KEY)
    assert found["Item"] == ITEM


@pytest.mark.parametrize("name", ["localhost", "another.host"])
def test_a_certificate_of_nobody_known_or_of_another_is_refused(
    environment: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    with _secure(tmp_path, name=name) as server:
        if name != "localhost":
            environment.setenv("AWS_CA_BUNDLE", str(tmp_path / "certificate.pem"))
        with pytest.raises(SSLError):
            lean(environment, server.url).get_item(TableName="t", Key=KEY)
    assert server.bodies == []


def _secure(folder: Path, *, name: str = "localhost") -> Any:
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    names = x509.SubjectAlternativeName([x509.DNSName(name)])
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(pem))
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    lean_http._trusting.cache_clear()
    return scripted([FOUND], tls=tls)
