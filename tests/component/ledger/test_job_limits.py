"""Limits of a connection's jobs: never exceeded, waited for in sight, and given back once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any
from unittest.mock import patch

import boto3
import pytest

from autotune.protocol.ids import new_id
from autotune_platform.ledger.admission import JobAdmission
from autotune_platform.ledger.connections import pause
from autotune_platform.ledger.creations import CreationRepository
from autotune_platform.ledger.job_limits import OwnLimits, limits_of
from autotune_platform.ledger.jobs.gemini import GeminiJobs
from autotune_platform.ledger.jobs.openai import OpenAiJobs
from autotune_platform.ledger.models import Batch
from autotune_platform.storage.table import Table
from tests.component.ledger.test_connections_changing import service
from tests.component.ledger.test_jobs import MODELS, assert_paid_once, connect, enqueue, read_all
from tests.component.ledger.test_jobs_killed import KilledError, Killer
from tests.support.ledger import Ledger, later, row

HOUR = 3_600
LITE = "gemini-2.5-flash-lite"


def live_counts(connection: str) -> dict[str, int]:
    """What is counted of a connection's jobs, where it is not 0."""
    items = boto3.client("dynamodb").scan(TableName="ledger", ConsistentRead=True)["Items"]
    counts: dict[str, int] = {}
    for one in items:
        if one["pk"]["S"] == f"live#{connection}":
            counts |= {name: int(one[name]["N"]) for name in ("jobs", "rows") if name in one}
            if "tokens" in one:
                counts[one["sk"]["S"]] = int(one["tokens"]["N"])
    return {name: count for name, count in counts.items() if count}


def stored(batch_id: str) -> dict[str, Any]:
    key = {"pk": {"S": batch_id}, "sk": {"S": "state"}}
    found: dict[str, Any] = boto3.client("dynamodb").get_item(TableName="ledger", Key=key)["Item"]
    return found


def connection_of(ledger: Ledger) -> str:
    found: str = ledger.batches()[0]["connectionId"]
    return found


def limit(ledger: Ledger, connection: str, **limits: Any) -> None:
    path = f"/api/v1/llm-connections/{connection}"
    answer = ledger.platform.call("PATCH", path, {"limits": limits})
    assert answer.status == 200, answer.text


def wait(ledger: Ledger, *, hours: float) -> None:
    with pytest.raises(AssertionError, match="rows are under way"):
        ledger.run_jobs(hours=hours)


def two_models(ledger: Ledger, **fields: Any) -> tuple[str, list[str]]:
    """Rows for two models of Gemini, each of which makes a job of its own."""
    prices = {"batchInputUsd": "0.15", "batchOutputUsd": "1.25", "inputUsd": "1", "outputUsd": "2"}
    ledger.fake.world.prices.add("gemini", LITE, (0.3, 0.3, 2.5))
    models = (MODELS["gemini"], LITE)
    connection = ledger.connect(
        provider="gemini",
        baseUrl=ledger.fake.base_url,
        prices=dict.fromkeys(models, prices),
        **fields,
    )
    ids = [
        one
        for model in models
        for one in ledger.enqueue(connection, *(f"q {n}" for n in range(3)), model=model)
    ]
    return connection, ids


def admission() -> JobAdmission:
    work = import_module("functions.ledger.work_batch").parts().batch_work
    found: JobAdmission = work.builder.admission
    return found


def stored_batch(**fields: Any) -> Batch:
    """A batch that is being made, in the table."""
    batch = Batch(
        id=new_id("lbt"),
        organization_id="org_1",
        connection_id="llc_1",
        provider="openai",
        model="m",
        mode="job",
        rows=10,
        input_tokens=100,
        reserved_nano_usd=0,
        created_at=datetime.now(UTC),
        **fields,
    )
    batches = admission().batches
    opening = batches.opening(batch, due_at=batch.created_at)
    assert batches.try_write([opening])
    return batch


@pytest.mark.parametrize(
    ("own", "name"),
    [
        ({"open_jobs": 3}, "openJobs"),
        ({"enqueued_rows": 35}, "enqueuedRows"),
        ({"enqueued_tokens": {"m": 399, "other": 1_000}}, "enqueuedTokens"),
    ],
)
def test_executions_at_once_leave_no_limit_behind(
    ledger: Ledger, own: dict[str, Any], name: str
) -> None:
    assert ledger.platform  # its tables
    limits = limits_of("openai", OwnLimits(**own))
    several = [stored_batch() for _ in range(8)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda one: admission().admit(one, limits), several))
    assert sorted(filter(None, found)) == [name] * 5
    assert live_counts("llc_1") == {"jobs": 3, "rows": 30, "model#m": 300}


