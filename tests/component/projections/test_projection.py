"""Each verdict is published and counted exactly once, whatever fails, repeats or overtakes."""

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from autotune.protocol.ids import derived_id
from autotune_platform.projections.batch_decisions import OrphanedVerdictError
from autotune_platform.projections.checkpoints import CheckpointRepository
from autotune_platform.projections.projection import VerdictProjection
from autotune_platform.runtime.environment.projections import ProjectionEnvironment
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.verdicts.decisions import Decision
from autotune_platform.verdicts.judgements import Judgement, verdict_of
from autotune_platform.webhooks.publisher import EventPublisher
from autotune_platform.wiring.completions import CompletionParts
from autotune_platform.wiring.projections import ProjectionParts
from functions.scoring import grade_chunk
from tests.support.graders import LoopbackGrader
from tests.support.killing import Killed, Killer
from tests.support.lambdas import handler
from tests.support.platform import Platform
from tests.support.projected import (
    checkpoints,
    counts,
    decisions,
    events,
    everything,
    forget,
    open_batches,
    subscribe,
)
from tests.support.tables import stream_records

MIXED = ({"metadata": {"value": 0.25}}, {"metadata": {"abstain": True}}, {"metadata": {"value": 2}})


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.protocol.retry.time.sleep", lambda _: None)


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 50}))


@pytest.fixture
def webhook_id(platform: Platform) -> str:
    return subscribe(platform.me()["organizationId"])


def in_two_rounds(platform: Platform, task_id: str) -> Any:
    """Decide a batch of three in two rounds, the second of which finds what the first decided."""
    accepted = platform.submit(task_id, *MIXED).json
    platform.dispatch(platform.queued())
    (run,) = platform.runs()
    platform.grade({**run, "completion_ids": run["completion_ids"][:1], "remaining": 1})
    platform.grade(run)
    return accepted


def projection() -> VerdictProjection:
    return ProjectionParts(ProjectionEnvironment.parse()).projection


def test_the_verdicts_of_a_batch_are_told_and_counted(
    platform: Platform, task_id: str, webhook_id: str
) -> None:
    accepted = platform.submit(task_id, *MIXED).json
    platform.score_everything()
    assert checkpoints() == {}
    platform.project()

    batch_id = accepted["batchId"]
    assert checkpoints() == {batch_id: {"scored": {0}, "abstained": {1}, "failed": {2}}}
    whose = platform.me()["organizationId"]
    grader_id = platform.call("GET", f"/api/v1/tasks/{task_id}").json["task"]["graderId"]
    first, second, third = accepted["completionIds"]
    assert decisions() == sorted(
        (whose, batch_id, grader_id, *how)
        for how in [
            ("scored", "", first),
            ("abstained", "", second),
            ("failed", "item_malformed", third),
        ]
    )
    published = events(webhook_id)
    verdicts = [
        platform.call("GET", f"/api/v1/completions/{completion_id}/score").json["verdict"]
        for completion_id in accepted["completionIds"]
    ]
    assert [verdict["state"] for verdict in verdicts] == ["scored", "abstained", "failed"]
    by_type = [event["data"] for event in published.values() if event["event"] == "score.completed"]
    assert sorted(by_type, key=lambda data: data["completionId"]) == sorted(
        verdicts, key=lambda data: data["completionId"]
    )
    completed = published[derived_id("evt", "batch.completed", batch_id)]
    batch = platform.batch(batch_id)
    assert completed["data"] == {name: batch[name] for name in ("batchId", "counts", "createdAt")}
    assert len(published) == 4


def test_a_batch_is_complete_only_with_its_last_verdict(
    platform: Platform, task_id: str, webhook_id: str
) -> None:
    accepted = in_two_rounds(platform, task_id)
    *most, last = platform.verdict_records()
    assert len(most) == 1
    completed = derived_id("evt", "batch.completed", accepted["batchId"])
    platform.project(most)
    assert completed not in events(webhook_id)
    platform.project([last])
    assert completed in events(webhook_id)


def test_cancellations_and_our_own_failures_are_told_and_counted_too(
    platform: Platform, task_id: str, webhook_id: str
) -> None:
    accepted = platform.submit(task_id, {}, {}).json
    first, second = accepted["completionIds"]
    platform.call("POST", f"/api/v1/completions/{first}/cancel")
    header = CompletionParts(ProjectionEnvironment.parse()).completions.headers([second])
    failure = verdict_of(
        header[second], Judgement(reason_code="platform_error"), at=datetime.now(UTC)
    )
    writer = projection().verdicts
    with writer.listing():
        writer.add(failure)
    platform.project()
    assert checkpoints() == {accepted["batchId"]: {"canceled": {0}, "failed": {1}}}
    (statistics,) = counts("statistics#").values()
    assert statistics == {"canceled": 1, "failed": 1, "failure#platform_error": 1}
    states = Counter(event["data"].get("state") for event in events(webhook_id).values())
    assert states == {"canceled": 1, "failed": 1, None: 1}


