import json
import re

from autotune.cli import exit_codes
from autotune.protocol.ids import new_id


def test_reviews_are_listed_taken_shown_and_answered(run, review):
    review_id = review("What is\n2 + 2?")
    listed = run("reviews", "list")
    assert (listed.exit_code, review_id in listed.stdout) == (0, True)
    (told,) = run("reviews", "list", "--json").json_lines
    assert run("reviews", "list", "--task", told["taskId"], "--json").json_lines == [told]
    assert run("reviews", "list", "--task", new_id("task"), "--json").json_lines == []
    taken = run("reviews", "next")
    assert "--- Prompt ---\nWhat is\n2 + 2?\n" in taken.stdout
    assert run("reviews", "next", "--json").json_lines[0]["review"]["id"] == review_id
    assert run("reviews", "next", "--skip", review_id).stderr == "Nothing is left to review.\n"
    assert run("reviews", "next", "--skip", review_id, "--json").json_lines == [{"review": None}]
    shown = run("reviews", "get", review_id, "--preliminary", "--json")
    assert shown.json_lines[0]["preliminary"]["value"] == 0.5
    answered = run("reviews", "answer", review_id, "--value", 0.5, "--explanation", "so", "--json")
    assert answered.json_lines[0]["answer"]["explanation"] == "so"
    again = run("reviews", "answer", review_id, "--value", 0.25)
    assert again.exit_code == exit_codes.USAGE
    assert run("reviews", "list", "--state", "answered", "--json").json_lines[0]["id"] == review_id


def test_a_review_is_claimed_assigned_and_given_back(api, run, review):
    review_id = review()
    me = api.platform.me()["principalId"]
    assert run("reviews", "claim", review_id, "--json").json_lines[0]["lease"]["holder"] == me
    assigned = run("reviews", "assign", review_id, "--to", "anna", "--json")
    assert assigned.json_lines[0]["assigneeId"] == "anna"
    assert run("reviews", "assign", review_id, "--json").json_lines[0]["assigneeId"] is None
    assert run("reviews", "release", review_id).exit_code == 0


def test_a_link_is_printed_alone(api, run):
    made = run("reviews", "link", "--reviewer", "cleo", "--hours", 2)
    assert re.fullmatch(r"https://api\.test/review#\S+\n", made.stdout)
    assert "reviews as cleo until" in made.stderr
    sent = json.loads(api.received[-1].body)
    assert sent == {"reviewerId": "cleo", "expiresInSeconds": 7_200}
    assert (
        run("reviews", "link", "--reviewer", "cleo", "--hours", 200).exit_code == exit_codes.USAGE
    )


def test_who_cannot_judge_says_why_and_figures_are_shown(run, review):
    review_id = review()
    said = run("reviews", "cannot-judge", review_id, "--reason", "unclear", "--json")
    assert said.json_lines[0]["cannotJudge"][0]["reason"] == "unclear"
    wordless = run("reviews", "cannot-judge", review_id, "--reason", "other")
    assert (wordless.exit_code, "explanation" in wordless.stderr) == (exit_codes.USAGE, True)
    assert run("reviews", "answer", review_id, "--value", 0.5).exit_code == 0
    late = run("reviews", "correct", review_id, "--value", 0.25)
    assert (late.exit_code, "correct" in late.stderr) == (exit_codes.USAGE, True)
    (progress,) = run("reviews", "progress", "--json").json_lines
    assert (progress["total"]["answered"], progress["total"]["cannotJudge"]) == (1, 1)
    assert "ANSWERED" in run("reviews", "progress").stdout
    (agreement,) = run("reviews", "agreement", "--window", "7d", "--json").json_lines
    assert (agreement["pairs"], agreement["window"]) == (0, "7d")
