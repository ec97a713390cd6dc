"""``GET /api/v1/completions/{id}/timeline``: the whole way of a completion, from what is stored."""

from collections import Counter
from datetime import timedelta
from typing import Any

import boto3
import pytest

from autotune.protocol.ids import new_id
from autotune_platform.runtime import clients
from functions.runs import api as runs_api
from tests.support.clock import TurnedClock, passing_time
from tests.support.graders import (
    LoopbackGrader,
    answering,
    deferring,
    healthy,
    loopback_grader,
    scoring,
)
from tests.support.lambdas import Answer
from tests.support.platform import Platform


def timeline(platform: Platform, completion_id: str, **options: Any) -> Answer:
    return platform.call("GET", f"/api/v1/completions/{completion_id}/timeline", **options)


def read(platform: Platform, completion_id: str) -> Any:
    answer = timeline(platform, completion_id)
    assert answer.status == 200, answer.text
    entries = answer.json["timeline"]
    assert [one["at"] for one in entries] == sorted(one["at"] for one in entries)
    return answer.json


def kinds(told: Any) -> list[str]:
    return [one["kind"] for one in told["timeline"]]


def of_kind(told: Any, kind: str) -> Any:
    (found,) = [one for one in told["timeline"] if one["kind"] == kind]
    return found


