import pytest

from tests.support.graders import healthy, scoring


@pytest.fixture
def failed(api, run, task_id, write_jsonl, completions):
    """A batch of three that failed, whose grader was mended since; returns its id."""
    api.grader.disease = scoring(2)
    ran = run("--json", "submit", write_jsonl(completions(3)), "--task", task_id)
    assert ran.exit_code == 1
    api.grader.disease = healthy
    (batch_id,) = ran.json_lines[0]["batchIds"]
    return batch_id


def test_a_batch_is_scored_again_and_waited_for(run, failed):
    ran = run("rescore", "--batch", failed, "--wait")
    assert (ran.exit_code, ran.last_line) == (0, "3 are scored again; 0 failed in their batches")
    again = run("rescore", "--batch", failed)
    assert (again.exit_code, again.last_line) == (0, "0 are scored again")
    assert "3 skipped: not asked for" in again.stderr


def test_a_task_is_scored_again_by_reason_and_state(run, failed, task_id):
    other = run("rescore", "--task", task_id, "--reason", "grader_timeout")
    assert other.last_line == "0 are scored again"
    asked = ["--reason", "item_malformed", "--reason", "grader_timeout", "--state", "failed"]
    ran = run("--json", "rescore", "--task", task_id, *asked, "--wait")
    assert ran.json_lines[0]["rescored"] == 3


def test_single_completions_are_scored_again_and_explained(run, failed):
    ids = [
        one["completionId"]
        for one in run("--json", "batches", "get", failed).json_lines[0]["verdicts"]
    ]
    ran = run("rescore", *ids[:2], "--deadline", 120, "--wait")
    assert ran.exit_code == 1
    assert ran.last_line == "2 are scored again; 1 failed in their batches"
    told = run("explain", ids[0]).stdout
    assert "1: it was scored again" in told
    before = run("--json", "completions", "verdict", ids[0], "--generation", 0).json_lines[0]
    assert before["state"] == "failed"


def test_which_completions_is_said_in_one_way(run, task_id):
    for arguments in ([], ["cmp_1", "--task", task_id], ["--batch", "b", "--task", task_id]):
        ran = run("rescore", *arguments)
        assert ran.exit_code == 2
        assert "one of these alone" in ran.stderr


def test_a_reason_that_nobody_knows_is_named(run, task_id):
    ran = run("rescore", "--task", task_id, "--reason", "bad_luck")
    assert ran.exit_code == 2
    assert "reason_codes" in ran.stderr


def test_submit_retries_what_failed_once(api, run, task_id, write_jsonl, completions):
    path = write_jsonl(completions(5))
    asked = []

    def mended_later(exchange):
        asked.append(exchange)
        if len(asked) == 1:
            scoring(2)(exchange)

    api.grader.disease = mended_later
    ran = run("submit", path, "--task", task_id, "--retry-failed")
    assert (ran.exit_code, ran.last_line) == (0, "scored 5 of 5")
    assert "5 failed and are scored again" in ran.stderr

    api.grader.disease = scoring(2)
    sick = run("submit", path, "--task", task_id, "--submission", "2", "--retry-failed")
    assert (sick.exit_code, sick.last_line) == (1, "scored 0 of 5")
    api.grader.disease = healthy
    later = run("submit", path, "--task", task_id, "--submission", "2", "--retry-failed")
    assert (later.exit_code, later.last_line) == (0, "scored 5 of 5")


def test_retrying_wants_to_wait(run, task_id, write_jsonl, completions):
    ran = run(
        "submit", write_jsonl(completions(1)), "--task", task_id, "--no-wait", "--retry-failed"
    )
    assert ran.exit_code == 2
    assert "--no-wait" in ran.stderr
