"""Counts what the functions ask of AWS, on the wire between them and the emulator.

Nothing of the product takes part in the counting: a proxy sees each HTTP request that any function,
or any client of the API, makes of MiniStack. Write units are what MiniStack says a write consumed,
indexes and transactions included; it says so because the proxy asks it to in each request, and the
answer reaches the function without it. Read units follow from the sizes of the items that come
back, because MiniStack rates each read as the smallest.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Self

from local.proxy import Connection, LoopbackProxy, Message

_SERVICE = re.compile(r"Credential=[^/]+/\d{8}/[^/]+/([a-z0-9-]+)/aws4_request")
_API_PATH = re.compile(r"^[A-Z]+ \S*/_aws/execute-api/")
TABLES = (
    "Registry",
    "Completions",
    "Deliveries",
    "Budgets",
    "Ledger",
    "Decks",
    "Apprentice",
    "Audit",
)
_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"})
_READ_UNIT_BYTES = 4_096
_SQS_REQUEST_BYTES = 65_536
_API_REQUEST_BYTES = 524_288


@dataclass
class Counted:
    """What was asked of AWS.

    Attributes:
        calls: requests by service and operation, such as ``dynamodb.PutItem``.
        writes: write units by table, and by table and index.
        half_reads: halves of a read unit by table; one is what an eventually consistent read costs.
        api_units: requests of the HTTP API as they are billed, in steps of 512 KB.
        queue_units: requests of SQS as they are billed, in steps of 64 KB.
    """

    calls: Counter[str] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    half_reads: Counter[str] = field(default_factory=Counter)
    api_units: int = 0
    queue_units: int = 0

    def since(self, before: Self) -> "Counted":
        """Return what was added after an earlier moment."""
        return Counted(
            calls=self.calls - before.calls,
            writes=self.writes - before.writes,
            half_reads=self.half_reads - before.half_reads,
            api_units=self.api_units - before.api_units,
            queue_units=self.queue_units - before.queue_units,
        )


class CountingProxy(LoopbackProxy):
    """Passes everything on to MiniStack, and counts it."""

    def __init__(self, upstream: Callable[[], int | None]) -> None:
        super().__init__(upstream)
        self._counted = Counted()
        self._lock = Lock()

    def counted(self) -> Counted:
        """Return a copy of what was counted so far."""
        with self._lock:
            return Counted(
                calls=self._counted.calls.copy(),
                writes=self._counted.writes.copy(),
                half_reads=self._counted.half_reads.copy(),
                api_units=self._counted.api_units,
                queue_units=self._counted.queue_units,
            )

    def calls(self) -> int:
        """Return how many requests came so far."""
        with self._lock:
            return self._counted.calls.total()

    async def answer(self, request: Message, behind: Connection) -> Message:
        """Pass a request on and count it."""
        if _API_PATH.match(request.start):
            response = await self.pass_on(request, behind)
            with self._lock:
                self._counted.calls["execute-api.Request"] += 1
                self._counted.api_units += steps(len(request.body), _API_REQUEST_BYTES)
            return response
        service = _service_of(request)
        if service == "dynamodb":
            return await self._dynamodb(request, behind)
        response = await self.pass_on(request, behind)
        with self._lock:
            operation = request.operation or request.start.partition(" ")[0]
            self._counted.calls[f"{service}.{operation}"] += 1
            if service == "sqs":
                self._counted.queue_units += steps(len(request.body), _SQS_REQUEST_BYTES)
        return response

    async def _dynamodb(self, request: Message, behind: Connection) -> Message:
        asked = json.loads(request.body)
        request.body = json.dumps({**asked, "ReturnConsumedCapacity": "INDEXES"}).encode()
        response = await self.pass_on(request, behind)
        # Its checksum would no longer fit; clients need none.
        response.headers.pop("x-amz-crc32", None)
        said = json.loads(response.body)
        consumed = said.pop("ConsumedCapacity", None)
        response.body = json.dumps(said, ensure_ascii=False).encode()
        with self._lock:
            self._counted.calls[f"dynamodb.{request.operation}"] += 1
            if request.operation in _WRITES:
                self._counted.writes.update(
                    written(consumed) if consumed else refused(request.operation, asked)
                )
            else:
                self._counted.half_reads.update(read(request.operation, asked, said))
        return response


def written(consumed: Any) -> Counter[str]:
    """Return write units by table and index, of a ``ConsumedCapacity`` or a list of them."""
    units: Counter[str] = Counter()
    for one in consumed if isinstance(consumed, list) else [consumed]:
        table = _logical(one["TableName"])
        indexes = one.get("GlobalSecondaryIndexes", {})
        for name, index in indexes.items():
            units[f"{table}/{name}"] += round(index["CapacityUnits"])
        of_indexes = sum(each["CapacityUnits"] for each in indexes.values())
        units[table] += round(one["CapacityUnits"] - of_indexes)
    return units


def refused(operation: str, asked: Mapping[str, Any]) -> Counter[str]:
    """Return write units of a write whose condition did not hold: they are consumed all the same.

    Those of an update go by the item that is there, which the request does not tell: one unit.
    """
    if operation == "TransactWriteItems":
        names = [_logical(next(iter(one.values()))["TableName"]) for one in asked["TransactItems"]]
        return Counter({name: 2 * names.count(name) for name in names})
    size = item_bytes(asked["Item"]) if "Item" in asked else 1
    return Counter({_logical(asked["TableName"]): steps(size, 1_024)})


def read(operation: str, asked: Mapping[str, Any], said: Mapping[str, Any]) -> Counter[str]:
    """Return halves of read units by table; what is missing costs as the smallest item."""
    units: Counter[str] = Counter()
    if operation == "BatchGetItem":
        for name, wanted in asked["RequestItems"].items():
            found = said.get("Responses", {}).get(name, [])
            missing = len(wanted["Keys"]) - len(found)
            sizes = [*map(item_bytes, found), *[0] * missing]
            units[_logical(name)] += _halves(sizes, strongly=wanted.get("ConsistentRead"))
    elif operation == "Query":
        # The items of a page are measured together.
        size = sum(map(item_bytes, said.get("Items", [])))
        units[_logical(asked["TableName"])] += _halves([size], strongly=asked.get("ConsistentRead"))
    elif operation == "GetItem":
        size = item_bytes(said.get("Item", {}))
        units[_logical(asked["TableName"])] += _halves([size], strongly=asked.get("ConsistentRead"))
    return units


def _halves(sizes: Iterable[int], *, strongly: bool | None) -> int:
    return sum(steps(size, _READ_UNIT_BYTES) for size in sizes) * (2 if strongly else 1)


def steps(size: int, step: int) -> int:
    """Return how many units a size is billed as; nothing is billed as one."""
    return max(1, math.ceil(size / step))


def item_bytes(item: Mapping[str, Any]) -> int:
    """Return an item's size as DynamoDB counts it, within a few bytes.

    Source: "DynamoDB item sizes and formats" in the developer guide.
    """
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    if kind == "S":
        return len(content.encode())
    if kind == "N":
        return math.ceil(len(content.strip("-0.")) / 2) + 1
    if kind == "B":
        return len(content) * 3 // 4
    if kind == "L":
        return 3 + sum(1 + _value_bytes(each) for each in content)
    if kind == "M":
        return 3 + sum(
            1 + len(name.encode()) + _value_bytes(each) for name, each in content.items()
        )
    return 1


def _service_of(request: Message) -> str:
    signed = _SERVICE.search(request.headers.get("authorization", ""))
    return signed[1] if signed else "unsigned"


def _logical(table: str) -> str:
    """Return the name that the app gives a table."""
    return next((name for name in TABLES if name in table), table)
