"""``python -m tests.support.reserving``: one of several processes that reserve money at once.

It prints how many of its reservations were admitted, and the most that it saw spent and reserved.
"""

import argparse
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import boto3
from botocore.config import Config

from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.runtime.clock import Clock
from autotune_platform.storage.table import Table

ORGANIZATION = "org_00000000000000000000000000"
AT_ONCE = 25


class Standing(Clock):
    """A clock that stands, so that no period ends meanwhile."""

    def now(self) -> datetime:
        return datetime(2026, 12, 15, 12, tzinfo=UTC)


def money_in(table: str, endpoint: str) -> MoneyBudgets:
    session = boto3.Session("test", "test", region_name="us-east-1")
    config = Config(proxies={}, max_pool_connections=AT_ONCE, read_timeout=60)
    client = session.client("dynamodb", endpoint_url=endpoint, config=config)
    return MoneyBudgets(
        table=Table(table, client), outbox=Table("ledger", client), clock=Standing()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("endpoint")
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--bound", type=int, required=True)
    parser.add_argument("--spent", type=int, required=True, help="of what each has reserved")
    asked = parser.parse_args()
    money = money_in(asked.table, asked.endpoint)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(
            pool.map(lambda _: reserve(money, asked.bound, asked.spent), range(asked.count))
        )
    seen = [most for _, most in found]
    print(json.dumps({"admitted": sum(admitted for admitted, _ in found), "most": max(seen)}))


def reserve(money: MoneyBudgets, bound: int, spent: int) -> tuple[bool, int]:
    """Reserve and settle once; give up where no room is left and none can come back."""
    most = 0
    while True:
        reservation = money.reservation(ORGANIZATION, bound)
        admitted = money.table.add_together(reservation.additions)
        day = next(use for use in money.uses(ORGANIZATION) if use.period == "day")
        most = max(most, day.spent + day.reserved)
        if admitted:
            settlement: Any = money.settlement(
                ORGANIZATION, reservation.periods, reserved=bound, spent=spent
            )
            while not money.table.add_together(settlement):
                _pause()
            return True, most
        assert day.room is not None
        if day.room < bound and not day.reserved:
            return False, most
        _pause()


def _pause() -> None:
    time.sleep(random.uniform(0, 0.05))


if __name__ == "__main__":
    main()
