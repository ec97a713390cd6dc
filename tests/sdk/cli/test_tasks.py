import json

import pytest

from autotune.cli import exit_codes


def test_tasks_are_created_listed_shown_and_deleted(api, run, task_id):
    grader_id = api.grader_id
    created = run(
        "tasks", "create", "--name", "proofs", "--grader", grader_id,
        "--metadata", '{"level": 3}', "--share-identity", "--json",
        "--deadline-seconds", 3600, "--uncalibrated", "refuse",
    )  # fmt: skip
    task = created.json_lines[0]
    assert (task["metadata"], task["shareIdentity"]) == ({"level": 3}, True)
    assert (task["deadlineSeconds"], task["uncalibrated"]) == (3600, "refuse")
    assert "proofs" in run("tasks", "list").stdout
    assert f"id               {task['id']}" in run("tasks", "get", task["id"]).stdout
    assert run("tasks", "delete", task["id"]).exit_code == 0
    assert run("tasks", "get", task["id"]).exit_code == exit_codes.NOT_FOUND


@pytest.fixture
def second_id(api):
    """Another verified grader."""
    return api.new_grader()


def test_a_task_with_several_graders_and_a_review_policy(
    api, run, task_id, second_id, write_jsonl, completions
):
    first_id = api.grader_id
    created = run(
        "tasks", "create", "--name", "panel", "--json",
        "--grader", f"{first_id}=2.5", "--grader", second_id,
        "--aggregation", "majority", "--quorum", 1,
        "--review-confidence-below", 0.5, "--review-disagreement-above", 0.25,
        "--review-sampled-share", 0.1, "--review-expires-after", 3600,
        "--review-on-expiry", "abstain", "--review-instructions", "Look twice.",
        "--review-show-reference", "--review-second-opinion-share", 0.2,
        "--review-correct-within", 10,
    )  # fmt: skip
    task = created.json_lines[0]
    assert task["graders"] == [
        {"graderId": first_id, "weight": 2.5},
        {"graderId": second_id, "weight": 1.0},
    ]
    assert (task["graderId"], task["aggregation"], task["quorum"]) == (None, "majority", 1)
    assert task["review"] == {
        "confidenceBelow": 0.5,
        "disagreementAbove": 0.25,
        "sampledShare": 0.1,
        "expiresAfterSeconds": 3600,
        "onExpiry": "abstain",
        "instructions": "Look twice.",
        "showReference": True,
        "showMetadata": False,
        "secondOpinionShare": 0.2,
        "correctWithinMinutes": 10,
    }
    assert "2 graders" in run("tasks", "list").stdout
    # One that asks nobody: a share of the completions above would wait for a person.
    graders = ["--grader", f"{first_id}=2.5", "--grader", second_id]
    (plain,) = run("tasks", "create", "--name", "plain", *graders, "--json").json_lines
    run("submit", write_jsonl(completions(2)), "--task", plain["id"])
    for verdict in run("scores", "--task", plain["id"], "--json").json_lines:
        assert [one["graderId"] for one in verdict["opinions"]] == [first_id, second_id]
        assert verdict["decidedBy"] == "panel"


def test_an_unknown_grader_among_several_is_named(api, run, task_id):
    known, unknown = api.grader_id, "grd_" + "0" * 26
    ran = run("tasks", "create", "--name", "x", "--grader", known, "--grader", unknown)
    assert ran.exit_code == exit_codes.NOT_FOUND
    assert f"no grader {unknown}" in ran.stderr


@pytest.mark.parametrize("weight", ["=0", "=-1", "=1001", "=heavy", "=nan", "="])
def test_a_weight_out_of_range_is_wrong_usage(run, weight):
    ran = run("tasks", "create", "--name", "x", "--grader", f"grd_{'0' * 26}{weight}")
    assert ran.exit_code == exit_codes.USAGE
    assert "--grader" in ran.stderr


def test_a_grader_named_twice_is_wrong_usage(run):
    grader_id = "grd_" + "0" * 26
    ran = run("tasks", "create", "--name", "x", "--grader", grader_id, "--grader", grader_id)
    assert ran.exit_code == exit_codes.USAGE
    assert "twice" in ran.stderr