def test_a_count_that_was_read_too_early_is_not_written(ledger: Ledger) -> None:
    assert ledger.platform
    limits = limits_of("openai", OwnLimits(open_jobs=1))
    first, second = stored_batch(), stored_batch()
    both = admission()
    for one, expected in ((first, True), (second, False)):
        assert both.live.short_of(first, limits) == (None if one is first else "openJobs")
        additions = [both.batches.counted(one), *both.live.more(one, limits)]
        assert both.batches.try_write(additions) is expected
    assert live_counts("llc_1") == {"jobs": 1, "rows": 10, "model#m": 100}


def test_a_batch_is_counted_once_however_often_it_is_tried(ledger: Ledger) -> None:
    assert ledger.platform
    batch = stored_batch()
    limits = limits_of("openai", OwnLimits(open_jobs=5))
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda _: admission().admit(batch, limits), range(4))) == {None}
    assert live_counts("llc_1") == {"jobs": 1, "rows": 10, "model#m": 100}


def test_no_hour_has_more_creations_than_it_may(ledger: Ledger) -> None:
    assert ledger.platform
    creations: CreationRepository = (
        import_module("functions.ledger.work_batch").parts().llm_creations
    )
    batch = stored_batch()
    now = datetime(2026, 11, 24, 10, 4, 59, tzinfo=UTC)
    made: list[datetime] = []
    end = now + timedelta(hours=5)
    while now < end:
        seconds = creations.spend(batch, now, at_most=4)
        if seconds:
            # It says when there is room, and not before there is.
            assert 0 < seconds <= HOUR + 300
            assert creations.spend(batch, now + timedelta(seconds=seconds), at_most=4) == 0
            made.append(now + timedelta(seconds=seconds))
            now = made[-1]
        else:
            made.append(now)
        now += timedelta(seconds=40)
    hours = [sum(one <= other < one + timedelta(hours=1) for other in made) for one in made]
    assert max(hours) == 4
    assert len(made) >= 16


def test_creations_at_once_are_counted_each(ledger: Ledger) -> None:
    assert ledger.platform
    creations: CreationRepository = (
        import_module("functions.ledger.work_batch").parts().llm_creations
    )
    batch, now = stored_batch(), datetime.now(UTC)
    with ThreadPoolExecutor(4) as threads:
        waits = list(threads.map(lambda _: creations.spend(batch, now, at_most=3), range(6)))
    assert sum(wait == 0 for wait in waits) == 3


