"""Several graders judge together: one verdict, each one's opinion beside it, nothing twice."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import boto3
import pytest

from autotune.protocol.ids import new_id
from autotune_platform.completions.queues import ChunkQueues
from autotune_platform.runtime.environment.projections import ProjectionEnvironment
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.scoring.resolving import PanelResolver
from autotune_platform.wiring.projections import ProjectionParts
from functions.completions import api
from functions.scoring import grade_chunk
from tests.component.scoring.conftest import Trio
from tests.support.graders import Exchange, answering, scoring
from tests.support.killing import Killed, Killer
from tests.support.lambdas import handler
from tests.support.platform import Platform
from tests.support.projected import checkpoints, counts, events, everything, forget, subscribe
from tests.support.tables import stream_records


def values(verdict: dict[str, Any]) -> list[tuple[str, float | None, str | None]]:
    return [
        (opinion["state"], opinion["value"], opinion["reasonCode"])
        for opinion in verdict["opinions"]
    ]


def test_the_verdict_is_the_panels_and_opinions_stand_beside_it(trio: Trio) -> None:
    for grader, value in zip(trio.graders, (1.0, 0.5, 0.0), strict=True):
        grader.disease = scoring(value)
    (verdict,) = trio.score(trio.new_task(2, 1, 1))

    assert verdict["state"] == "scored"
    assert verdict["score"]["value"] == 0.625
    assert verdict["score"]["confidence"] == 0.9
    assert verdict["score"]["graderVersion"] == "mean"
    assert verdict["graderId"] == verdict["score"]["graderId"]
    assert verdict["graderId"].startswith("pnl_")
    assert (verdict["decidedBy"], verdict["reviewId"], verdict["attempts"]) == ("panel", None, 1)
    assert [opinion["graderId"] for opinion in verdict["opinions"]] == trio.ids
    assert [opinion["weight"] for opinion in verdict["opinions"]] == [2, 1, 1]
    assert {opinion["graderVersion"] for opinion in verdict["opinions"]} == {"1.0.0"}
    assert values(verdict) == [("scored", 1, None), ("scored", 0.5, None), ("scored", 0, None)]


def test_each_grader_is_asked_once_and_nothing_is_decided_before_the_last(trio: Trio) -> None:
    accepted, runs = trio.start(trio.new_task(), {}, {})
    for asked, grader_id in enumerate(trio.ids, start=1):
        assert trio.platform.grade(runs[grader_id])["remaining"] == 0
        pending = trio.platform.batch(accepted["batchId"])["counts"]["pending"]
        assert pending == (0 if asked == 3 else 2)
    for grader in trio.graders:
        assert sorted(grader.asked_ids) == sorted(accepted["completionIds"])


@pytest.mark.parametrize(
    ("quorum", "state", "reason"), [(2, "scored", None), (None, "failed", "quorum_missed")]
)
def test_a_failed_member_is_not_scored_and_the_quorum_decides(
    trio: Trio, quorum: int | None, state: str, reason: str | None
) -> None:
    trio.graders[1].disease = answering(status=400)
    fields = {} if quorum is None else {"quorum": quorum}
    (verdict,) = trio.score(trio.new_task(aggregation="median", **fields))
    assert (verdict["state"], verdict["reasonCode"]) == (state, reason)
    assert (verdict["score"] is None) == (state == "failed")
    assert values(verdict)[1] == ("failed", None, "grader_rejected")
    assert values(verdict)[0] == ("scored", 0.5, None)


def test_too_many_abstentions_abstain(trio: Trio) -> None:
    (verdict,) = trio.score(trio.new_task(), {"metadata": {"abstain": True}})
    assert (verdict["state"], verdict["score"]) == ("abstained", None)
    assert values(verdict) == [("abstained", None, None)] * 3


def test_a_listed_verdict_has_its_opinions_and_a_batch_leaves_them_out(trio: Trio) -> None:
    task_id = trio.new_task()
    accepted, runs = trio.start(task_id)
    for run in runs.values():
        trio.platform.grade(run)
    for query in ({"taskId": task_id}, {"taskId": task_id, "include": "completion"}):
        (listed,) = trio.platform.call("GET", "/api/v1/scores", query=query).json["scores"]
        assert [opinion["graderId"] for opinion in listed["opinions"]] == trio.ids
        assert listed["decidedBy"] == "panel"
    (brief,) = trio.platform.batch(accepted["batchId"])["verdicts"]
    assert (brief["opinions"], brief["decidedBy"]) == (None, "panel")


def test_what_the_only_grader_of_a_panel_may_share_is_shared(trio: Trio) -> None:
    trio.platform.call("PATCH", f"/api/v1/graders/{trio.ids[0]}", {"shareReasoning": True})

    def explain(exchange: Exchange) -> None:
        for item in exchange.items:
            item["score"]["reasoning"] = "because"

    trio.graders[0].disease = trio.graders[1].disease = explain
    (alone,) = trio.score(trio.platform.new_task(trio.ids[0], review={"confidenceBelow": 0.1}))
    assert alone["score"]["reasoning"] == "because"
    assert alone["score"]["graderVersion"] == "1.0.0"
    assert alone["decidedBy"] == "grader"
    (silent,) = trio.score(trio.platform.new_task(trio.ids[1], review={"confidenceBelow": 0.1}))
    assert silent["score"]["reasoning"] is None


def test_tasks_with_the_same_graders_share_a_panel(trio: Trio) -> None:
    found = [
        trio.score(task_id)[0]["graderId"]
        for task_id in (
            trio.new_task(),
            trio.new_task(quorum=3),
            trio.new_task(quorum=2),
            trio.new_task(1, 1, 2),
            trio.new_task(aggregation="min"),
            trio.new_task(review={"sampledShare": 0.0}),
        )
    ]
    assert found[0] == found[1]
    assert len(set(found)) == 5


def test_a_panel_is_stored_and_read_once_in_a_process(trio: Trio) -> None:
    task_id = trio.new_task()
    killer = Killer()

    def calls(operation: str) -> int:
        count = killer.called.count(operation)
        killer.called.clear()
        return count

    assert trio.platform.call("GET", f"/api/v1/completions/{new_id('cmp')}").status == 404
    calls("PutItem")
    trio.platform.submit(task_id, {})
    first = calls("PutItem")
    trio.platform.submit(task_id, {})
    assert calls("PutItem") == first - 1
    trio.platform.dispatch(trio.platform.queued())

    grade_chunk.parts.cache_clear()
    killer.called.clear()
    spent = []
    for run in trio.platform.runs()[:2]:
        trio.platform.grade(run)
        spent.append(calls("BatchGetItem"))
    assert spent[1] == spent[0] - 1


def test_members_that_finish_together_write_one_verdict(trio: Trio) -> None:
    accepted, runs = trio.start(trio.new_task(), {}, {}, {})
    with ThreadPoolExecutor(3) as threads:
        for left in threads.map(trio.platform.grade, runs.values()):
            assert left["remaining"] == 0
    assert trio.platform.batch(accepted["batchId"])["counts"]["scored"] == 3
    told = [record["dynamodb"]["Keys"]["sk"]["S"] for record in stream_records("completions")]
    assert len([key for key in told if key.startswith("verdict#")]) == 3
    assert len([key for key in told if key.startswith("opinion#")]) == 9


def test_what_is_canceled_asks_nobody_and_a_late_opinion_is_dropped(trio: Trio) -> None:
    accepted, runs = trio.start(trio.new_task())
    first, second, third = trio.ids
    (completion_id,) = accepted["completionIds"]
    trio.platform.grade(runs[first])

    def overtaken(_: Exchange) -> None:
        trio.platform.call("POST", f"/api/v1/completions/{completion_id}/cancel")

    trio.graders[1].disease = overtaken
    trio.platform.grade(runs[second])
    trio.platform.grade(runs[third])

    verdict = trio.verdict(completion_id)
    assert (verdict["state"], verdict["opinions"]) == ("canceled", None)
    assert verdict["decidedBy"] is None
    assert trio.graders[2].asked_ids == []
    run = trio.platform.call("GET", f"/api/v1/runs/{runs[second]['run_id']}").json["run"]
    assert (run["lateAnswers"], run["counts"]["canceled"]) == (1, 1)
    stored = boto3.resource("dynamodb").Table("completions").scan()["Items"]
    assert len([item for item in stored if item["sk"].startswith("opinion#")]) == 1


def test_a_run_of_a_member_tells_of_the_panels_verdicts(trio: Trio) -> None:
    _, runs = trio.start(trio.new_task(), {}, {})
    first, *others = trio.ids
    trio.platform.grade(runs[first])
    path = f"/api/v1/runs/{runs[first]['run_id']}"
    run = trio.platform.call("GET", path).json["run"]
    assert (run["graderId"], run["state"]) == (first, "completed")
    assert run["panelId"].startswith("pnl_")
    assert run["counts"]["pending"] == 2
    for other in others:
        trio.platform.grade(runs[other])
    assert trio.platform.call("GET", path).json["run"]["counts"]["scored"] == 2


def test_canceling_a_members_run_cancels_for_all(trio: Trio) -> None:
    accepted, runs = trio.start(trio.new_task(), {}, {})
    trio.platform.call("POST", f"/api/v1/runs/{runs[trio.ids[0]]['run_id']}/cancel")
    assert trio.platform.batch(accepted["batchId"])["counts"]["canceled"] == 2
    for run in runs.values():
        assert trio.platform.grade(run)["remaining"] == 0
    assert all(not grader.requests for grader in trio.graders)


def test_a_grader_that_is_gone_is_told_at_submission_and_fails_alone_after_it(trio: Trio) -> None:
    task_id = trio.new_task(quorum=2)
    accepted, runs = trio.start(task_id)
    trio.platform.call("DELETE", f"/api/v1/graders/{trio.ids[2]}")
    for run in runs.values():
        trio.platform.grade(run)
    (verdict,) = trio.verdicts(accepted)
    assert verdict["state"] == "scored"
    assert values(verdict)[2] == ("failed", None, "grader_missing")

    refused = trio.platform.submit(task_id, {})
    assert (refused.status, refused.json["code"]) == (409, "conflict")
    assert trio.ids[2] in refused.json["detail"]


def test_a_member_whose_run_breaks_is_waited_for(trio: Trio) -> None:
    accepted, runs = trio.start(trio.new_task(quorum=2), {}, {})
    first, second, third = (runs[grader_id] for grader_id in trio.ids)
    trio.platform.grade(first)
    trio.platform.grade(second)
    handler("functions.scoring.fail_run")(third, None)
    assert [verdict["state"] for verdict in trio.verdicts(accepted)] == ["pending"] * 2
    trio.platform.grade(third)  # as the run in which the sweeper has it asked again
    assert [verdict["state"] for verdict in trio.verdicts(accepted)] == ["scored"] * 2


def test_a_round_that_dies_anywhere_is_made_good_by_the_next(trio: Trio) -> None:
    task_id = trio.new_task(1, 1)
    killer = Killer()
    deaths = 0
    while True:
        accepted, runs = trio.start(task_id)
        first, second = (runs[grader_id] for grader_id in trio.ids[:2])
        trio.platform.grade(first)
        killer.kill("after-call", after=deaths)
        try:
            trio.platform.grade(second)
        except Killed:
            killer.spare()
            trio.platform.grade(second)
        else:
            break
        (verdict,) = trio.verdicts(accepted)
        assert verdict["state"] == "scored"
        assert len(verdict["opinions"]) == 2
        deaths += 1
    killer.spare()
    assert deaths > 8
    # Only a round that died before it wrote the opinion asks again.
    assert len(trio.graders[0].asked_ids) == deaths + 1


def test_a_submission_taken_over_queues_every_members_chunk(
    trio: Trio, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Idempotency-Key": "again"}
    task_id = trio.new_task()
    with monkeypatch.context() as broken:
        refuse = Mock(side_effect=UnavailableError("busy", retry_after_seconds=1))
        broken.setattr(ChunkQueues, "send", refuse)
        assert trio.platform.submit(task_id, {}, {}, headers=headers).status == 503

    api.parts.cache_clear()  # another process takes over
    accepted = trio.platform.submit(task_id, {}, {}, headers=headers)
    assert accepted.status == 202
    chunks = [json.loads(record["body"]) for record in trio.platform.queued()]
    assert [chunk["grader_id"] for chunk in chunks] == trio.ids
    assert {tuple(chunk["completion_ids"]) for chunk in chunks} == {
        tuple(accepted.json["completionIds"])
    }


@pytest.fixture
def projected(trio: Trio) -> tuple[str, str]:
    """A webhook, and a batch of which one grader failed, with all that follows projected once."""
    webhook_id = subscribe(trio.platform.me()["organizationId"])
    trio.graders[2].disease = answering(status=400)
    accepted, runs = trio.start(trio.new_task(quorum=2), {}, {"metadata": {"value": 0.25}})
    for run in runs.values():
        trio.platform.grade(run)
    trio.platform.project()
    return webhook_id, accepted["batchId"]


def test_members_are_counted_once_and_the_panel_for_nobody(
    trio: Trio, projected: tuple[str, str]
) -> None:
    webhook_id, batch_id = projected
    assert checkpoints() == {batch_id: {"scored": {0, 1}}}
    by_grader = {grader_id: counted for (grader_id, _), counted in counts("statistics#").items()}
    assert set(by_grader) == set(trio.ids)
    assert [by_grader[id_]["scored"] for id_ in trio.ids] == [2, 2, 0]
    assert by_grader[trio.ids[2]]["failure#grader_rejected"] == 2
    metered = {grader_id: counted for (grader_id, _), counted in counts("metering#").items()}
    assert sum(sum(counted.values()) for counted in metered.values()) == 6
    told = [event for event in events(webhook_id).values() if event["event"] == "score.completed"]
    assert len(told) == 2
    assert all(len(event["data"]["opinions"]) == 3 for event in told)


def test_opinions_delivered_again_and_in_any_order_change_nothing(
    trio: Trio, projected: tuple[str, str]
) -> None:
    webhook_id, _ = projected
    once = everything(webhook_id)
    records = trio.platform.verdict_records()
    assert len(records) == 3  # one list for each member's round, the last with the verdicts
    trio.platform.project(records)
    assert everything(webhook_id) == once
    forget()
    for record in reversed(records):
        trio.platform.project([record])
    assert everything(webhook_id) == once


def test_opinions_that_the_stream_lost_are_made_good(
    platform: Platform, trio: Trio, projected: tuple[str, str]
) -> None:
    webhook_id, batch_id = projected
    once = everything(webhook_id)
    projection = ProjectionParts(ProjectionEnvironment.parse()).projection
    batch = projection.completions.batches([batch_id])[batch_id]
    verdicts = [
        record
        for record in platform.verdict_records()
        if record["dynamodb"]["Keys"]["sk"]["S"].startswith("verdict#")
    ]
    for delivered in ([], verdicts, platform.verdict_records()[:3]):
        forget()
        platform.project(delivered)
        projection.complete(batch)
        assert everything(webhook_id) == once


def test_what_members_lost_is_driven_again_for_those_who_said_nothing(
    trio: Trio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.completions.submission.FIRST_SWEEP_AFTER", timedelta(0))
    monkeypatch.setattr("autotune_platform.scoring.sweeper._wait", lambda _: timedelta(0))
    accepted, runs = trio.start(trio.new_task(), {}, {})
    trio.platform.grade(runs[trio.ids[0]])
    assert trio.platform.operate("sweep_batches")["redriven"] == 1
    trio.platform.dispatch(trio.platform.queued())
    again = [run for run in trio.platform.runs() if run not in runs.values()]
    assert sorted(run["grader_id"] for run in again) == sorted(trio.ids)
    for run in again:
        assert trio.platform.grade(run)["remaining"] == 0
    assert trio.platform.batch(accepted["batchId"])["counts"]["scored"] == 2
    for grader in trio.graders:
        assert sorted(grader.asked_ids) == sorted(accepted["completionIds"])
    assert trio.platform.operate("sweep_batches")["closed"] == 1


def test_opinions_that_nobody_settled_are_settled_by_the_sweeper(
    trio: Trio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.completions.submission.FIRST_SWEEP_AFTER", timedelta(0))
    accepted, runs = trio.start(trio.new_task())
    with monkeypatch.context() as broken:
        broken.setattr(PanelResolver, "resolve", lambda *_, **__: {})
        for run in runs.values():
            trio.platform.grade(run)
    assert trio.platform.batch(accepted["batchId"])["counts"]["pending"] == 1
    assert trio.platform.operate("sweep_batches")["closed"] == 1
    assert trio.platform.batch(accepted["batchId"])["counts"]["scored"] == 1