@pytest.mark.parametrize("metadata", ["{", "[]"])
def test_metadata_that_is_no_object_is_wrong_usage(run, task_id, metadata):
    ran = run("tasks", "create", "--name", "x", "--grader", "g", "--metadata", metadata)
    assert ran.exit_code == exit_codes.USAGE
    assert "--metadata" in ran.stderr


@pytest.fixture
def update(run, task_id):
    """Update the task, and return what the command shows."""

    def updated(*options):
        (task,) = run("tasks", "update", task_id, *options, "--json").json_lines
        return task

    return updated


def test_what_is_given_of_a_task_is_changed_and_the_rest_stays(api, update, task_id):
    changed = update(
        "--name", "proofs", "--description", "hard", "--prompt-template", "{x}",
        "--metadata", '{"level": 3}', "--share-identity",
    )  # fmt: skip
    assert (changed["name"], changed["description"]) == ("proofs", "hard")
    assert (changed["promptTemplate"], changed["metadata"]) == ("{x}", {"level": 3})
    assert changed["shareIdentity"] is True
    renamed = update("--name", "lemmas")
    assert renamed == {**changed, "name": "lemmas", "updatedAt": renamed["updatedAt"]}
    assert json.loads(api.received[-1].body) == {"name": "lemmas"}
    assert update("--no-share-identity")["shareIdentity"] is False
    assert update("--uncalibrated", "allow")["uncalibrated"] == "allow"
    assert update("--no-uncalibrated")["uncalibrated"] is None


def test_other_graders_take_the_place_of_a_tasks(api, update, task_id, second_id):
    first_id = api.grader_id
    several = update(
        "--grader", first_id, "--grader", f"{second_id}=2", "--aggregation", "min", "--quorum", 1
    )
    assert several["graders"] == [
        {"graderId": first_id, "weight": 1.0},
        {"graderId": second_id, "weight": 2.0},
    ]
    assert (several["graderId"], several["aggregation"], several["quorum"]) == (None, "min", 1)
    assert update("--no-quorum")["quorum"] is None
    assert update("--grader", second_id)["graderId"] == second_id


def test_an_unknown_grader_of_an_update_is_named(run, task_id):
    unknown = "grd_" + "0" * 26
    ran = run("tasks", "update", task_id, "--grader", unknown)
    assert ran.exit_code == exit_codes.NOT_FOUND
    assert f"no grader {unknown}" in ran.stderr


def test_a_review_policy_is_changed_piece_by_piece_and_dropped(update):
    def review_after(*options):
        review = update(*options)["review"]
        defaults = {
            "expiresAfterSeconds": 259_200,
            "onExpiry": "keep",
            "instructions": "",
            "showReference": False,
            "showMetadata": False,
            "correctWithinMinutes": 0,
        }
        return review and dict(review.items() - defaults.items() - dict.fromkeys(review).items())

    assert review_after("--review-confidence-below", 0.5) == {"confidenceBelow": 0.5}
    assert review_after("--review-on-expiry", "fail") == {
        "confidenceBelow": 0.5,
        "onExpiry": "fail",
    }
    assert review_after("--no-review", "--review-sampled-share", 0.1) == {"sampledShare": 0.1}
    assert review_after("--no-review") is None


def test_deadline_and_retention_are_set_and_lifted(update):
    bounded = update("--deadline-seconds", 60, "--retention-days", 3)
    assert (bounded["deadlineSeconds"], bounded["retentionDays"]) == (60, 3)
    free = update("--no-deadline", "--no-retention")
    assert (free["deadlineSeconds"], free["retentionDays"]) == (None, None)


@pytest.mark.parametrize(
    "options",
    [
        ["--quorum", 1, "--no-quorum"],
        ["--deadline-seconds", 60, "--no-deadline"],
        ["--retention-days", 3, "--no-retention"],
    ],
    ids=lambda options: options[0],
)
def test_a_value_together_with_what_lifts_it_is_wrong_usage(run, task_id, options):
    ran = run("tasks", "update", task_id, *options)
    assert ran.exit_code == exit_codes.USAGE
    assert options[0] in ran.stderr
    assert options[2] in ran.stderr
