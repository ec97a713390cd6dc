"""Counts are exact, and cost the same, whatever the number of shards that a stream has."""

from typing import Any

import pytest

from autotune.protocol.retry import RetryPolicy
from tests.support.clock import wait_for_one_window
from tests.support.graders import LoopbackGrader
from tests.support.platform import Platform
from tests.support.projected import (
    checkpoints,
    counts,
    decisions,
    events,
    everything,
    forget,
    subscribe,
    windows,
)
from tests.support.sharded_stream import Bill, Rivalry, ShardedStream
from tests.support.tables import stream_records

SHARDS = (1, 4, 16, 64)
BATCHES = 16
OF_EACH = 6
SCATTERED = 5
# In one transaction a checkpoint, statistics, metering, an audit entry, the count of what is
# undecided, and windows (three of the organisation, two each of its task and grader), two units
# each while none is over 1 KB; and two to close the batch.
UNITS_OF_A_BATCH = 26


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    pause = RetryPolicy.pause
    monkeypatch.setattr(RetryPolicy, "pause", lambda *of: pause(*of) / 10)


@pytest.fixture
def records(platform: Platform, grader: LoopbackGrader) -> list[dict[str, Any]]:
    """Decide some batches; return what the stream has of them for the projection."""
    task_id = platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 100}))
    wait_for_one_window()
    for number in range(BATCHES):
        platform.submit(task_id, *({"metadata": {"value": number / BATCHES}},) * OF_EACH)
    platform.score_everything()
    listed = platform.verdict_records()
    assert len(listed) == BATCHES
    return listed


def delivered(
    platform: Platform, shards: int, records: list[dict[str, Any]], *, batches: int
) -> tuple[Bill, Any]:
    """Deliver records of some batches to consumers that have worked before.

    Returns:
        What they wrote then: how much, and what.
    """
    rivalry = Rivalry()
    with rivalry.installed(), ShardedStream(shards) as stream:
        # Long transactions, so that consumers who share a lane meet and part.
        rivalry.seconds = 0.03
        stream.deliver(records)
        forget()
        webhook_id = subscribe(platform.me()["organizationId"])
        rivalry.bill, rivalry.seconds = Bill(), 0.003
        stream.deliver(records)
    wrote = everything(webhook_id)
    verdicts = batches * OF_EACH
    assert len(checkpoints()) == batches
    assert len(events(webhook_id)) == verdicts + batches
    assert len(decisions()) == len(set(decisions())) == verdicts
    assert [sum(one.values()) for one in counts("metering#").values()] == [verdicts]
    assert (
        sum(one["scored"] for (pk, *_), one in windows().items() if "#day#" in pk) == 3 * verdicts
    )
    assert platform.call("DELETE", f"/api/v1/webhooks/{webhook_id}").status == 204
    forget()
    return rivalry.bill, wrote


def test_any_number_of_shards_counts_the_same_at_the_same_cost(
    platform: Platform, records: list[dict[str, Any]]
) -> None:
    found = {shards: delivered(platform, shards, records, batches=BATCHES) for shards in SHARDS}
    units = {shards: bill.units / BATCHES for shards, (bill, _) in found.items()}
    _, once = found[1]
    assert all(wrote == once for _, wrote in found.values())
    assert units[1] == UNITS_OF_A_BATCH
    # What is refused is billed as well: on a busy machine a few may meet, three units a batch.
    # With lanes that are never left, though others write them, it is six to twenty-five.
    assert max(units.values()) <= 1.2 * min(units.values()), units


def test_verdicts_that_are_followed_one_by_one_cost_many_times_as_much(
    platform: Platform, records: list[dict[str, Any]]
) -> None:
    """Were there no lists, the model above would show it."""
    some = records[:SCATTERED]
    batches = {record["dynamodb"]["Keys"]["pk"]["S"] for record in some}
    scattered = [each for each in stream_records("completions") if _is_verdict(each, batches)]
    assert len(scattered) == SCATTERED * OF_EACH
    for record in scattered:
        record["dynamodb"]["NewImage"]["alone"] = {"BOOL": True}
    bill, wrote = delivered(platform, 16, scattered, batches=SCATTERED)
    listed, once = delivered(platform, 16, some, batches=SCATTERED)
    assert wrote == once
    assert bill.units > OF_EACH / 2 * listed.units
    assert bill.refused > listed.refused


def _is_verdict(record: dict[str, Any], batches: set[str]) -> bool:
    described = record["dynamodb"]
    is_new = record["eventName"] == "INSERT" and described["Keys"]["sk"]["S"].startswith("verdict#")
    return is_new and described["NewImage"]["batch_id"]["S"] in batches
