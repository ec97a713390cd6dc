"""``python -m tests.support.reserving``: one of several processes that reserve money at once.

Each reservation is stored with its attempt, in one transaction. What it pays goes on a bill of its
own, which is no budget: one addition before the money is settled. Some of the attempts die where
asked, as a killed worker does; ``sweep`` charges those in full after their deadline, marked
``assumed``. The clock turns within the storm: midnight, a week and a month.
"""

import argparse
import json
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import boto3
from botocore.config import Config

from autotune_platform.budgets.money import MoneyBudgets, Reserved
from autotune_platform.budgets.uses import task_scope
from autotune_platform.runtime.clock import Clock
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Item, Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ORGANIZATION = "org_00000000000000000000000000"
TASK = task_scope(ORGANIZATION, "triage")
SCOPES = (TASK, ORGANIZATION)
BEFORE_ALL_TURN = datetime(2026, 5, 31, 23, 59, tzinfo=UTC)
"""A Sunday that ends a week and a month."""

AT_ONCE = 25
_TRIED_SECONDS = 120
_DEADLINE_SECONDS = 20
"""Longer than an attempt takes that is not killed, as it is for the ledger's calls."""


class Turning(Clock):
    """A clock that stands, until midnight passes: once a file is there."""

    def __init__(self, midnight: Path) -> None:
        self._midnight = midnight

    def now(self) -> datetime:
        passed = timedelta(minutes=2) if self._midnight.exists() else timedelta(0)
        return BEFORE_ALL_TURN + passed


def client_of(endpoint: str) -> "DynamoDBClient":
    """Return a client of a local DynamoDB for many threads."""
    session = boto3.Session("test", "test", region_name="us-east-1")
    config = Config(proxies={}, max_pool_connections=AT_ONCE, read_timeout=60)
    return session.client("dynamodb", endpoint_url=endpoint, config=config)


class Attempts:
    """Attempts with their reservations, and what they paid, beside a budget in one table."""

    def __init__(self, table: str, endpoint: str, clock: Clock) -> None:
        self.table = Table(table, client_of(endpoint))
        self.money = MoneyBudgets(
            table=self.table, outbox=self.table, clock=clock, tried_seconds=_TRIED_SECONDS
        )

    def reserve(self, attempt: str, bound: int) -> Reserved | None:
        """Reserve for a new attempt; None where there is no room."""

        def what_for(periods: list[str]) -> list[Addition]:
            stored = {"periods": periods, "lost_at": str(time.time() + _DEADLINE_SECONDS)}
            return [self._attempt(attempt, {**stored, "status": "reserved"}, None)]

        reserved = self.money.reserve(SCOPES, bound, what_for)
        return reserved if isinstance(reserved, Reserved) else None

    def pay(self, periods: list[str], amount: int) -> None:
        """Put on the provider's bill what an attempt of these periods costs."""
        numbers = {f"paid#{name}": amount for name in periods}
        self._until(lambda: self.table.add_together([self._of("bill", numbers=numbers)]))

    def settle(
        self, attempt: str, periods: list[str], *, bound: int, spent: int, assumed: bool = False
    ) -> bool:
        """Settle an attempt once; return whether it was this time."""
        settled = {"status": "settled", **({"assumed": True} if assumed else {})}
        additions = [
            self._attempt(attempt, settled, "reserved"),
            *self.money.settlement(SCOPES, periods, reserved=bound, spent=spent),
        ]
        return self._until(lambda: self.table.add_together(additions) or self.is_settled(attempt))

    def is_settled(self, attempt: str) -> bool:
        return (self.table.get(attempt, "state") or {}).get("status") == "settled"

    def lost(self, attempts: list[str]) -> Iterator[Item]:
        """Yield attempts that are behind their deadline and not settled."""
        for item in self.table.get_many((one, "state") for one in attempts).values():
            if item["status"] == "reserved" and float(item["lost_at"]) < time.time():
                yield item

    def _attempt(self, pk: str, changes: dict[str, Any], status: str | None) -> Addition:
        return self._of(pk, changes=changes, only_if={"status": status})

    def _of(self, pk: str, **fields: Any) -> Addition:
        return Addition(table=self.table.name, pk=pk, sk="state", **fields)

    def _until(self, write: Callable[[], bool]) -> bool:
        while not write():
            pause()
        return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("endpoint")
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--bound", type=int, required=True)
    parser.add_argument("--spent", type=int, required=True, help="of what each has reserved")
    parser.add_argument("--midnight", type=Path, help="a file: once it is there, midnight passed")
    parser.add_argument("--killed", type=float, default=0, help="share of attempts that die")
    asked = parser.parse_args()
    attempts = Attempts(asked.table, asked.endpoint, Turning(asked.midnight))

    def one(_: int) -> list[Any]:
        return storm(attempts, asked.bound, asked.spent, asked.killed)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(one, range(asked.count)))
    print(json.dumps(found))


def storm(attempts: Attempts, bound: int, spent: int, killed: float) -> list[Any]:
    """Make one attempt; return its id, its day where it was admitted, and what became of it."""
    attempt = f"attempt#{uuid4().hex}"
    while (reserved := attempts.reserve(attempt, bound)) is None:
        use = attempts.money.uses(ORGANIZATION)[0]
        assert use.room is not None
        if use.room < bound and not use.reserved:
            return [attempt, None, "refused"]
        pause()
    # Half of those that die have paid by then.
    dies = random.random() < killed
    if not dies or random.random() < 0.5:
        attempts.pay(reserved.periods, spent)
    if dies:
        return [attempt, reserved.periods[0], "killed"]
    attempts.settle(attempt, reserved.periods, bound=bound, spent=spent)
    return [attempt, reserved.periods[0], "settled"]


def pause() -> None:
    time.sleep(random.uniform(0, 0.05))


if __name__ == "__main__":
    main()
