"""Four processes reserve of one budget at once: never more than the limit, and nearly all of it."""

import json
import subprocess
import sys
from uuid import uuid4

import boto3
import pytest

from autotune_platform.budgets.money import MoneyLimits
from local.records import LocalProfile
from tests.support.reserving import ORGANIZATION, money_in

PROCESSES, EACH = 4, 125
BOUND = 1_000_000
LIMIT = BOUND * 100 + BOUND // 2


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


@pytest.mark.parametrize(("share", "least", "most"), [(1.0, 100, 100), (0.4, 238, 251)])
def test_five_hundred_reservations_of_four_processes_overspend_nothing(
    profile: LocalProfile, table: str, share: float, least: int, most: int
) -> None:
    money = money_in(table, profile.aws_endpoint_url)
    money.set_limits(ORGANIZATION, MoneyLimits(day=LIMIT))
    spent = round(BOUND * share)
    command = [
        *[sys.executable, "-m", "tests.support.reserving", table, profile.aws_endpoint_url],
        *["--count", str(EACH), "--bound", str(BOUND), "--spent", str(spent)],
    ]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]
    outputs = [process.communicate(timeout=300)[0] for process in running]
    assert [process.returncode for process in running] == [0] * PROCESSES
    told = [json.loads(output) for output in outputs]
    admitted = sum(one["admitted"] for one in told)
    # At 0.4 of the bound, at least 95 percent of the limit is used.
    assert least <= admitted <= most
    assert max(one["most"] for one in told) <= LIMIT
    (day,) = [use for use in money.uses(ORGANIZATION) if use.period == "day"]
    assert (day.spent, day.reserved) == (admitted * spent, 0)
