"""``GET /api/v1/batches`` and a batch's completions: what came, and what of it is pending."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.completions import batch_walk
from autotune_platform.completions.batch_index import BatchIndex
from autotune_platform.completions.batch_walk import BatchWalk
from autotune_platform.completions.models import Batch, Segment
from autotune_platform.completions.repository import CompletionRepository
from autotune_platform.runtime import clients
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.storage.table import Table
from tests.support.graders import LoopbackGrader, healthy, loopback_grader, scoring
from tests.support.platform import Platform

START = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def task_id(platform: Platform, grader: LoopbackGrader) -> str:
    return platform.new_task(platform.new_grader(grader, capabilities={"maxBatchSize": 50}))


@pytest.fixture
def other_grader_id(platform: Platform) -> Iterator[str]:
    with loopback_grader() as other:
        yield platform.new_grader(other)


@contextmanager
def counted_calls() -> Iterator[Counter[str]]:
    """Count what the process's client asks of DynamoDB, by operation."""
    calls: Counter[str] = Counter()

    def count(model: Any, **_: Any) -> None:
        calls[model.name] += 1

    events = clients.dynamodb().meta.events
    events.register("before-call.dynamodb.*", count)
    try:
        yield calls
    finally:
        events.unregister("before-call.dynamodb.*", count)


def walk(platform: Platform, path: str, name: str, **query: Any) -> list[Any]:
    """Return all pages of a list."""
    found: list[Any] = []
    while True:
        answer = platform.call("GET", path, query=query)
        assert answer.status == 200, answer.text
        found += answer.json[name]
        if answer.json["nextToken"] is None:
            return found
        query["nextToken"] = answer.json["nextToken"]


def listed(platform: Platform, **query: Any) -> list[Any]:
    return walk(platform, "/api/v1/batches", "batches", **query)


def completions_of(platform: Platform, batch_id: str, **query: Any) -> list[Any]:
    return walk(platform, f"/api/v1/batches/{batch_id}/completions", "completions", **query)


def test_batches_are_listed_newest_first_with_the_counts_of_the_batch_itself(
    platform: Platform, grader: LoopbackGrader, task_id: str, other_grader_id: str
) -> None:
    other_task = platform.new_task(other_grader_id)
    grader.disease = scoring(2)
    failing = platform.submit(task_id, {}, {}, {}).json["batchId"]
    platform.score_everything()
    grader.disease = healthy
    good = platform.submit(task_id, {}, {"taskId": other_task}).json["batchId"]
    platform.score_everything()
    platform.project()
    single = platform.call(
        "POST",
        "/api/v1/completions",
        {"taskId": other_task, "modelId": "m", "prompt": "p", "response": "r"},
    ).json["completion"]["batchId"]

    everything = listed(platform)
    assert [one["id"] for one in everything] == [single, good, failing]
    for one in everything:
        whole = platform.batch(one["id"])
        assert one["counts"] == whole["counts"]
        assert one["createdAt"] == whole["createdAt"]
    assert [one["state"] for one in everything] == ["open", "closed", "closed"]
    assert everything[1]["taskIds"] == [task_id, other_task]
    assert [one["tasks"] for one in everything] == [1, 2, 1]
    assert listed(platform, limit=1) == everything
    assert [one["id"] for one in listed(platform, state="open")] == [single]
    assert [one["id"] for one in listed(platform, state="closed", limit=1)] == [good, failing]
    assert [one["id"] for one in listed(platform, taskId=other_task)] == [single, good]
    assert listed(platform, taskId=new_id("task")) == []

    # Scored again, its counts are of what is latest of each completion.
    body = {"batchId": failing, "states": ["failed"]}
    again = platform.call("POST", "/api/v1/completions/rescore", body)
    assert again.status == 202, again.text
    (reopened,) = [one for one in listed(platform, state="open") if one["id"] == failing]
    assert (reopened["generation"], reopened["counts"]["pending"]) == (1, 3)
    platform.score_everything()
    platform.project()
    (done,) = [one for one in listed(platform) if one["id"] == failing]
    assert done["counts"] == platform.batch(failing)["counts"]
    assert done["counts"]["scored"] == 3


