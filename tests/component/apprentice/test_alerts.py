"""What an operator should know of a task is told of."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune_platform.apprentice.examples.items import counts_key
from autotune_platform.apprentice.folding.models import Asked, DayCounts
from autotune_platform.apprentice.hosting.models import Hosting, Lacking
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.reporting.history import lately
from autotune_platform.apprentice.routing import Local
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.budgets.scopes import MoneyLimits
from autotune_platform.budgets.uses import ITEM, partition, task_scope
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.apprentice_folding import NOON, Apprentice
from tests.support.ledger import Ledger
from tests.support.platform import Platform
from tests.support.reported import UNCHECKED, alerts, ended, happened, now, read, stored


@pytest.fixture
def apprentice(platform: Platform, ledger: Ledger) -> Apprentice:
    return Apprentice(platform, ledger.connect())


def test_a_version_that_is_asked_and_whose_host_is_gone_is_told_of(
    apprentice: Apprentice,
) -> None:
    apprentice.add_version(1)  # it is asked by nobody beside the latest one in shadow
    apprentice.add_version(2)
    apprentice.add_version(3, state="retired", retired_at=NOON.isoformat())
    hostings, task = HostingRepository(apprentice.table), apprentice.task
    apprentice.table.put(
        {"pk": task.id, "sk": counts_key(task.definition_hash), "examples": 50, "task_id": task.id}
    )
    for number in (1, 2, 3):
        host = Hosting(
            name=f"small-{number}",
            kind="adapter",
            task_id=task.id,
            artifact="s3://models/one/model.tar.gz",
            base="base",
            idle_minutes=30,
            state="gone",
            error="lost",
            since=NOON,
            due_at=NOON,
        )
        assert hostings.add(host)
    status = read(apprentice, "status")
    assert alerts(status) == [("unhosted", 2)]
    assert f"{NOON:%Y-%m-%d %H:%M} UTC (lost)" in status["alerts"][0]["message"]


def test_a_version_whose_host_waits_for_an_instance_is_told_of(apprentice: Apprentice) -> None:
    apprentice.add_version(1)
    hostings, task = HostingRepository(apprentice.table), apprentice.task
    apprentice.table.put(
        {"pk": task.id, "sk": counts_key(task.definition_hash), "examples": 50, "task_id": task.id}
    )
    lacking = Lacking(
        since=NOON, rounds=1, lacks={"ml.g5.xlarge": "quota"}, next="ml.g5.xlarge", not_before=NOON
    )
    host = Hosting(
        name="small-1",
        kind="adapter",
        task_id=task.id,
        artifact="s3://models/one/model.tar.gz",
        base="base",
        idle_minutes=30,
        since=NOON,
        due_at=NOON,
    )
    base = {"name": "base", "kind": "base", "base": None, "state": "waiting", "lacking": lacking}
    assert hostings.add(host)
    assert hostings.add(host.model_copy(update=base))
    status = read(apprentice, "status")
    assert alerts(status) == [("unhosted", 1)]
    said = f"no instance since {NOON:%Y-%m-%d %H:%M} UTC (ml.g5.xlarge: quota)"
    assert said in status["alerts"][0]["message"]


def test_an_alarm_is_told_of_and_evidence_begins_anew(apprentice: Apprentice) -> None:
    apprentice.add_version(1)
    happened(apprentice, [ended(apprentice, one) for one in [1.0] * 100])
    after = now() + timedelta(seconds=1)
    happened(apprentice, [ended(apprentice, 0.0, ended_at=after) for _ in range(8)])
    happened(apprentice, [ended(apprentice, 0.7, ended_at=after) for _ in range(90)])

    [version] = read(apprentice, "status")["versions"]
    assert version["alarms"] >= 1
    assert version["stage"] == "shadow"
    since = version["pairs"] - version["alarmedAt"]
    assert version["agreement"]["pairs"] == since
    assert alerts(read(apprentice, "status"))[0] == ("alarm", 1)
    # The next time it takes more.
    assert version["agreement"]["evidenceNeeded"] > 40


def test_an_emergency_is_told_of(apprentice: Apprentice) -> None:
    apprentice.add_version(1)
    happened(apprentice, [ended(apprentice, 0.0) for _ in range(60)])

    status = read(apprentice, "status")
    assert (status["phase"], status["versions"][0]["stage"]) == (1, "out")
    assert alerts(status) == [("emergency", 1)]
    assert read(apprentice, "estimate")["prospect"] == "no_version"


def test_a_version_that_has_no_answer_is_told_of(apprentice: Apprentice) -> None:
    apprentice.add_version(1)
    silent = {"phase": 3, "local": Local.UNAVAILABLE, "local_fault": "unreachable"}
    happened(apprentice, [ended(apprentice, **silent) for _ in range(19)])
    assert alerts(read(apprentice, "status")) == []

    # One that waits is counted with its day, and once, however often it is heard of.
    waiting = apprentice.run(created_at=now(), **silent)
    happened(apprentice, [waiting])
    apprentice.follow()

    status = read(apprentice, "status")
    assert (status["today"]["asked"], status["today"]["silent"]) == (20, 20)
    assert alerts(status) == [("silent", None)]
    happened(apprentice, [ended(apprentice, **UNCHECKED) for _ in range(20)])
    assert alerts(read(apprentice, "status")) == []


def test_what_an_hour_has_says_more_than_a_day_does() -> None:
    at = datetime(2026, 11, 2, 0, 30, tzinfo=UTC)
    today = DayCounts("2026-11-02", hours={0: Asked(12, 12), 9: Asked(500, 0)})
    yesterday = DayCounts("2026-11-01", hours={23: Asked(9, 9), 22: Asked(500, 0)})

    assert lately([yesterday, today], at) == Asked(21, 21)
    assert lately([], at) == Asked()


def test_a_budget_that_is_nearly_used_is_told_of(apprentice: Apprentice) -> None:
    table = Table("budgets", clients.dynamodb())
    money = MoneyBudgets(table=table, outbox=Table("ledger", clients.dynamodb()))
    scope = task_scope(apprentice.organization_id, apprentice.task.id)
    money.set_limits(scope, MoneyLimits(day=1_000, month=100_000))
    assert money.reserve([scope], 850, lambda periods: [])

    status = read(apprentice, "status")
    day, week, month = status["spend"]["periods"]
    assert (day["limitNanoUsd"], day["spentNanoUsd"], day["reservedNanoUsd"]) == (1_000, 0, 850)
    assert (week["limitNanoUsd"], month["limitNanoUsd"]) == (None, 100_000)
    assert alerts(status) == [("budget", None)]
    assert "85 %" in status["alerts"][0]["message"]

    table.put({**(table.get(partition(scope), ITEM) or {}), "halted": "above_bound"})
    assert alerts(read(apprentice, "status")) == [("halted", None), ("budget", None)]


def test_a_stale_window_of_a_version_that_serves_is_told_of(apprentice: Apprentice) -> None:
    apprentice.add_version(1)
    old = now() - timedelta(days=8)
    happened(apprentice, [ended(apprentice, 1.0, created_at=old) for _ in range(100)])
    apprentice.add_version(1, canary_at=stored(apprentice).sequence)

    status = read(apprentice, "status")
    assert status["versions"][0]["sampling"] == {"rate": 1.0, "reason": "stale"}
    assert alerts(status) == [("stale", 1)]
