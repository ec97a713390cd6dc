"""A table's stream with many shards, followed as Lambda does, and a DynamoDB in which rivals fail.

Records are real ones, spread over shards by their partition key. Each shard has a consumer of its
own: a thread with the parts of one process. Two transactions on one item at the same time end as in
DynamoDB: the second is refused, and billed.
"""

import hashlib
import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any, Self

from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.projections import ProjectionEnvironment
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.wiring.projections import ProjectionParts
from benchmarks.boundary import item_bytes, steps

Record = dict[str, Any]
_ItemKey = tuple[str, str, str]

_INVOCATIONS = 11
"""How often Lambda tries a batch of records at most."""


@dataclass
class Bill:
    """What consumers wrote: units of the projection's own items, without those of deliveries."""

    units: int = 0
    transactions: int = 0
    refused: int = 0


@dataclass
class Rivalry:
    """Refuses transactions that meet on an item, and counts the units of all of them.

    Attributes:
        seconds: how long a transaction takes at least.
    """

    seconds: float = 0.003
    bill: Bill = field(default_factory=Bill)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _written: set[_ItemKey] = field(default_factory=set)
    _mine: threading.local = field(default_factory=threading.local)

    @contextmanager
    def installed(self) -> Iterator["Rivalry"]:
        """See every call that this process makes of DynamoDB."""
        events = clients.dynamodb().meta.events
        listeners = {"before-call.dynamodb": self._begin, "after-call.dynamodb": self._end}
        for name, listener in listeners.items():
            events.register(name, listener)
        try:
            yield self
        finally:
            for name, listener in listeners.items():
                events.unregister(name, listener)

    def _begin(self, model: Any, params: Any, **_: Any) -> Any:
        if model.name == "UpdateItem":
            self._bill_closing(json.loads(params["body"]))
        if model.name != "TransactWriteItems":
            return None
        updates = [one["Update"] for one in json.loads(params["body"])["TransactItems"]]
        keys = [_key(update) for update in updates]
        with self._lock:
            self.bill.transactions += 1
            met = [key in self._written for key in keys]
            if not any(met):
                self._written.update(keys)
                self._mine.keys = keys
        if any(met):
            units = 2 * sum(map(_units, updates))
            with self._lock:
                self.bill.refused += 1
                self.bill.units += units
            return _conflict(met)
        time.sleep(self.seconds)
        return None

    def _end(self, model: Any, **_: Any) -> None:
        keys = getattr(self._mine, "keys", None)
        if model.name != "TransactWriteItems" or not keys:
            return
        self._mine.keys = None
        units = 2 * sum(_units({"TableName": table, "Key": _wire(*key)}) for table, *key in keys)
        with self._lock:
            self._written.difference_update(keys)
            self.bill.units += units

    def _bill_closing(self, update: dict[str, Any]) -> None:
        if update["Key"]["sk"]["S"] == "batch":
            units = _units(update) + 1  # its entry in the index of open batches goes
            with self._lock:
                self.bill.units += units


def _key(update: dict[str, Any]) -> _ItemKey:
    return update["TableName"], update["Key"]["pk"]["S"], update["Key"]["sk"]["S"]


def _wire(pk: str, sk: str) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def _units(written: dict[str, Any]) -> int:
    item = clients.dynamodb().get_item(TableName=written["TableName"], Key=written["Key"])
    return steps(item_bytes(item.get("Item", {})), 1_024)


def _conflict(met: Sequence[bool]) -> tuple[Any, dict[str, Any]]:
    reasons = [{"Code": "TransactionConflict" if each else "None"} for each in met]
    code = "TransactionCanceledException"
    parsed = {"Error": {"Code": code, "Message": "modelled"}, "CancellationReasons": reasons}
    return SimpleNamespace(status_code=400, headers={}), {**parsed, "ResponseMetadata": {}}


class ShardedStream:
    """Shards, each with a consumer whose process, of one thread, lives on between deliveries."""

    def __init__(self, shards: int, *, seed: int = 1) -> None:
        self._consumers = [ProjectionParts(ProjectionEnvironment.parse()) for _ in range(shards)]
        self._threads = [ThreadPoolExecutor(1) for _ in range(shards)]
        self._seed = seed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for thread in self._threads:
            thread.shutdown()

    def deliver(self, records: Sequence[Record]) -> None:
        """Deliver records at least once: in order in a shard, and in any order between shards."""
        shards: dict[int, list[Record]] = defaultdict(list)
        for record in records:
            digest = hashlib.sha256(record["dynamodb"]["Keys"]["pk"]["S"].encode()).digest()
            shards[int.from_bytes(digest[:4], "big") % len(self._consumers)].append(record)
        done = [
            self._threads[shard].submit(self._follow, shard, some) for shard, some in shards.items()
        ]
        for one in done:
            one.result()

    def _follow(self, shard: int, records: Sequence[Record]) -> None:
        dice = Random(f"{self._seed} {shard}")
        for record in records:
            # As where consumers keep up: each record comes by itself, and some come again.
            for _ in range(dice.choice([1, 1, 2])):
                self._invoke(self._consumers[shard], [record])

    @staticmethod
    def _invoke(consumer: ProjectionParts, records: Sequence[Record]) -> None:
        for attempt in range(_INVOCATIONS):
            try:
                consumer.verdict_router.route(records)
            except UnavailableError:
                if attempt == _INVOCATIONS - 1:
                    raise
            else:
                return