def test_other_items_in_the_stream_are_nothing_to_it(platform: Platform, task_id: str) -> None:
    platform.submit(task_id, *MIXED)
    platform.score_everything()
    (record, *_) = platform.verdict_records()
    keys = {**record["dynamodb"]["Keys"], "sk": {"S": "content"}}
    other = {**record, "dynamodb": {**record["dynamodb"], "Keys": keys}}
    platform.project([other, {**record, "eventName": "MODIFY"}])
    assert checkpoints() == {}


def scored(platform: Platform, task_id: str) -> list[dict[str, Any]]:
    """Decide three batches; return what lists their verdicts: one twice, and one itself."""
    in_two_rounds(platform, task_id)
    platform.submit(task_id, {}, {})
    platform.submit(task_id, {"metadata": {"value": 1.0}})
    platform.score_everything()
    records = platform.verdict_records()
    kinds = [record["dynamodb"]["Keys"]["sk"]["S"].partition("#")[0] for record in records]
    assert sorted(kinds) == ["decided", "decided", "decided", "verdict"]
    return records


def test_delivery_again_and_in_any_grouping_changes_nothing(
    platform: Platform, task_id: str, webhook_id: str
) -> None:
    records = scored(platform, task_id)
    platform.project(records)
    once = everything(webhook_id)
    platform.project(records)
    assert everything(webhook_id) == once
    dice = random.Random(1)
    for _ in range(6):
        forget()
        deliveries = records * 2
        dice.shuffle(deliveries)
        while deliveries:
            size = dice.randint(1, 5)
            platform.project(deliveries[:size])
            deliveries = deliveries[size:]
        assert everything(webhook_id) == once


def test_a_crash_at_any_step_and_delivery_again_come_to_the_same(
    platform: Platform, task_id: str, webhook_id: str
) -> None:
    records = scored(platform, task_id)
    killer = Killer()
    platform.project(records)
    steps = list(killer.called)
    assert {"TransactWriteItems", "PutItem", "SendMessageBatch"} <= set(steps)
    once = everything(webhook_id)
    assert open_batches() == set()
    for step in range(len(steps)):  # before each, and so after each
        killer.spare()
        forget()
        killer.kill("before-call", after=step)
        with pytest.raises(Killed):
            platform.project(records)
        killer.spare()
        platform.project(records)
        assert everything(webhook_id) == once, f"{steps[step]}, step {step}"


def test_a_round_that_ends_at_any_step_and_is_tried_again_loses_no_decision(
    platform: Platform, task_id: str
) -> None:
    killer = Killer()
    for step in range(30):
        killer.spare()
        accepted = platform.submit(task_id, *MIXED).json
        before = [run["run_id"] for run in platform.runs()]
        platform.dispatch(platform.queued())
        (run,) = [run for run in platform.runs() if run["run_id"] not in before]
        grade_chunk.parts.cache_clear()
        killer.kill("before-call", after=step)
        died = False
        try:
            platform.grade(run)
        except Killed:
            died = True
        killer.spare()
        grade_chunk.parts.cache_clear()  # another process tries it again
        if died:
            assert platform.grade(run)["remaining"] == 0
        platform.project()
        whole = {"scored": {0}, "abstained": {1}, "failed": {2}}
        assert checkpoints()[accepted["batchId"]] == whole, f"step {step}"
        assert open_batches() == set(), f"step {step}"
        if not died:
            break
    assert 6 < step < 29


