"""``python -m benchmarks.synthetic_store``: DynamoDB with any number of scores, kept nowhere.

It speaks DynamoDB's JSON protocol on loopback and computes the answers to what an export reads of
the table ``completions``. Everything else goes on to another endpoint.
"""

import argparse
import http.client
import json
import os
import signal
import socketserver
import threading
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from autotune_platform.completions.content import CONTENT
from autotune_platform.verdicts.score_index import shard_of
from benchmarks import synthetic_scores as scores
from benchmarks.synthetic_scores import Item

TABLE = "completions"
INDEX = "scoresByTask"

_SHARDS = 4
_MOST_ENTRIES = 2_000
_TARGET = "X-Amz-Target"
_QUERY = "DynamoDB_20120810.Query"
_BATCH_GET = "DynamoDB_20120810.BatchGetItem"
_FORWARDED = ("Content-Type", "Authorization", "X-Amz-Date", "X-Amz-Target", "X-Amz-Content-Sha256")


class NotSyntheticError(Exception):
    """A request that only a real table could answer."""


class SyntheticTable:
    """The first so many scores of one task, in the index's four partitions."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._shards = [array("I") for _ in range(_SHARDS)]
        for number in range(count):
            self._shards[shard_of(scores.completion_id(number))].append(number)

    def query(self, request: Mapping[str, Any]) -> Item:
        """Answer a ``Query`` of the index in its order of decision.

        Raises:
            NotSyntheticError: it asks for anything else, or filters by more than time.
        """
        if request.get("IndexName") != INDEX:
            raise NotSyntheticError(f"not a query of {INDEX}")
        given = request["ExpressionAttributeValues"].items()
        values = {name: value["S"] for name, value in given if "S" in value}
        task_id, _, shard = values[":partition"].rpartition("#")
        numbers = self._shards[int(shard)] if task_id == scores.TASK else array("I")
        start, end = 0, len(numbers)
        match request["KeyConditionExpression"]:
            case "#partition = :partition":
                pass
            case "#partition = :partition AND #sort BETWEEN :lowest AND :highest":
                start = bisect_left(numbers, values[":lowest"], key=scores.score_time)
                end = bisect_right(numbers, values[":highest"], key=scores.score_time)
            case other:
                raise NotSyntheticError(f"a condition that is not known: {other}")
        if "ExclusiveStartKey" in request:
            after = scores.number_of(request["ExclusiveStartKey"]["pk"]["S"])
            start = max(start, bisect_right(numbers, after))
        stop = min(end, start + min(request.get("Limit", _MOST_ENTRIES), _MOST_ENTRIES))
        entries = [scores.index_entry(number, int(shard)) for number in numbers[start:stop]]
        items = _filtered(entries, request.get("FilterExpression"), values)
        answer: Item = {"Items": items, "Count": len(items), "ScannedCount": len(entries)}
        if stop < end:
            names = ("score_shard", "score_time", "pk", "sk")
            answer["LastEvaluatedKey"] = {name: entries[-1][name] for name in names}
        return answer

    def get(self, key: Item) -> Item | None:
        """Return the item of a key; None where there is none."""
        number = scores.number_of(key["pk"]["S"])
        sort_key = key["sk"]["S"]
        if number >= self.count:
            return None
        if sort_key == CONTENT:
            return scores.content_item(number) if scores.has_text(number) else None
        if sort_key == scores.verdict_sort_key():
            return scores.verdict_item(number, shard_of(key["pk"]["S"]))
        return None

    def batch_get(self, request: Mapping[str, Any]) -> Item:
        """Answer a ``BatchGetItem`` of the one table.

        Raises:
            NotSyntheticError: it asks for another table, or for parts of items.
        """
        asked = request["RequestItems"]
        if set(asked) != {TABLE}:
            raise NotSyntheticError(f"not of {TABLE} alone: {sorted(asked)}")
        found = [item for key in asked[TABLE]["Keys"] if (item := self.get(key)) is not None]
        if expression := asked[TABLE].get("ProjectionExpression"):
            names = asked[TABLE].get("ExpressionAttributeNames", {})
            wanted = [names.get(name.strip(), name.strip()) for name in expression.split(",")]
            found = [{name: item[name] for name in wanted if name in item} for item in found]
        return {"Responses": {TABLE: found}, "UnprocessedKeys": {}}


def _filtered(entries: list[Item], expression: str | None, values: Mapping[str, str]) -> list[Item]:
    """Apply the filters that a range of time needs beside its key condition."""
    for condition in expression.split(" AND ") if expression else ():
        match condition:
            case "(#decided_at < :end OR #decided_at = :end_second)":
                end, whole = values[":end"], values[":end_second"]
                entries = [one for one in entries if _decided(one) < end or _decided(one) == whole]
            case "#decided_at <> :start_second":
                start = values[":start_second"]
                entries = [one for one in entries if _decided(one) != start]
            case other:
                raise NotSyntheticError(f"a filter that is not known: {other}")
    return entries


def _decided(entry: Item) -> str:
    decided: str = entry["decided_at"]["S"]
    return decided


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64
    table: SyntheticTable
    onward: str


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    # Headers and body would otherwise wait for each other's acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        """Say nothing: there are tens of thousands of requests."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = json.loads(body)
        target = self.headers[_TARGET]
        try:
            if target == _QUERY and request["TableName"] == TABLE:
                self._send(200, _encoded(self.server.table.query(request)))
            elif target == _BATCH_GET and TABLE in request["RequestItems"]:
                self._send(200, _encoded(self.server.table.batch_get(request)))
            else:
                self._send(*self._asked_onward(body))
        except NotSyntheticError as error:
            refusal = {"__type": "com.amazon.coral.validate#ValidationException"}
            self._send(400, _encoded({**refusal, "message": str(error)}))

    def _asked_onward(self, body: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.server.onward, timeout=60)
        try:
            headers = {name: self.headers[name] for name in _FORWARDED if name in self.headers}
            connection.request("POST", "/", body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _send(self, status: int, content: bytes) -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _encoded(answer: Item) -> bytes:
    return json.dumps(answer, separators=(",", ":")).encode()


def serve(*, count: int, onward: str, workers: int) -> None:
    """Print the address, and answer until the process is ended.

    Args:
        count: scores that there are.
        onward: URL of the endpoint that answers the rest.
        workers: processes that answer.
    """
    table = SyntheticTable(count)
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.table = table
        server.onward = urlsplit(onward).netloc
        print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
        children = []
        for _ in range(workers - 1):
            child = os.fork()
            if child == 0:
                server.serve_forever()
            children.append(child)
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
        server.serve_forever(poll_interval=0.1)
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def main() -> None:
    """Serve what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--onward", required=True)
    parser.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    serve(count=arguments.count, onward=arguments.onward, workers=arguments.workers)


if __name__ == "__main__":
    main()
