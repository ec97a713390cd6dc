"""What benchmarks count on the wire, against what AWS documents that it bills."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import pytest
from botocore.config import Config

from benchmarks.boundary import CountingProxy, read, refused, written

TABLE = "autotune-data-Completions1234-ABCD"


def item(size: int) -> dict[str, Any]:
    """An item of so many bytes as DynamoDB counts: names and values."""
    return {"pk": {"S": "x" * (size - 2)}}


class Store(BaseHTTPRequestHandler):
    """Answers what the test says, and keeps what it was asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.append((self.headers.get("x-amz-target"), asked))  # type: ignore[attr-defined]
        body = json.dumps(self.server.answer).encode()  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self) -> None:
        self.server.asked.append((None, self.rfile.read(int(self.headers["content-length"]))))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def store() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Store) as server:
        server.asked, server.answer = [], {}  # type: ignore[attr-defined]
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def proxy(store: Any) -> Iterator[CountingProxy]:
    with CountingProxy(lambda: store.server_port) as made:
        yield made


def client(service: str, proxy: CountingProxy) -> Any:
    session = boto3.Session("test", "test", region_name="us-east-1")
    return session.client(service, endpoint_url=proxy.url, config=Config(proxies={}))


def test_a_write_is_counted_with_its_indexes_and_answers_as_if_nobody_had_asked(
    proxy: CountingProxy, store: Any
) -> None:
    store.answer = {
        "ConsumedCapacity": {
            "TableName": TABLE,
            "CapacityUnits": 3.0,
            "GlobalSecondaryIndexes": {"scoresByTask": {"CapacityUnits": 1.0}},
        }
    }
    answer = client("dynamodb", proxy).put_item(TableName=TABLE, Item=item(1_500))
    assert "ConsumedCapacity" not in answer
    counted = proxy.counted()
    assert counted.writes == {"Completions": 2, "Completions/scoresByTask": 1}
    assert counted.calls == {"dynamodb.PutItem": 1}


def test_messages_are_billed_in_steps_of_64_kilobytes(proxy: CountingProxy, store: Any) -> None:
    store.answer = {"MessageId": "1"}
    queue = client("sqs", proxy)
    for size in (10, 65_000, 66_000):
        queue.send_message(QueueUrl=f"{proxy.url}/queue", MessageBody="x" * size)
    counted = proxy.counted()
    assert counted.calls == {"sqs.SendMessage": 3}
    assert counted.queue_units == 4


def test_what_came_later_is_told_apart(proxy: CountingProxy, store: Any) -> None:
    store.answer = {"Item": item(100)}
    table = client("dynamodb", proxy)
    table.get_item(TableName=TABLE, Key=item(10))
    before = proxy.counted()
    table.get_item(TableName=TABLE, Key=item(10), ConsistentRead=True)
    assert proxy.counted().since(before).half_reads == {"Completions": 2}
    assert proxy.counted().half_reads == {"Completions": 3}


@pytest.mark.parametrize(
    ("size", "consistent", "halves"), [(0, False, 1), (4_096, True, 2), (4_097, True, 4)]
)
def test_reads_are_billed_in_steps_of_4_kilobytes(size: int, consistent: bool, halves: int) -> None:
    said = {"Item": item(size)} if size else {}
    asked = {"TableName": TABLE, "ConsistentRead": consistent}
    assert read("GetItem", asked, said) == {"Completions": halves}


def test_a_query_is_measured_as_a_whole_and_a_batch_item_by_item() -> None:
    found = [item(100)] * 30
    queried = read("Query", {"TableName": TABLE}, {"Items": found})
    assert queried == {"Completions": 1}
    keys = [item(10)] * 31
    asked = {"RequestItems": {TABLE: {"Keys": keys, "ConsistentRead": True}}}
    assert read("BatchGetItem", asked, {"Responses": {TABLE: found}}) == {"Completions": 62}


def test_a_write_that_was_refused_is_billed_all_the_same() -> None:
    assert refused("PutItem", {"TableName": TABLE, "Item": item(1_025)}) == {"Completions": 2}
    writes = [{"Put": {"TableName": TABLE, "Item": item(10)}}] * 3
    assert refused("TransactWriteItems", {"TransactItems": writes}) == {"Completions": 6}


def test_a_batch_tells_its_units_by_table() -> None:
    consumed = [
        {"TableName": TABLE, "CapacityUnits": 25.0},
        {"TableName": "autotune-data-Audit99", "CapacityUnits": 1.0},
    ]
    assert written(consumed) == {"Completions": 25, "Audit": 1}


def test_a_body_that_its_sender_keeps_until_it_is_asked_for_is_passed_on(
    proxy: CountingProxy, store: Any
) -> None:
    body = b"x" * 3_000_000
    client("s3", proxy).put_object(Bucket="bucket", Key="key", Body=body)
    ((_, sent),) = store.asked
    assert body in sent
    assert proxy.counted().calls == {"s3.PUT": 1}