def test_a_job_more_than_may_be_open_waits_in_sight_and_goes_on_by_itself(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.fake.world.limits["gemini"] = {"jobs": 1}
    ledger.fake.world.timing.run_seconds = HOUR
    connection, ids = two_models(ledger, limits={"openJobs": 1})
    wait(ledger, hours=0.6)
    waiting, sent = sorted(ledger.batches(), key=lambda one: one["waitingFor"] is None)
    assert (waiting["waitingFor"], waiting["status"]) == ("openJobs", "queued")
    assert (waiting["job"]["stage"], sent["waitingFor"]) == ("building", None)
    # What waits is in its queue, and may still be canceled one by one.
    queued = [one for one in read_all(ledger, ids) if one["status"] == "queued"]
    assert len(queued) == 3
    ledger.platform.call("POST", f"/api/v1/llm-requests/{queued[0]['id']}/cancel", {})
    assert ledger.read(queued[0]["id"])["status"] == "canceled"
    assert live_counts(connection)["jobs"] == 1
    ledger.run_jobs()
    assert [one["status"] for one in read_all(ledger, ids)].count("completed") == 5
    assert len(ledger.fake.world.batches) == 2
    assert ledger.fake.world.broken_limits == []
    assert {one["waitingFor"] for one in ledger.batches()} == {None}
    assert live_counts(connection) == {}
    assert_paid_once(ledger, ids)


def test_rows_of_more_tokens_than_the_limit_go_in_jobs_one_after_the_other(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = OpenAiJobs.create
    open_jobs: list[int] = []

    def created(self: Any, *args: Any) -> Any:
        open_jobs.append(sum(not one.over for one in ledger.fake.world.batches.values()))
        return create(self, *args)

    monkeypatch.setattr(OpenAiJobs, "create", created)
    # Each row counts as some 140 tokens.
    limits = {"enqueuedTokens": {"gpt-5-mini": 1_000}}
    ids = enqueue(ledger, "openai", count=16, limits=limits)
    ledger.run_jobs()
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert open_jobs == [0, 0, 0]
    assert sorted(one["counts"]["rows"] for one in ledger.batches()) == [2, 7, 7]
    assert live_counts(connection_of(ledger)) == {}
    assert_paid_once(ledger, ids)


def test_jobs_over_the_limit_of_an_hour_are_created_in_the_next(ledger: Ledger) -> None:
    ledger.fake.world.limits["openai"] = {"creations_an_hour": 1}
    ids = enqueue(ledger, "openai", count=4, maxRows=2, minRows=1, limits={"creationsPerHour": 1})
    wait(ledger, hours=0.5)
    assert [one["waitingFor"] for one in ledger.batches()].count("creationsPerHour") == 1
    ledger.run_jobs()
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert ledger.passed > HOUR
    assert ledger.fake.world.broken_limits == []
    assert_paid_once(ledger, ids)


def test_a_row_that_no_job_may_hold_is_refused_when_it_is_enqueued(ledger: Ledger) -> None:
    connection = connect(ledger, "openai", limits={"enqueuedTokens": {"gpt-5-mini": 1_000}})
    body = row(connection, "x" * 900, model="gpt-5-mini")
    answer = ledger.platform.call("POST", "/api/v1/llm-requests", body)
    assert (answer.status, list(answer.fields)) == (422, ["input"])
    assert "1030 tokens" in answer.text
    assert "limits.enqueuedTokens of the connection, 1000" in answer.text


def test_a_limit_that_is_lowered_ends_rows_that_no_job_may_hold_and_makes_smaller_jobs(
    ledger: Ledger,
) -> None:
    ledger.fake.world.timing.run_seconds = HOUR
    limits = {"enqueuedTokens": {"gpt-5-mini": 3_000}}
    connection = connect(ledger, "openai", limits=limits)
    first = ledger.enqueue(connection, *(f"q {n}" for n in range(20)), model="gpt-5-mini")
    wait(ledger, hours=0.2)
    second = ledger.enqueue(connection, *(f"r {n}" for n in range(9)), model="gpt-5-mini")
    long = ledger.enqueue(connection, "x" * 1_500, model="gpt-5-mini")
    wait(ledger, hours=0.2)
    (waiting,) = [one for one in ledger.batches() if one["waitingFor"]]
    assert (waiting["waitingFor"], waiting["counts"]["rows"]) == ("enqueuedTokens", 10)
    limit(ledger, connection, enqueuedTokens={"gpt-5-mini": 1_000})
    ledger.run_jobs()
    assert {one["status"] for one in read_all(ledger, first + second)} == {"completed"}
    (found,) = read_all(ledger, long)
    assert (found["status"], found["error"]["code"]) == ("error", "unsupported_in_batch")
    assert "limits.enqueuedTokens, 1000" in found["error"]["message"]
    rows = [one["counts"] for one in ledger.batches() if one["id"] == waiting["id"]]
    assert rows[0]["released"] == 10
    assert live_counts(connection) == {}
    assert_paid_once(ledger, first + second + long)


@pytest.mark.parametrize("how", ["canceled", "paused", "revoked"])
def test_what_waits_and_is_not_wanted_any_more_is_counted_nowhere(ledger: Ledger, how: str) -> None:
    ledger.fake.world.timing.run_seconds = HOUR
    connection, ids = two_models(ledger, limits={"openJobs": 1})
    wait(ledger, hours=0.3)
    (waiting,) = [one for one in ledger.batches() if one["waitingFor"]]
    path = f"/api/v1/llm-connections/{connection}"
    if how == "canceled":
        ledger.platform.call("POST", f"/api/v1/llm-batches/{waiting['id']}/cancel", {})
    elif how == "revoked":
        ledger.platform.call("DELETE", path)
    else:
        found = service().repository.get(connection)
        assert found is not None
        pause(service().repository, found, "the key is wrong", datetime.now(UTC))
        wait(ledger, hours=0.3)
        (left,) = [one for one in ledger.batches() if one["id"] == waiting["id"]]
        assert (left["counts"]["released"], left["waitingFor"]) == (3, None)
        ledger.platform.call("PATCH", path, {"name": "paid"})
    ledger.run_jobs()
    statuses = [one["status"] for one in read_all(ledger, ids)]
    expected = {"canceled": [3, 3, 0], "paused": [6, 0, 0], "revoked": [0, 0, 6]}[how]
    assert [statuses.count(one) for one in ("completed", "canceled", "error")] == expected
    assert live_counts(connection) == {}
    assert ledger.spent_and_reserved("day")[1] == 0


def test_a_creation_that_is_unclear_keeps_its_place(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.fake.world.traps.arm(name="create_answer_lost", times=1)
    connection, ids = two_models(ledger, limits={"openJobs": 1})
    with monkeypatch.context() as patched:
        patched.setattr(GeminiJobs, "search", lambda *_: [])
        wait(ledger, hours=0.2)
        assert sorted(one["job"]["stage"] for one in ledger.batches()) == ["building", "unknown"]
        assert len(ledger.fake.world.batches) == 1
        assert live_counts(connection)["jobs"] == 1
    ledger.run_jobs()
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert live_counts(connection) == {}
    assert_paid_once(ledger, ids)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
def test_a_step_that_is_killed_gives_back_what_it_counted_once(
    ledger: Ledger, at: int, after: bool
) -> None:
    """Killed at transactions: those that store batches, count their jobs and settle them."""
    ledger.fake.world.limits["gemini"] = {"jobs": 1}
    connection, ids = two_models(ledger, limits={"openJobs": 1, "creationsPerHour": 100})
    killer = Killer(at, after=after)
    with (
        patch.object(Table, "add_together", killer.around("together", Table.add_together)),
        patch.object(Table, "write_together", killer.around("together", Table.write_together)),
    ):
        ledger.run_jobs(killed_by=KilledError)
    assert killer.has_killed, killer.calls
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert ledger.fake.world.broken_limits == []
    assert live_counts(connection) == {}
    assert_paid_once(ledger, ids)


def test_a_step_that_is_killed_around_a_creation_counts_it_at_least_once(ledger: Ledger) -> None:
    ledger.fake.world.limits["openai"] = {"creations_an_hour": 1}
    ids = enqueue(ledger, "openai", count=2, maxRows=1, minRows=1, limits={"creationsPerHour": 1})
    killed: list[float] = []
    spend = CreationRepository.spend

    def lost(self: Any, *args: Any, **options: Any) -> float:
        wait = spend(self, *args, **options)
        if not killed and wait == 0:
            killed.append(ledger.passed)
            raise KilledError
        return wait

    with patch.object(CreationRepository, "spend", lost):
        ledger.run_jobs(killed_by=KilledError)
    assert killed
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert ledger.fake.world.broken_limits == []
    assert_paid_once(ledger, ids)


def test_a_batch_that_has_room_and_no_time_for_its_rows_waits_for_no_limit(
    ledger: Ledger,
) -> None:
    ledger.fake.world.timing.run_seconds = HOUR
    connection, ids = two_models(ledger, limits={"openJobs": 1})
    wait(ledger, hours=0.3)
    (waiting,) = [one for one in ledger.batches() if one["waitingFor"]]
    limit(ledger, connection, openJobs=2)
    redrive = int(stored(waiting["id"])["redrive"]["N"])
    with later(timedelta(seconds=ledger.passed)):
        state = {"batch_id": waiting["id"], "redrive": redrive}
        assert ledger.step(state, seconds=25)["wait_seconds"] == 1
    (found,) = [one for one in ledger.batches() if one["id"] == waiting["id"]]
    assert (found["waitingFor"], found["job"]["stage"]) == (None, "building")
    assert live_counts(connection)["jobs"] == 2
    ledger.run_jobs()
    assert {one["status"] for one in read_all(ledger, ids)} == {"completed"}
    assert live_counts(connection) == {}


def test_the_queue_of_a_batch_that_waits_makes_no_second_one(ledger: Ledger) -> None:
    ledger.fake.world.timing.run_seconds = HOUR
    connection, _ = two_models(ledger, limits={"openJobs": 1})
    wait(ledger, hours=0.3)
    (waiting,) = [one for one in ledger.batches() if one["waitingFor"]]
    ledger.enqueue(connection, *(f"r {n}" for n in range(5)), model=waiting["model"])
    wait(ledger, hours=0.3)
    assert len(ledger.batches()) == 2
    with later(timedelta(seconds=ledger.passed)):
        assert ledger.sweep() <= 2
    ledger.run_jobs()
    assert live_counts(connection) == {}
