"""Many overdue batches: all are looked after, and no owner waits for all of another's."""

from datetime import UTC, datetime, timedelta
from time import sleep
from typing import Any

import pytest

from autotune_platform.completions.queues import ChunkQueues
from autotune_platform.runtime import clients
from autotune_platform.storage.due_index import DueIndex
from autotune_platform.storage.table import Page, Table
from functions.scoring import sweep_batches
from tests.support.graders import LoopbackGrader
from tests.support.lambdas import LambdaContext
from tests.support.platform import Platform

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MANY = 40


def index() -> tuple[Table, DueIndex]:
    table = Table("completions", clients.dynamodb())
    return table, DueIndex(table, sk="batch", index="openBatches", shards=4)


def open_for(owner: str, count: int, *, since: datetime) -> list[str]:
    """Open items of an owner, one due each second from some time on."""
    table, due = index()
    names = [f"bat_{owner}{number:03}" for number in range(count)]
    for number, pk in enumerate(names):
        due_at = since + timedelta(seconds=number)
        table.put_new(
            {"pk": pk, "sk": "batch", "organization_id": owner, **due.opened(pk, due_at)},
        )
    return names


def test_owners_take_turns(platform: Platform) -> None:
    many = open_for("a", 12, since=NOW)
    few = open_for("b", 2, since=NOW + timedelta(minutes=1))
    open_for("c", 1, since=NOW + timedelta(hours=2))  # not due yet
    _, due = index()
    found = due.due(NOW + timedelta(hours=1), limit=100)
    assert list(found) == [many[0], few[0], many[1], few[1], *many[2:]]


def test_every_page_of_every_shard_is_read(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = Table.query

    def short_pages(self: Table, partition: str, **options: Any) -> Page:
        return query(self, partition, **{**options, "limit": 2})

    monkeypatch.setattr(Table, "query", short_pages)
    names = open_for("a", 25, since=NOW)
    _, due = index()
    found = due.due(NOW + timedelta(hours=1), limit=100)
    assert list(found) == names
    assert found[names[0]] == NOW


def test_of_each_shard_the_longest_due_are_known(platform: Platform) -> None:
    names = open_for("a", 40, since=NOW)
    _, due = index()
    found = list(due.due(NOW + timedelta(hours=1), limit=3))
    assert len(found) == 12
    assert found[0] == names[0]
    assert found == sorted(found)


def test_parts_share_everything(platform: Platform) -> None:
    names = open_for("a", 40, since=NOW)
    _, due = index()
    found = [due.due(NOW + timedelta(hours=1), limit=100, part=part, parts=3) for part in range(3)]
    assert all(found)
    assert sorted(name for one in found for name in one) == names


@pytest.fixture
def lost(platform: Platform, grader: LoopbackGrader, due_at_once: None) -> list[str]:
    """Have batches whose messages are lost."""
    task_id = platform.new_task(platform.new_grader(grader))
    made = [platform.submit(task_id, {}).json["batchId"] for _ in range(MANY)]
    while platform.queued():
        pass
    return made


def test_one_sweep_redrives_all_that_is_lost(platform: Platform, lost: list[str]) -> None:
    assert platform.operate("sweep_batches")["redriven"] == len(lost)
    platform.score_everything()
    assert {platform.batch(id_)["counts"]["scored"] for id_ in lost} == {1}


def test_what_a_sweep_queues_itself_postpones_nothing_beside_it(
    platform: Platform, lost: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    backlog = ChunkQueues.backlog
    others = iter(range(1, 9))

    def slower_for_each(self: ChunkQueues, *of: Any) -> datetime | None:
        sleep(next(others) / 10)
        return backlog(self, *of)

    monkeypatch.setattr(ChunkQueues, "backlog", slower_for_each)
    assert platform.operate("sweep_batches")["redriven"] == len(lost)
    assert next(others) == 2


def test_a_sweep_ends_in_time_and_leaves_the_rest_to_the_next(
    platform: Platform, lost: list[str]
) -> None:
    report = sweep_batches.lambda_handler({}, LambdaContext(seconds=5))
    assert set(report.values()) == {0}
    assert platform.operate("sweep_batches")["redriven"] == len(lost)
