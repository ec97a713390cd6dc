"""Tasks are kept within their organisation and name graders that it may use."""

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.runtime import clients
from autotune_platform.storage.registry import RECORD
from autotune_platform.storage.table import Table
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
A = new_id("grd")
REVIEW = {
    "confidenceBelow": 0.5,
    "disagreementAbove": 0.25,
    "sampledShare": 0.05,
    "expiresAfterSeconds": 3_600,
    "onExpiry": "abstain",
    "instructions": "Check the arithmetic.",
    "showReference": True,
    "showMetadata": False,
    "secondOpinionShare": 0.25,
    "correctWithinMinutes": 10,
}


@pytest.fixture
def three(platform: Platform, grader: LoopbackGrader) -> list[str]:
    """Three verified graders."""
    return [platform.new_grader(grader) for _ in range(3)]


def named(*ids: str) -> list[dict[str, object]]:
    return [{"graderId": id_, "weight": 1.5} for id_ in ids]


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
        ({"name": "x", "graderId": new_id("grd"), "graders": [{"graderId": A}]}, {"graderId"}),
        ({"name": "x", "graders": []}, {"graders"}),
        ({"name": "x", "graders": [{"graderId": A}, {"graderId": A}]}, {"graders"}),
        ({"name": "x", "graders": [{"graderId": new_id("grd")} for _ in range(11)]}, {"graders"}),
        ({"name": "x", "graders": [{"graderId": A}, {"graderId": "x"}]}, {"graders[1].graderId"}),
        ({"name": "x", "graders": [{"graderId": A, "weight": 0}]}, {"graders[0].weight"}),
        ({"name": "x", "graders": [{"graderId": A, "weight": 1001}]}, {"graders[0].weight"}),
        ({"name": "x", "graders": [{"graderId": A}], "quorum": 2}, {"quorum"}),
        ({"name": "x", "graderId": A, "quorum": 0}, {"quorum"}),
        ({"name": "x", "graderId": A, "aggregation": "best"}, {"aggregation"}),
        (
            {"name": "x", "graderId": A, "review": {"sampledShare": 1.5, "onExpiry": "wait"}},
            {"review.sampledShare", "review.onExpiry"},
        ),
        (
            {"name": "x", "graderId": A, "review": {"expiresAfterSeconds": 59}},
            {"review.expiresAfterSeconds"},
        ),
        (
            {
                "name": "x",
                "graderId": A,
                "review": {
                    "secondOpinionShare": -0.1,
                    "correctWithinMinutes": 1_441,
                    "showReference": "maybe",
                },
            },
            {"review.secondOpinionShare", "review.correctWithinMinutes", "review.showReference"},
        ),
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


def test_a_task_with_one_grader_shows_it_both_ways(platform: Platform, three: list[str]) -> None:
    first, *_ = three
    for given in ({"graderId": first}, {"graders": [{"graderId": first}]}):
        answer = platform.call("POST", "/api/v1/tasks", {"name": "t", **given})
        task = answer.json["task"]
        assert task["graderId"] == first
        assert task["graders"] == [{"graderId": first, "weight": 1.0}]
        assert (task["aggregation"], task["quorum"], task["review"]) == ("mean", None, None)


def test_a_task_keeps_several_graders_and_its_policy(platform: Platform, three: list[str]) -> None:
    fields = {
        "graders": named(*three),
        "aggregation": "confidence_weighted",
        "quorum": 2,
        "review": REVIEW,
    }
    created = platform.call("POST", "/api/v1/tasks", {"name": "t", **fields})
    assert created.status == 201
    task = created.json["task"]
    assert task.items() >= {**fields, "graderId": None}.items()
    assert platform.call("GET", f"/api/v1/tasks/{task['id']}").json["task"] == task


def test_other_graders_take_the_place_of_all(platform: Platform, three: list[str]) -> None:
    first, second, third = three
    task_id = platform.new_task(graders=named(*three), quorum=2, review=REVIEW)

    def changed(body: dict) -> dict:
        answer = platform.call("PATCH", f"/api/v1/tasks/{task_id}", body)
        assert answer.status == 200, answer.text
        task: dict = answer.json["task"]
        assert platform.call("GET", f"/api/v1/tasks/{task_id}").json["task"] == task
        return task

    assert changed({"quorum": 3})["quorum"] == 3
    assert changed({"quorum": None})["quorum"] is None
    assert changed({"quorum": 2})["graders"] == named(*three)
    one = changed({"graderId": first})
    assert (one["graderId"], one["quorum"]) == (first, None)
    assert one["graders"] == [{"graderId": first, "weight": 1.0}]
    two = changed({"graders": named(second, third), "quorum": 1})
    assert (two["graderId"], two["graders"], two["quorum"]) == (None, named(second, third), 1)
    assert changed({"name": "renamed"})["review"] == REVIEW
    assert changed({"review": None})["review"] is None
    refused = platform.call("PATCH", f"/api/v1/tasks/{task_id}", {"quorum": 3})
    assert (refused.status, set(refused.fields)) == (422, {"quorum"})
    both = {"graderId": first, "graders": named(second)}
    refused = platform.call("PATCH", f"/api/v1/tasks/{task_id}", both)
    assert (refused.status, set(refused.fields)) == (422, {"graderId"})


def test_each_of_several_graders_must_be_usable(
    platform: Platform, grader: LoopbackGrader, three: list[str]
) -> None:
    body = {"name": "t", "graders": named(three[0], new_id("grd"))}
    unknown = platform.call("POST", "/api/v1/tasks", body)
    assert (unknown.status, set(unknown.fields)) == (422, {"graders[1].graderId"})
    registered = platform.call("POST", "/api/v1/graders", {"name": "g", "endpoint": grader.url})
    unverified = registered.json["grader"]["id"]
    body = {"name": "t", "graders": named(three[0], unverified)}
    refused = platform.call("POST", "/api/v1/tasks", body)
    assert (refused.status, refused.json["code"]) == (409, "grader_not_verified")
    assert unverified in refused.json["detail"]


def test_a_person_judges_alone(platform: Platform, three: list[str]) -> None:
    person, *others = three
    Table("registry", clients.dynamodb()).update(person, RECORD, {"kind": "human"})
    refused = platform.call(
        "POST", "/api/v1/tasks", {"name": "t", "graders": named(others[0], person)}
    )
    assert (refused.status, set(refused.fields)) == (422, {"graders[1].graderId"})
    assert person in refused.json["detail"]
    task_id = platform.new_task(person)
    refused = platform.call("PATCH", f"/api/v1/tasks/{task_id}", {"graders": named(*three)})
    assert (refused.status, set(refused.fields)) == (422, {"graders[0].graderId"})
