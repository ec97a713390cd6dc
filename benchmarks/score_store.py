"""DynamoDB's Query on the index ``scoresByTask``, over loopback HTTP, for any number of verdicts.

moto and MiniStack look at every item of a table for each query, which a million verdicts take too
long for. Here the keys lie in sorted arrays, as they do in an index, and an entry is made when it
is read. It serves this one index and nothing else; that it answers as moto does is tested with the
platform's own client (``tests/component/scoring/test_page_costs.py``).
"""

import json
import threading
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from moto.dynamodb.comparisons import get_filter_expression
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.dynamo_type import Item as MotoItem

from autotune_platform.storage.item_format import item_to_wire
from autotune_platform.verdicts.models import Verdict
from autotune_platform.verdicts.score_index import index_key
from autotune_platform.verdicts.stored_verdicts import verdict_attributes, verdict_key
from infra.tables import SCORES_BY_TASK_INDEX, SCORES_BY_TASK_PROJECTION

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_KEYS = ("score_shard", "score_time", "pk", "sk")
_LARGEST_PAGE_BYTES = 1_048_576
_READ_UNIT_BYTES = 4_096
_CACHED_ENTRIES = 20_000

Entry = dict[str, dict[str, str]]


@dataclass
class Reads:
    """What was asked for since it was last cleared, counted where HTTP ends."""

    calls: int = 0
    evaluated: int = 0
    units: float = 0

    def clear(self) -> None:
        """Count anew."""
        self.calls, self.evaluated, self.units = 0, 0, 0.0


@dataclass
class ScoreStore:
    """An index of verdicts, each made anew from its number when it is read."""

    verdict: Callable[[int], Verdict]
    reads: Reads = field(default_factory=Reads)

    def __post_init__(self) -> None:
        self._keys: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._entry = lru_cache(_CACHED_ENTRIES)(self._make_entry)

    def fill(self, numbers: Iterator[int] | range) -> None:
        """Add the verdicts of those numbers."""
        for number in numbers:
            key = index_key(self.verdict(number))
            self._keys[key["score_shard"]].append((key["score_time"], number))
        for keys in self._keys.values():
            keys.sort()

    def query(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Answer as DynamoDB's Query does; a page that its limit ended always names its end."""
        assert request["IndexName"] == SCORES_BY_TASK_INDEX, request
        values = request["ExpressionAttributeValues"]
        keys = self._keys[values[":partition"]["S"]]
        first, end = _bounds(request["KeyConditionExpression"], values, keys)
        if "ExclusiveStartKey" in request:
            after = request["ExclusiveStartKey"]["score_time"]["S"]
            first = max(first, bisect_right(keys, after, key=lambda key: key[0]))
        matches = _filter_of(request)
        items: list[Entry] = []
        evaluated, size, at = 0, 0, first
        while at < end and evaluated < request["Limit"] and size < _LARGEST_PAGE_BYTES:
            entry = self._entry(keys[at][1])
            evaluated, size, at = evaluated + 1, size + _size(entry), at + 1
            if matches(entry):
                items.append(entry)
        self.reads.calls += 1
        self.reads.evaluated += evaluated
        # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
        self.reads.units += max(1, -(-size // _READ_UNIT_BYTES)) / 2  # eventually consistent
        answer = {"Items": items, "Count": len(items), "ScannedCount": evaluated}
        if at < end or evaluated == request["Limit"]:
            last = self._entry(keys[at - 1][1])
            answer["LastEvaluatedKey"] = {name: last[name] for name in _KEYS}
        return answer

    def _make_entry(self, number: int) -> Entry:
        """Return what the index holds of a verdict: its keys, and what is projected."""
        verdict = self.verdict(number)
        attributes = verdict_attributes(verdict)
        entry = {
            "pk": verdict.completion_id,
            "sk": verdict_key(verdict.grader_id, verdict.grader_version),
            **index_key(verdict),
            **{name: attributes[name] for name in SCORES_BY_TASK_PROJECTION if name in attributes},
        }
        return item_to_wire(entry)


@contextmanager
def served(store: ScoreStore) -> Iterator["DynamoDBClient"]:
    """Serve a store on loopback; yield the client that asks it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            target = self.headers["X-Amz-Target"]
            assert target == "DynamoDB_20120810.Query", target
            answer = json.dumps(store.query(json.loads(body))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name
            """Say nothing of requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield boto3.client(
            "dynamodb",
            endpoint_url=f"http://127.0.0.1:{server.server_port}",
            region_name="us-east-1",
            aws_access_key_id="any",
            aws_secret_access_key="any",  # noqa: S106 - nobody asks for it
            config=Config(retries={"total_max_attempts": 1}),
        )
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _bounds(
    condition: str, values: Mapping[str, Any], keys: list[tuple[str, int]]
) -> tuple[int, int]:
    """Return where a key condition's entries begin and end."""
    match condition.split(" AND ", 1):
        case ["#partition = :partition"]:
            return 0, len(keys)
        case ["#partition = :partition", "#sort BETWEEN :lowest AND :highest"]:
            lowest, highest = values[":lowest"]["S"], values[":highest"]["S"]
            return (
                bisect_left(keys, lowest, key=lambda key: key[0]),
                bisect_right(keys, highest, key=lambda key: key[0]),
            )
    message = f"the platform asks its index by no such condition: {condition}"
    raise ValueError(message)


def _filter_of(request: Mapping[str, Any]) -> Callable[[Entry], bool]:
    """Return what tells whether an entry passes the filter, in moto's reading of it."""
    if "FilterExpression" not in request:
        return lambda _: True
    names, values = request["ExpressionAttributeNames"], request["ExpressionAttributeValues"]
    condition = get_filter_expression(request["FilterExpression"], names, values)

    def matches(entry: Entry) -> bool:
        key = DynamoType(entry["pk"])
        return bool(condition.expr(MotoItem(key, DynamoType(entry["sk"]), entry)))

    return matches


def _size(entry: Entry) -> int:
    """Return an item's size in bytes as DynamoDB counts it, without an index entry's overhead.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
    """
    size = 0
    for name, typed in entry.items():
        ((kind, value),) = typed.items()
        # Numbers take about a byte for two digits, and one more.
        size += len(name) + (len(value) // 2 + 1 if kind == "N" else len(value.encode()))
    return size
