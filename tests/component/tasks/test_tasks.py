"""Tasks are kept within their organisation and name graders that it may use."""

import pytest

from autotune.protocol.ids import new_id
from tests.support.graders import LoopbackGrader
from tests.support.platform import Platform

FIELDS = {
    "name": "maths",
    "description": "Is the final answer right?",
    "promptTemplate": "Solve: {problem}",
    "metadata": {"level": 3, "weights": [0.1, 1e-300], "nested": {"a": None}},
    "shareIdentity": True,
    "deadlineSeconds": 3_600,
}


def test_a_task_keeps_every_field(platform: Platform, grader: LoopbackGrader) -> None:
    grader_id = platform.new_grader(grader)
    created = platform.call("POST", "/api/v1/tasks", {**FIELDS, "graderId": grader_id})
    assert created.status == 201
    task = created.json["task"]
    assert task.items() >= {**FIELDS, "graderId": grader_id}.items()
    assert platform.call("GET", f"/api/v1/tasks/{task['id']}").json["task"] == task
    assert platform.call("GET", "/api/v1/tasks").json["tasks"] == [task]


def test_a_task_is_changed_in_part_and_deleted(platform: Platform, grader: LoopbackGrader) -> None:
    task_id = platform.new_task(platform.new_grader(grader), description="kept")
    changed = platform.call("PATCH", f"/api/v1/tasks/{task_id}", {"name": "new"}).json["task"]
    assert (changed["name"], changed["description"]) == ("new", "kept")
    assert changed["updatedAt"] > changed["createdAt"]
    assert platform.call("DELETE", f"/api/v1/tasks/{task_id}").status == 204
    for method, body in [("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)]:
        assert platform.call(method, f"/api/v1/tasks/{task_id}", body).status == 404


def test_another_organisations_task_is_not_there(
    platform: Platform, grader: LoopbackGrader
) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    other = platform.new_organization("second")
    for method, body in [("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)]:
        answer = platform.call(method, f"/api/v1/tasks/{task_id}", body, api_key=other)
        unknown = platform.call(method, f"/api/v1/tasks/{new_id('task')}", body, api_key=other)
        assert answer.status == unknown.status == 404
        assert answer.json["title"] == unknown.json["title"]
    assert platform.call("GET", "/api/v1/tasks", api_key=other).json["tasks"] == []


def test_a_private_grader_of_another_organisation_is_unknown(
    platform: Platform, grader: LoopbackGrader
) -> None:
    grader_id = platform.new_grader(grader)
    other = platform.new_organization("second")
    body = {"name": "t", "graderId": grader_id}
    refused = platform.call("POST", "/api/v1/tasks", body, api_key=other)
    assert refused.status == 422
    assert "graderId" in refused.fields
    platform.call("PATCH", f"/api/v1/graders/{grader_id}", {"visibility": "public"})
    assert platform.call("POST", "/api/v1/tasks", body, api_key=other).status == 201


def test_an_unverified_grader_is_refused(platform: Platform, grader: LoopbackGrader) -> None:
    body = {"name": "g", "endpoint": grader.url}
    grader_id = platform.call("POST", "/api/v1/graders", body).json["grader"]["id"]
    answer = platform.call("POST", "/api/v1/tasks", {"name": "t", "graderId": grader_id})
    assert (answer.status, answer.json["code"]) == (409, "grader_not_verified")


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"name", "graderId"}),
        ({"name": "", "graderId": "grd_1"}, {"name", "graderId"}),
        ({"name": "x" * 201, "graderId": new_id("grd")}, {"name"}),
        ({"name": "x", "graderId": new_id("task")}, {"graderId"}),
        ({"name": "x", "graderId": new_id("grd"), "metadata": {"m": "x" * 70_000}}, {"metadata"}),
        ({"name": "x", "graderId": new_id("grd"), "metadata": {"m": "\ud800"}}, {"metadata"}),
        ({"name": "x", "graderId": new_id("grd"), "shareIdentity": "maybe"}, {"shareIdentity"}),
        ({"name": "x", "graderId": new_id("grd"), "owner": "me"}, {"owner"}),
    ],
)
def test_missing_and_wrong_fields_are_named(
    platform: Platform, body: dict, fields: set[str]
) -> None:
    answer = platform.call("POST", "/api/v1/tasks", body)
    assert (answer.status, answer.json["code"]) == (422, "invalid_request")
    assert set(answer.fields) == fields


def nested(levels: int) -> dict:
    value: dict = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_metadata_nests_sixty_four_levels_and_no_more(
    platform: Platform, grader: LoopbackGrader
) -> None:
    body = {"name": "t", "graderId": platform.new_grader(grader)}
    for levels in (65, 255, 400):
        answer = platform.call("POST", "/api/v1/tasks", {**body, "metadata": nested(levels)})
        assert answer.status == 422
        assert "64 levels" in answer.fields["metadata"]
    created = platform.call("POST", "/api/v1/tasks", {**body, "metadata": nested(64)})
    assert created.status == 201
    assert platform.call("GET", "/api/v1/tasks").json["tasks"] == [created.json["task"]]


def test_an_id_of_another_kind_is_not_there(platform: Platform, grader: LoopbackGrader) -> None:
    grader_id = platform.new_grader(grader)
    task_id = platform.new_task(grader_id)
    for method, path in [
        ("GET", f"/api/v1/tasks/{grader_id}"),
        ("PATCH", f"/api/v1/tasks/{grader_id}"),
        ("GET", f"/api/v1/graders/{task_id}"),
        ("DELETE", f"/api/v1/keys/{task_id}"),
        ("GET", f"/api/v1/completions/{task_id}"),
        ("GET", f"/api/v1/batches/{task_id}"),
        ("GET", "/api/v1/tasks/" + "x" * 3_000),
    ]:
        body = {"name": "x"} if method == "PATCH" else None
        assert platform.call(method, path, body).status == 404, path


def test_the_largest_task_fits(platform: Platform, grader: LoopbackGrader) -> None:
    body = {
        "name": "😀" * 200,
        "graderId": platform.new_grader(grader),
        "description": "😀" * 4_000,
        "promptTemplate": "😀" * 50_000,
        "metadata": {"m": "x" * 65_000},
    }
    assert platform.call("POST", "/api/v1/tasks", body).status == 201


def test_a_reviewer_sees_no_tasks(platform: Platform) -> None:
    answer = platform.call("GET", "/api/v1/tasks", api_key=platform.new_key("reviewer"))
    assert (answer.status, answer.json["code"]) == (403, "forbidden")


def test_deleting_answers_without_a_body(platform: Platform, grader: LoopbackGrader) -> None:
    task_id = platform.new_task(platform.new_grader(grader))
    assert platform.call("DELETE", f"/api/v1/tasks/{task_id}").text == ""
