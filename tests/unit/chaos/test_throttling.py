"""The way to DynamoDB: everything passes, until a table throttles."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.chaos.throttling import ThrottlingProxy, halved, signed_by_account


class Echo(BaseHTTPRequestHandler):
    """Answers as a table that does whatever it is asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(asked)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def table() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        server.asked = []  # type: ignore[attr-defined]
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def proxy(table: Any) -> Iterator[ThrottlingProxy]:
    with ThrottlingProxy(lambda: table.server_port, seed=1) as made:
        yield made


@pytest.fixture
def dynamodb(proxy: ThrottlingProxy) -> Iterator[Any]:
    session = boto3.Session("test", "test", region_name="us-east-1")
    once = Config(retries={"total_max_attempts": 1}, proxies={})
    client = session.client("dynamodb", endpoint_url=proxy.url, config=once)
    yield client
    client.close()


KEY = {"pk": {"S": "1"}}


def test_requests_pass_until_the_table_throttles_and_again_afterwards(
    proxy: ThrottlingProxy, dynamodb: Any
) -> None:
    dynamodb.get_item(TableName="Completions", Key=KEY)
    proxy.throttle("Completions", share=1)
    with pytest.raises(dynamodb.exceptions.ProvisionedThroughputExceededException):
        dynamodb.get_item(TableName="Completions", Key=KEY)
    dynamodb.get_item(TableName="Registry", Key=KEY)
    proxy.relax()
    dynamodb.get_item(TableName="Completions", Key=KEY)
    assert (proxy.passed, proxy.refused) == (3, 1)


def test_half_of_a_batch_is_left_unprocessed(
    proxy: ThrottlingProxy, dynamodb: Any, table: Any
) -> None:
    proxy.throttle("Completions", share=1)
    puts = [{"PutRequest": {"Item": {"pk": {"S": str(n)}}}} for n in range(5)]
    answer = dynamodb.batch_write_item(RequestItems={"Completions": puts})
    assert answer["UnprocessedItems"] == {"Completions": puts[3:]}
    assert table.asked[-1]["RequestItems"] == {"Completions": puts[:3]}


def test_half_of_a_read_is_left_with_its_options() -> None:
    keys = [{"pk": {"S": str(n)}} for n in range(4)]
    asked = {"RequestItems": {"T": {"Keys": keys, "ConsistentRead": True}}}
    done, left = halved("BatchGetItem", json.dumps(asked).encode())
    assert json.loads(done)["RequestItems"]["T"] == {"Keys": keys[:2], "ConsistentRead": True}
    assert left == {"UnprocessedKeys": {"T": {"Keys": keys[2:], "ConsistentRead": True}}}


def test_a_batch_of_one_is_done_whole() -> None:
    asked = {"RequestItems": {"T": [{"PutRequest": {"Item": {}}}]}}
    done, left = halved("BatchWriteItem", json.dumps(asked).encode())
    assert json.loads(done) == asked
    assert left == {}


def test_half_a_batch_is_signed_by_the_account() -> None:
    signature = "SignedHeaders=host, Signature=0"
    scope = "20261123/us-east-1/dynamodb/aws4_request"
    signed = {
        "host": "h",
        "authorization": f"AWS4-HMAC-SHA256 Credential=ASIA0/{scope}, {signature}",
        "x-amz-security-token": "t",
    }
    assert signed_by_account(signed) == {
        "host": "h",
        "authorization": f"AWS4-HMAC-SHA256 Credential=test/{scope}, {signature}",
    }
