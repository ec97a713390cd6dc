"""``GET /api/v1/scores``: every filter, of one task or of all, for who may see them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.verdicts.models import Verdict
from tests.support.graders import loopback_grader
from tests.support.lambdas import Answer
from tests.support.platform import Platform
from tests.support.platform import platform as make_platform
from tests.support.verdicts import FIRST, GRADERS, MODELS, store, verdict


@dataclass
class World:
    """Two organisations with scores, and a task of the first that is deleted."""

    platform: Platform
    tasks: list[str]
    verdicts: list[Verdict]
    other_key: str
    other_task: str

    def get(self, *, api_key: str | None = None, **query: Any) -> Answer:
        return self.platform.call("GET", "/api/v1/scores", query=query, api_key=api_key)

    def walk(self, *, api_key: str | None = None, **query: Any) -> list[str]:
        """Return the completions of a whole list, as often as it tells them."""
        found: list[str] = []
        while True:
            answer = self.get(api_key=api_key, **query)
            assert answer.status == 200, answer.text
            found += [score["completionId"] for score in answer.json["scores"]]
            if answer.json["nextToken"] is None:
                return sorted(found)
            query["nextToken"] = answer.json["nextToken"]

    def ids(self, **fields: Any) -> list[str]:
        """Return the completions whose verdicts have those values."""
        return sorted(
            each.completion_id
            for each in self.verdicts
            if all(getattr(each, name) == value for name, value in fields.items())
        )


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with (
        pytest.MonkeyPatch.context() as patched,
        make_platform(patched) as platform,
        loopback_grader() as grader,
    ):
        grader_id = platform.new_grader(grader, visibility="public")
        tasks = [platform.new_task(grader_id) for _ in range(3)]
        organization_id = platform.me()["organizationId"]
        verdicts = [
            verdict(number, organization_id=organization_id, task_id=tasks[number % 3])
            for number in range(90)
        ]
        platform.call("DELETE", f"/api/v1/tasks/{tasks[1]}")
        other_key = platform.new_organization("second")
        made = platform.call(
            "POST", "/api/v1/tasks", {"name": "t", "graderId": grader_id}, api_key=other_key
        )
        other_task = made.json["task"]["id"]
        store(verdicts)
        other = platform.me(other_key)["organizationId"]
        store([verdict(900, organization_id=other, task_id=other_task)])
        yield World(platform, tasks, verdicts, other_key, other_task)


def test_without_a_task_every_task_is_walked_through_deleted_or_not(world: World) -> None:
    assert world.walk() == world.ids()
    assert world.walk(limit=7) == world.ids()
    others = world.walk(api_key=world.other_key)
    assert others
    assert not set(others) & set(world.ids())


def test_filters_narrow_the_list_of_all_tasks_as_that_of_one(world: World) -> None:
    chosen = {"modelId": MODELS[1], "graderId": GRADERS[0], "state": "scored"}
    fields = {"model_id": MODELS[1], "grader_id": GRADERS[0], "state": "scored"}
    assert 0 < len(world.walk(**chosen)) < 30
    assert world.walk(**chosen, limit=2) == world.ids(**fields)
    one = world.walk(**chosen, taskId=world.tasks[0])
    assert one == world.ids(**fields, task_id=world.tasks[0]) != []


def test_scores_and_times_are_ranges(world: World) -> None:
    values = {each.completion_id: each.value for each in world.verdicts}
    expected = [id_ for id_ in world.ids() if values[id_] is not None and 0.3 <= values[id_] <= 0.6]
    assert world.walk(minScore="0.3", maxScore="0.6") == expected
    lowest = min(value for value in values.values() if value is not None)
    assert len(world.walk(minScore=lowest, maxScore=lowest)) == 1
    start, end = world.verdicts[10], world.verdicts[20]
    listed = world.walk(
        startDate=start.decided_at.isoformat(), endDate=end.decided_at.isoformat(), limit=3
    )
    assert listed == sorted(each.completion_id for each in world.verdicts[10:20])


@pytest.mark.parametrize(
    ("query", "field", "expected"),
    [
        ({"taskId": "xyz"}, "taskId", "an id such as task_…"),
        ({"modelId": ""}, "modelId", "at least 1 character"),
        ({"modelId": "m" * 201}, "modelId", "at most 200 characters"),
        ({"graderId": "xyz"}, "graderId", "an id such as grd_… or pnl_…"),
        ({"minScore": "-0.1"}, "minScore", "greater than or equal to 0"),
        ({"maxScore": "1.5"}, "maxScore", "less than or equal to 1"),
        ({"minScore": "nan"}, "minScore", "less than or equal to 1"),
        ({"minScore": "high"}, "minScore", "valid number"),
        ({"minScore": "0.6", "maxScore": "0.5"}, "maxScore", "at least minScore, 0.6"),
        ({"startDate": "2026-01-01T00:00:00"}, "startDate", "timezone"),
        ({"startDate": "yesterday"}, "startDate", "ISO 8601 time with a zone"),
        ({"endDate": "9999-12-31T23:59:59-05:00"}, "endDate", "years 1 to 9999"),
        (
            {"startDate": "2026-01-02T00:00:00Z", "endDate": "2026-01-02T00:00:00Z"},
            "endDate",
            "a time after startDate, 2026-01-02T00:00:00+00:00",
        ),
        ({"state": "pending"}, "state", "'scored', 'abstained', 'failed' or 'canceled'"),
        ({"limit": "201"}, "limit", "less than or equal to 200"),
        ({"nextToken": "xyz"}, "nextToken", "the nextToken of the page before"),
    ],
)
def test_a_wrong_parameter_is_named(
    world: World, query: dict[str, str], field: str, expected: str
) -> None:
    answer = world.get(**query)
    assert (answer.status, answer.json["code"]) == (422, "invalid_request"), answer.text
    assert list(answer.fields) == [field]
    assert expected in answer.fields[field]


def test_a_model_may_be_named_as_models_are(world: World) -> None:
    odd = "org/base,v2 +50% (ü)#1"
    store([verdict(901, task_id=world.other_task, model_id=odd)])
    (score,) = world.get(api_key=world.other_key, modelId=odd).json["scores"]
    assert score["modelId"] == odd
    assert world.walk(api_key=world.other_key, modelId="org/base") == []


def test_a_forged_place_in_another_organisations_task_is_like_one_in_none(world: World) -> None:
    refused = [
        world.get(nextToken=encode_cursor(task_id, "0", "", "", ""))
        for task_id in (world.other_task, new_id("task"))
    ]
    assert {answer.status for answer in refused} == {422}
    assert {tuple(answer.fields.items()) for answer in refused} == {
        (("nextToken", "the nextToken of the page before"),)
    }


def test_what_is_scored_from_now_on_is_found_by_the_time_before(world: World) -> None:
    """A list can be gone on with later: all that was decided before a time, then all since."""
    middle = FIRST.isoformat()
    assert world.walk(endDate=middle) == []
    assert world.walk(startDate=middle) == world.ids()