def test_a_scored_completion_tells_its_run_its_verdict_and_its_event(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    task_id = platform.new_task(grader_id)
    (completion_id,) = platform.submit(task_id, {}).json["completionIds"]
    pending = read(platform, completion_id)
    assert (kinds(pending), pending["state"]) == (["submitted"], "pending")
    assert pending["waitsFor"] is None
    assert pending["until"] is not None
    platform.score_everything()
    told = read(platform, completion_id)
    assert kinds(told) == ["submitted", "run_began", "verdict", "run_ended"]
    verdict = of_kind(told, "verdict")
    score = platform.call("GET", f"/api/v1/completions/{completion_id}/score").json["verdict"]
    assert verdict["value"] == score["score"]["value"]
    assert (verdict["at"], verdict["graderId"]) == (score["decidedAt"], grader_id)
    run = platform.call("GET", f"/api/v1/runs/{verdict['runId']}").json["run"]
    assert completion_id in run["completionIds"]
    assert {one["runId"] for one in told["timeline"][1:]} == {run["id"]}
    assert verdict["eventId"].startswith("evt_")
    assert (told["waitsFor"], told["until"], told["forgotten"]) == (None, None, [])


def test_what_failed_waits_and_tells_codes_and_no_words_of_the_grader(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    (completion_id,) = platform.submit(task_id, {}).json["completionIds"]
    grader.disease = answering(status=503, body=b"secret words of the grader")
    platform.dispatch(platform.queued())
    (progress,) = platform.runs()
    left = platform.grade(progress)
    told = read(platform, completion_id)
    assert kinds(told)[:2] == ["submitted", "run_began"]
    assert of_kind(told, "run_waited")["waitsFor"] == "next_attempt"
    assert told["waitsFor"] == "next_attempt"
    assert told["until"] is not None
    assert "secret" not in str(told)
    grader.disease = healthy
    with passing_time() as clocks:
        clocks.reach(left["sleep_seconds"])
        platform.grade(left)
        again = read(platform, completion_id)
    assert kinds(again)[-1] in {"verdict", "run_ended"}
    assert of_kind(again, "verdict")["attempts"] == 2
    assert again["waitsFor"] is None


def test_a_grader_that_answers_later_is_asked_and_answers(platform: Platform) -> None:
    with loopback_grader() as grader:
        grader_id = platform.new_grader(grader, capabilities={"supportsAsync": True})
        task_id = platform.new_task(grader_id)
        (completion_id,) = platform.submit(task_id, {}).json["completionIds"]
        grader.disease = deferring
        platform.dispatch(platform.queued())
        (progress,) = platform.runs()
        platform.grade(progress)
        told = read(platform, completion_id)
    assert told["waitsFor"] == "callback"
    asked = of_kind(told, "asked")
    assert asked["until"] == told["until"]
    assert of_kind(told, "run_waited")["waitsFor"] == "callback"
    # To know a call's id is to be allowed to answer it.
    assert "call_" not in str(told)


def test_a_panel_and_a_person_stand_in_it_with_every_generation(
    platform: Platform, grader: LoopbackGrader
) -> None:
    with loopback_grader() as other:
        ids = [platform.new_grader(grader), platform.new_grader(other)]
        task_id = platform.new_task(
            graders=[{"graderId": id_} for id_ in ids],
            review={"confidenceBelow": 1.0},
        )
        (completion_id,) = platform.submit(task_id, {}).json["completionIds"]
        platform.score_everything()
        told = read(platform, completion_id)
    assert Counter(kinds(told))["opinion"] == 2
    assert {one["graderId"] for one in told["timeline"] if one["kind"] == "opinion"} == set(ids)
    requested = of_kind(told, "review_requested")
    assert told["waitsFor"] == "person"
    assert told["until"] == requested["until"]
    path = f"/api/v1/reviews/{requested['reviewId']}/answer"
    answered = platform.call("POST", path, {"value": 0.25, "explanation": "words of a person"})
    assert answered.status == 200, answered.text
    done = read(platform, completion_id)
    assert of_kind(done, "review_answered")["value"] == 0.25
    assert of_kind(done, "verdict")["decidedBy"] == "person"
    assert "words of a person" not in str(done)
    assert done["waitsFor"] is None


def test_what_was_scored_again_has_both_verdicts(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    grader.disease = scoring(2)
    (completion_id,) = platform.submit(task_id, {}).json["completionIds"]
    platform.score_everything()
    grader.disease = healthy
    body = {"completionIds": [completion_id]}
    assert platform.call("POST", "/api/v1/completions/rescore", body).status == 202
    platform.score_everything()
    told = read(platform, completion_id)
    verdicts = [one for one in told["timeline"] if one["kind"] == "verdict"]
    assert [one["state"] for one in verdicts] == ["failed", "scored"]
    assert verdicts[1]["generation"] == of_kind(told, "scored_again")["generation"] == 1
    assert verdicts[0]["eventId"] != verdicts[1]["eventId"]


def test_a_deleted_text_and_what_is_forgotten_are_said(
    platform: Platform, grader: LoopbackGrader, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    (completion_id,) = platform.submit(task_id, {}).json["completionIds"]
    platform.score_everything()
    run_id = of_kind(read(platform, completion_id), "verdict")["runId"]
    assert platform.call("DELETE", f"/api/v1/completions/{completion_id}").status == 204
    assert "text_gone" in kinds(read(platform, completion_id))
    # A run goes by itself; here at once.
    boto3.resource("dynamodb").Table("completions").delete_item(Key={"pk": run_id, "sk": "run"})
    later = TurnedClock(timedelta(days=31))
    monkeypatch.setattr(runs_api.parts().timelines, "clock", later)
    told = read(platform, completion_id)
    assert kinds(told) == ["submitted", "verdict", "text_gone"]
    assert [one["what"] for one in told["forgotten"]] == ["runs", "calls"]


def test_another_organisation_finds_no_timeline(platform: Platform, grader: LoopbackGrader) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    (completion_id,) = platform.submit(task_id, {}).json["completionIds"]
    other = platform.new_organization("second")
    for id_ in (completion_id, new_id("cmp"), "xyz"):
        assert timeline(platform, id_, api_key=other).status == 404


@pytest.mark.parametrize("size", [1, 100])
def test_a_timeline_is_a_constant_number_of_reads(
    platform: Platform, grader: LoopbackGrader, size: int
) -> None:
    task_id = platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 50}))
    ids = platform.submit(task_id, *[{}] * size).json["completionIds"]
    platform.score_everything()
    calls: Counter[str] = Counter()

    def count(model: Any, **_: Any) -> None:
        calls[model.name] += 1

    events = clients.dynamodb().meta.events
    events.register("before-call.dynamodb.*", count)
    read(platform, ids[-1])
    events.unregister("before-call.dynamodb.*", count)
    assert calls["Query"] == 2
    assert calls["BatchGetItem"] <= 8