def test_another_organisation_sees_none_of_them(platform: Platform, task_id: str) -> None:
    batch_id = platform.submit(task_id, {}, {}).json["batchId"]
    other = platform.new_organization("second")
    assert platform.call("GET", "/api/v1/batches", api_key=other).json["batches"] == []
    path = f"/api/v1/batches/{batch_id}/completions"
    refused = platform.call("GET", path, api_key=other)
    unknown = platform.call("GET", f"/api/v1/batches/{new_id('bat')}/completions", api_key=other)
    assert (refused.status, unknown.status) == (404, 404)
    assert refused.json["title"] == unknown.json["title"]
    # Nor by a token of the organisation whose they are.
    token = encode_cursor("batches", f"2999#{batch_id}")
    page = platform.call("GET", "/api/v1/batches", query={"nextToken": token}, api_key=other)
    assert page.json["batches"] == []


def test_a_page_of_batches_takes_a_constant_number_of_reads(
    platform: Platform, task_id: str
) -> None:
    def cost() -> Counter[str]:
        with counted_calls() as calls:
            assert len(platform.call("GET", "/api/v1/batches", query={"limit": 4}).json) == 2
        return Counter({name: calls[name] for name in ("Query", "BatchGetItem", "GetItem")})

    for _ in range(5):
        platform.submit(task_id, {})
    few = cost()
    fill(platform.me()["organizationId"], 60)
    many = cost()
    # One of each lane, and few more where a lane had more of the page than its share.
    assert 8 <= few["Query"] <= many["Query"] <= 16
    assert few["BatchGetItem"] == many["BatchGetItem"] == 2


def fill(organization_id: str, count: int, **fields: Any) -> list[str]:
    """Store accepted batches of one completion, a second after each other; newest last."""
    table = Table("completions", clients.dynamodb())
    repository = CompletionRepository(table=table, bucket="content", s3=clients.s3())
    made = []
    for number in range(count):
        segment = Segment(
            task_id=fields.get("task_id", new_id("task")),
            grader_id=new_id("grd"),
            grader_version="1",
            share_identity=False,
            count=1,
        )
        at = START + timedelta(seconds=number)
        batch = Batch(
            id=new_id("bat"),
            organization_id=organization_id,
            fingerprint="f",
            status=fields.get("status", "accepted"),
            priority="normal",
            segments=[segment],
            estimated_score_time_ms=1,
            created_at=at,
            attempted_at=at,
        )
        assert repository.add_batch(batch)
        made.append(batch.id)
    return made