def test_what_is_counted_was_told_before(
    platform: Platform, task_id: str, webhook_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = scored(platform, task_id)

    def refuse(*_: object, **__: object) -> None:
        raise UnavailableError("the queue is busy")

    with monkeypatch.context() as broken:
        broken.setattr(EventPublisher, "publish", refuse)
        with pytest.raises(UnavailableError):
            platform.project(records)
        assert checkpoints() == {}
    platform.project(records)
    assert len(events(webhook_id)) == 9


def test_a_checkpoint_that_changed_in_between_is_read_again(
    platform: Platform, task_id: str, webhook_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = scored(platform, task_id)
    platform.project(records)
    once = everything(webhook_id)
    forget()
    read = CheckpointRepository.get_many
    overtakers = [records[:2]]

    def overtaken(self: CheckpointRepository, batch_ids: Any) -> Any:
        found = read(self, batch_ids)
        if overtakers:
            platform.project(overtakers.pop())
        return found

    monkeypatch.setattr(CheckpointRepository, "get_many", overtaken)
    platform.project(records)
    assert everything(webhook_id) == once


def test_one_that_is_overtaken_again_and_again_gives_up_and_says_so(
    platform: Platform, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = scored(platform, task_id)
    attempts = []

    def lose(*_: object) -> bool:
        attempts.append(1)
        return False

    monkeypatch.setattr(CheckpointRepository, "advance", lose)
    with pytest.raises(UnavailableError):
        platform.project(records)
    assert len(attempts) == 10


def test_many_at_once_count_each_verdict_once(
    platform: Platform, task_id: str, webhook_id: str
) -> None:
    records = scored(platform, task_id)
    platform.project(records)
    once = everything(webhook_id)
    forget()
    start = threading.Barrier(4)

    def deliver(some: list[dict[str, Any]]) -> None:
        start.wait()
        handler("functions.projections.project_verdicts")({"Records": some}, None)

    shares = [records, records[::-1], records[:3], records[1:]]
    with ThreadPoolExecutor(len(shares)) as threads:
        list(threads.map(deliver, shares))
    assert everything(webhook_id) == once


def versions_of_a_batch(platform: Platform, task_id: str, number: int) -> list[Decision]:
    """Decide a batch by so many versions of its grader that one transaction cannot count them."""
    ids = platform.submit(task_id, *({} for _ in range(number))).json["completionIds"]
    headers = CompletionParts(ProjectionEnvironment.parse()).completions.headers(ids)
    return [
        Decision.of(
            verdict_of(
                headers[id_],
                Judgement(abstained=True, reported_version=f"v{index}"),
                at=datetime.now(UTC),
            )
        )
        for index, id_ in enumerate(ids)
    ]


def test_more_counters_than_a_transaction_takes_are_counted_in_several(
    platform: Platform, task_id: str, webhook_id: str
) -> None:
    verdicts = versions_of_a_batch(platform, task_id, 120)
    projection().project(verdicts)
    projection().project(verdicts)
    assert checkpoints() == {verdicts[0].batch_id: {"abstained": set(range(120))}}
    statistics = counts("statistics#")
    assert {sum(count.values()) for count in statistics.values()} == {1}
    assert len(statistics) == 120
    assert len(events(webhook_id)) == 121


def test_an_organisation_whose_items_are_busy_holds_up_no_other(
    platform: Platform, task_id: str, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = versions_of_a_batch(platform, task_id, 2)
    platform.api_key = platform.new_organization("second")
    calm = versions_of_a_batch(platform, platform.new_task(platform.new_grader(grader)), 2)
    advance = CheckpointRepository.advance

    def refuse_the_busy(self: CheckpointRepository, changes: Any, additions: Any) -> bool:
        is_busy = any(after.batch_id == busy[0].batch_id for _, after in changes)
        return not is_busy and advance(self, changes, additions)

    monkeypatch.setattr(CheckpointRepository, "advance", refuse_the_busy)
    with pytest.raises(UnavailableError):
        projection().project([*busy, *calm])
    assert checkpoints() == {calm[0].batch_id: {"abstained": {0, 1}}}


def test_a_verdict_of_no_batch_is_an_error_and_counts_nothing(
    platform: Platform, task_id: str
) -> None:
    verdict, other = versions_of_a_batch(platform, task_id, 2)
    stray = replace(verdict, index=2)
    with pytest.raises(OrphanedVerdictError, match=f"2 is not in {verdict.batch_id}"):
        projection().project([other, stray])
    assert checkpoints() == {}


def test_single_completions_share_their_reads_and_their_transaction(
    platform: Platform, task_id: str
) -> None:
    for _ in range(12):
        platform.submit(task_id, {})
    platform.score_everything()
    killer = Killer()
    platform.project()
    assert Counter(killer.called) == {
        "BatchGetItem": 2,
        "Query": 1,
        "TransactWriteItems": 1,
        "UpdateItem": 12,  # each batch is closed
    }
    assert len(checkpoints()) == 12


def test_how_long_the_answer_took_is_kept_with_the_verdict(
    platform: Platform, task_id: str
) -> None:
    accepted = platform.submit(task_id, *MIXED, {}).json
    *_, last = accepted["completionIds"]
    platform.call("POST", f"/api/v1/completions/{last}/cancel")
    platform.score_everything()
    images = [
        record["dynamodb"]["NewImage"]
        for record in stream_records("completions")
        if record["dynamodb"]["Keys"]["sk"]["S"].startswith("verdict#")
    ]
    timed = {image["state"]["S"]: "grader_latency_ms" in image for image in images}
    assert timed == {"canceled": False, "scored": True, "abstained": True, "failed": True}
