"""Scoring many completions again, page by page and in more than one run."""

from collections import Counter
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.verdicts.service import VerdictService
from tests.component.completions.test_rescoring import failed, rescore, states, table
from tests.support.graders import LoopbackGrader
from tests.support.platform import Platform


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 50}))


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.protocol.retry.time.sleep", lambda _: None)


def walk(platform: Platform, key: str, **body: Any) -> list[Any]:
    """Score a task again page by page; return the answers."""
    answers: list[Any] = []
    tokens: list[str] = []
    while True:
        following = {"nextToken": tokens[-1]} if tokens else {}
        answers.append(rescore(platform, key=key, **body, **following).json)
        token = answers[-1]["nextToken"]
        if token is None:
            return answers
        assert token not in tokens, "it goes round"
        tokens.append(token)


def test_a_walk_by_the_same_key_ends_also_where_all_was_scored_again_before(
    platform: Platform, grader: LoopbackGrader, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        failed(platform, grader, task_id, size=4)
    rescoring = "autotune_platform.completions.rescoring"
    monkeypatch.setattr(f"{rescoring}.MAX_RESCORED_COMPLETIONS", 8)
    body = {"taskId": task_id, "states": ["failed", "scored"]}
    first = walk(platform, "k", **body)
    assert sum(one["rescored"] for one in first) == 12
    platform.score_everything()
    again = walk(platform, "k", **body)
    counted = {(one["batchId"], one["generation"]) for each in again for one in each["batches"]}
    assert {generation for _, generation in counted} == {1}
    assert len(counted) == 3


def test_a_walk_that_is_late_at_once_gets_on_past_texts_that_are_gone(
    platform: Platform, grader: LoopbackGrader, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = [failed(platform, grader, task_id, size=2) for _ in range(4)]
    for each in accepted[:3]:
        for completion_id in each["completionIds"]:
            platform.call("DELETE", f"/api/v1/completions/{completion_id}")
    service = "autotune_platform.completions.rescoring.RescoringService"
    monkeypatch.setattr(f"{service}._is_late", lambda *_: True)
    answers = walk(platform, "k", taskId=task_id)
    assert len(answers) > 2
    assert {one["batchId"] for each in answers for one in each["batches"]} == {
        accepted[3]["batchId"]
    }


def test_a_repeated_request_asks_about_nothing_in_another_run(
    platform: Platform, grader: LoopbackGrader, task_id: str
) -> None:
    accepted = failed(platform, grader, task_id, size=6)
    before = {run["run_id"] for run in platform.runs()}
    for decided in range(4):
        assert rescore(platform, key="k", batchId=accepted["batchId"]).json["rescored"] == 6
        platform.dispatch(platform.queued())
        (run,) = [one for one in platform.runs() if one["run_id"] not in before]
        some = run["completion_ids"][decided : decided + 1]
        platform.grade({**run, "completion_ids": some, "remaining": 1})
    assert Counter(states(platform, accepted["batchId"])) == {"scored": 4, "pending": 2}


def test_many_ids_that_nobody_knows_are_not_all_looked_up(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    first = VerdictService.first

    def noted(self: VerdictService, completion_id: str) -> Any:
        looked_up.append(completion_id)
        return first(self, completion_id)

    monkeypatch.setattr(VerdictService, "first", noted)
    answer = rescore(platform, completionIds=[new_id("cmp") for _ in range(300)])
    assert answer.status == 422
    assert len(answer.json["errors"]) == 20
    assert len(looked_up) == 20


def test_a_walk_through_ids_skips_no_batch_where_another_expires_meanwhile(
    platform: Platform, grader: LoopbackGrader, task_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = [failed(platform, grader, task_id, size=1) for _ in range(3)]
    ids = [each["completionIds"][0] for each in sorted(accepted, key=lambda one: one["batchId"])]
    service = "autotune_platform.completions.rescoring.RescoringService"
    late = iter([True, *[False] * 10])
    monkeypatch.setattr(f"{service}._is_late", lambda *_: next(late))
    first = rescore(platform, key="k", completionIds=ids).json
    assert first["rescored"] == 1
    table().delete_item(Key={"pk": ids[0], "sk": "content"})
    rest = rescore(platform, key="k", completionIds=ids, nextToken=first["nextToken"]).json
    assert (rest["rescored"], rest["nextToken"]) == (2, None)