def test_a_page_ends_when_it_has_looked_at_enough(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    organization_id, task_id = platform.me()["organizationId"], new_id("task")
    wanted = fill(organization_id, 1, task_id=task_id)
    rest = fill(organization_id, 250)
    monkeypatch.setattr(batch_walk, "MOST_LOOKED_AT", 100)
    table = Table("completions", clients.dynamodb())
    batches = BatchWalk(
        index=BatchIndex(table),
        repository=CompletionRepository(table=table, bucket="content", s3=clients.s3()),
    )
    pages = []
    token = None
    while True:
        found, token = batches.page(
            organization_id, state=None, task_id=task_id, limit=5, next_token=token
        )
        pages.append([one.id for one in found])
        if token is None:
            break
    assert pages == [[], [], wanted]
    whole = [one["id"] for one in listed(platform, limit=50)]
    assert whole[:249] == rest[:0:-1]
    # The first of both came at the same time: their ids decide.
    assert sorted(whole[249:]) == sorted([*rest[:1], *wanted])


def test_what_was_never_accepted_is_not_listed(platform: Platform) -> None:
    organization_id = platform.me()["organizationId"]
    fill(organization_id, 1, status="interrupted")
    fill(organization_id, 1, status="given_up")
    (accepted,) = fill(organization_id, 1)
    assert [one["id"] for one in listed(platform)] == [accepted]


def test_the_completions_of_a_batch_are_listed_by_where_they_stand(
    platform: Platform, task_id: str, other_grader_id: str
) -> None:
    other_task = platform.new_task(other_grader_id)
    accepted = platform.submit(
        task_id,
        *({"modelId": f"m-{n}"} for n in range(4)),
        *({"taskId": other_task, "modelId": f"m-{n}"} for n in range(4, 7)),
    ).json
    batch_id, ids = accepted["batchId"], accepted["completionIds"]
    canceled = platform.call("POST", f"/api/v1/completions/{ids[2]}/cancel")
    assert canceled.status == 200, canceled.text

    def of(**query: Any) -> list[str]:
        return [one["completionId"] for one in completions_of(platform, batch_id, **query)]

    everything = completions_of(platform, batch_id, limit=2)
    assert [one["completionId"] for one in everything] == ids
    assert [one["modelId"] for one in everything] == [f"m-{n}" for n in range(7)]
    assert [one["taskId"] for one in everything] == [task_id] * 4 + [other_task] * 3
    assert of(state="pending", limit=3) == [ids[n] for n in (0, 1, 3, 4, 5, 6)]
    assert of(state="canceled") == [ids[2]]
    assert of(graderId=other_grader_id, limit=1) == ids[4:]
    assert of(graderId=other_grader_id, state="canceled") == []
    platform.score_everything()
    assert of(state="pending") == []
    scored = completions_of(platform, batch_id, state="scored")
    assert len(scored) == 6
    verdicts = platform.batch(batch_id)["verdicts"]
    assert scored == [one for one in verdicts if one["state"] == "scored"]


def test_a_page_of_completions_reads_no_more_than_the_batch_has(
    platform: Platform, task_id: str
) -> None:
    batch_id = platform.submit(task_id, *[{}] * 250).json["batchId"]
    path = f"/api/v1/batches/{batch_id}/completions"
    with counted_calls() as calls:
        page = platform.call("GET", path, query={"state": "scored", "limit": 10}).json
    assert page == {"completions": [], "nextToken": None}
    assert calls["BatchGetItem"] == 3
    with counted_calls() as calls:
        page = platform.call("GET", path, query={"limit": 10}).json
    assert len(page["completions"]) == 10
    assert page["nextToken"]
    # Verdicts of eleven, and the models of the ten that are pending.
    assert calls["BatchGetItem"] == 2
    assert calls["Query"] == 0


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"state": "half"}, "state"),
        ({"taskId": "xyz"}, "taskId"),
        ({"limit": "0"}, "limit"),
        ({"nextToken": "x"}, "nextToken"),
        ({"nextToken": encode_cursor("batches", "")}, "nextToken"),
        ({"nextToken": encode_cursor("runs", "2026")}, "nextToken"),
    ],
)
def test_what_no_batch_can_match_is_refused_by_name(
    platform: Platform, query: dict[str, str], field: str
) -> None:
    refused = platform.call("GET", "/api/v1/batches", query=query)
    assert refused.status == 422, refused.text
    assert refused.json["errors"][0]["field"] == field


@pytest.mark.parametrize("place", ["x", "-1", "²", "1000000"])
def test_a_place_of_another_list_is_refused(platform: Platform, task_id: str, place: str) -> None:
    batch_id = platform.submit(task_id, {}).json["batchId"]
    path = f"/api/v1/batches/{batch_id}/completions"
    for token in (encode_cursor(batch_id, place), encode_cursor(new_id("bat"), "0")):
        refused = platform.call("GET", path, query={"nextToken": token})
        assert refused.status == 422, refused.text
        assert refused.json["errors"][0]["field"] == "nextToken"
