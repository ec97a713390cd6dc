"""Four processes reserve of two budgets at once: never more than a limit, and nearly all of it."""

import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest

from autotune_platform.budgets.scopes import COMMITTED, SPENT, MoneyLimits
from autotune_platform.storage.item_format import item_from_wire
from local.records import LocalProfile
from tests.support.reserving import SCOPES, Attempts, Turning

PROCESSES, EACH = 4, 125
BOUND = 1_000_000
LIMIT = BOUND * 100 + BOUND // 2
_MOST_SECONDS = 300
_UNTIL_MIDNIGHT = 40


@pytest.fixture
def table(profile: LocalProfile) -> str:
    """A table like that of budgets, which nothing else uses."""
    session = boto3.Session("test", "test", region_name="us-east-1")
    client = session.client("dynamodb", endpoint_url=profile.aws_endpoint_url)
    name = f"reservations-{uuid4().hex}"
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in ("pk", "sk")],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    )
    return name


@dataclass
class Watch:
    """Looks at bill and budgets while they are used, and charges what was lost."""

    attempts: Attempts
    looks: int = 0
    wrong: list[str] = field(default_factory=list)

    def look(self) -> None:
        """Require of each period, at this moment: bill ≤ committed ≤ limit."""
        # In this order: what is on the bill is committed until it is settled, and then spent.
        bill = self.attempts.table.get("bill", "state") or {}
        for scope in SCOPES:
            numbers = self.attempts.money.standing(scope).numbers
            for name, committed in numbers.items():
                kind, _, of = name.partition("#")
                paid = bill.get(f"paid#{of}", 0)
                if f"{kind}#" == COMMITTED and not paid <= committed <= LIMIT:
                    self.wrong.append(f"{scope} {of}: {paid} paid, {committed} committed")
        self.looks += 1

    def sweep(self) -> None:
        """Charge what was lost in full, after its deadline."""
        ids = [one["pk"] for one in self.all() if one["status"] == "reserved"]
        for lost in self.attempts.lost(ids):
            self.attempts.settle(
                lost["pk"], lost["periods"], bound=BOUND, spent=BOUND, assumed=True
            )

    def is_anything_open(self) -> bool:
        return any(one["status"] == "reserved" for one in self.all())

    def all(self) -> Iterator[dict[str, Any]]:
        """Yield every attempt that is stored."""
        pages = self.attempts.table._client.get_paginator("scan")
        for page in pages.paginate(TableName=self.attempts.table.name, ConsistentRead=True):
            for one in map(item_from_wire, page["Items"]):
                if one["pk"].startswith("attempt#"):
                    yield one


@pytest.mark.parametrize(
    ("share", "killed", "turns", "least", "most"),
    [
        pytest.param(1.0, 0.0, False, 100, 100, id="actual-is-the-bound"),
        # At least 95 percent of the limit is used, and 250 of these are the whole of it.
        pytest.param(0.4, 0.0, False, 239, 251, id="actual-is-less"),
        pytest.param(1.0, 0.2, False, 100, 100, id="workers-are-killed"),
        pytest.param(0.4, 0.2, True, 100, 502, id="workers-are-killed-at-midnight"),
    ],
)
def test_five_hundred_reservations_of_four_processes_overspend_nothing(
    profile: LocalProfile,
    table: str,
    tmp_path: Path,
    share: float,
    killed: float,
    turns: bool,
    least: int,
    most: int,
) -> None:
    # Once it is there, midnight of a day, a week and a month has passed.
    midnight = tmp_path / "midnight"
    watch = Watch(Attempts(table, profile.aws_endpoint_url, Turning(midnight)))
    for scope in SCOPES:
        limits = MoneyLimits(day=LIMIT, week=LIMIT, month=LIMIT)
        watch.attempts.money.set_limits(scope, limits)
    spent = round(BOUND * share)
    command = [
        *[sys.executable, "-m", "tests.support.reserving", table, profile.aws_endpoint_url],
        *["--count", str(EACH), "--bound", str(BOUND), "--spent", str(spent)],
        *["--killed", str(killed), "--midnight", str(midnight)],
    ]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]
    try:
        deadline = time.monotonic() + _MOST_SECONDS
        while any(process.poll() is None for process in running):
            assert time.monotonic() < deadline, "the storm does not end"
            watch.look()
            watch.sweep()
            if turns and len(list(watch.all())) >= _UNTIL_MIDNIGHT:
                midnight.touch()
            time.sleep(0.1)
    finally:
        for process in running:
            process.kill()
    outputs = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0] * PROCESSES
    while watch.is_anything_open():
        assert time.monotonic() < deadline, "what was lost is not charged"
        watch.sweep()
        time.sleep(0.5)
    watch.look()
    assert watch.wrong == []
    assert watch.looks > 5
    told = [one for output in outputs for one in json.loads(output)]
    assert len(told) == PROCESSES * EACH
    admitted = [one for one in told if one[2] != "refused"]
    assert least <= len(admitted) <= most
    ends = Counter(end for _, _, end in told)
    assumed = sum(one.get("assumed", False) for one in watch.all())
    assert assumed >= ends["killed"]
    assert bool(ends["killed"]) == bool(killed)
    stored = {one["pk"]: one for one in watch.all()}
    assert set(stored) == {attempt for attempt, *_ in admitted}
    assert {one["status"] for one in stored.values()} == {"settled"}
    # Each is in the periods that it was reserved in, at what it cost.
    costs: dict[str, int] = defaultdict(int)
    for one in stored.values():
        for name in one["periods"]:
            costs[name] += BOUND if one.get("assumed") else spent
    for scope in SCOPES:
        numbers = watch.attempts.money.standing(scope).numbers
        assert {name: numbers[f"{SPENT}{name}"] for name in costs} == costs
        assert {name: numbers[f"{COMMITTED}{name}"] for name in costs} == costs
    if turns:
        assert set(costs) == {
            "2026-05-31",
            "2026-W22",
            "2026-05",
            "2026-06-01",
            "2026-W23",
            "2026-06",
        }
