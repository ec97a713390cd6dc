"""Copies of a batch are to the product what it stored itself."""

from collections import Counter
from datetime import datetime

import pytest

from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from benchmarks.repeated_batch import APART, ScoredBatch, items_of, store
from tests.support.graders import loopback_grader
from tests.support.obedient_grader import ObedientGrader
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform

COPIES = 45
MODELS = ("one", "two")


@pytest.fixture
def scored(monkeypatch):
    """A platform with one batch of four that was scored, and its copies."""
    with make_platform(monkeypatch) as platform, loopback_grader(kind=ObedientGrader) as grader:
        task_id = platform.new_task(platform.new_grader(grader))
        answer = platform.submit(
            task_id, *[{"modelId": MODELS[n % 2], "prompt": f"p{n // 2}"} for n in range(4)]
        )
        platform.score_everything()
        platform.project()
        client = clients.dynamodb()
        found = ScoredBatch.among(items_of(client, "completions"), answer.json["batchId"])
        store(Table("completions", client), found, range(1, 21))
        store(Table("completions", client), found, range(21, COPIES + 1))
        yield platform, task_id, found


def every(platform: Platform, path: str, name: str, **query):
    found, token = [], None
    while not found or token:
        page = platform.call(
            "GET", path, query={**query, **({"nextToken": token} if token else {})}
        )
        assert page.status == 200, page.text
        found += page.json[name]
        token = page.json["nextToken"]
    return found


def test_lists_have_every_copy_newest_first(scored):
    platform, task_id, found = scored
    batches = every(platform, "/api/v1/batches", "batches")
    assert len(batches) == COPIES + 1
    assert [one["createdAt"] for one in batches] == sorted(
        (one["createdAt"] for one in batches), reverse=True
    )
    assert {tuple(one["counts"].items()) for one in batches} == {
        tuple(batches[0]["counts"].items())
    }
    assert batches[0]["id"] == found.batch.id
    assert batches[0]["counts"]["scored"] == 4

    scores = every(platform, "/api/v1/scores", "scores", taskId=task_id, order="newest")
    assert len({one["completionId"] for one in scores}) == 4 * (COPIES + 1)
    assert Counter(one["modelId"] for one in scores) == dict.fromkeys(MODELS, 2 * (COPIES + 1))
    runs = every(platform, "/api/v1/runs", "runs", state="completed")
    assert len(runs) == COPIES + 1


def test_a_copy_can_be_read_as_what_was_scored_can(scored):
    platform, _, found = scored
    last = every(platform, "/api/v1/batches", "batches")[-1]
    assert found.batch.created_at - COPIES * APART == datetime.fromisoformat(last["createdAt"])
    for batch_id in (found.batch.id, last["id"]):
        batch = platform.batch(batch_id)
        assert batch["counts"]["scored"] == 4
        completions = [one["completionId"] for one in batch["verdicts"]]
        texts = [platform.call("GET", f"/api/v1/completions/{one}") for one in completions]
        assert [one.json["completion"]["prompt"] for one in texts] == ["p0", "p0", "p1", "p1"]
        way = platform.call("GET", f"/api/v1/completions/{completions[0]}/timeline")
        assert way.status == 200, way.text


def test_windows_count_every_copy_where_it_was_submitted(scored):
    platform, task_id, _ = scored
    month = platform.call("GET", "/api/v1/overview", query={"window": "30d"}).json["overview"]
    assert month["totals"]["counts"]["scored"] == 4 * (COPIES + 1)
    assert month["totals"]["submitted"] == 4 * (COPIES + 1)
    day = platform.call("GET", "/api/v1/overview", query={"window": "24h"}).json["overview"]
    assert 4 * 33 <= day["totals"]["counts"]["scored"] <= 4 * 37  # one in 40 minutes
    stats = platform.call("GET", f"/api/v1/tasks/{task_id}/stats", query={"window": "30d"}).json
    assert {one["modelId"]: one["counts"]["scored"] for one in stats["models"]} == dict.fromkeys(
        MODELS, 2 * (COPIES + 1)
    )


def test_a_batch_that_is_not_there_is_not_repeated(scored):
    with pytest.raises(ValueError, match="not enough values"):
        ScoredBatch.among([], scored[2].batch.id)
