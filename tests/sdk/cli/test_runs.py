import pytest

from autotune.cli import exit_codes
from tests.support.graders import unavailable_for


@pytest.fixture
def batch_id(api, run, one_by_one_id, write_jsonl, completions):
    """A batch of three whose grader takes its time."""
    api.grading_seconds = None
    lines = write_jsonl(completions(3))
    submitted = run("submit", lines, "--task", one_by_one_id, "--no-wait", "--json")
    (batch_id,) = submitted.json_lines[0]["batchIds"]
    return batch_id


@pytest.fixture
def run_id(api, batch_id):
    (run,) = api.platform.runs()
    return run["run_id"]


def test_runs_are_listed_by_state_and_shown(run, run_id):
    listed = run("runs", "list")
    assert listed.last_line.split()[:5] == [run_id, "pending", "grade", "0", "3/3"]
    assert run("runs", "list", "--state", "completed", "--json").stdout == ""
    (shown,) = run("runs", "get", run_id, "--json").json_lines
    assert (shown["remaining"], shown["counts"]["pending"]) == (3, 3)
    assert len(run("runs", "list", "--limit", 1, "--json").json_lines) == 1
    assert run("runs", "list", "--state", "stuck").exit_code == exit_codes.USAGE
    assert run("runs", "get", "run_none").exit_code == exit_codes.NOT_FOUND


def test_a_run_is_canceled(run, run_id):
    assert "state            canceled" in run("runs", "cancel", run_id).stdout
    (shown,) = run("runs", "get", run_id, "--json").json_lines
    assert (shown["state"], shown["counts"]["canceled"]) == ("canceled", 3)


def test_a_completion_is_canceled_unless_it_has_a_verdict(api, run, batch_id):
    first, second, _ = (completion.id for completion in api.stored())
    assert run("completions", "cancel", first, "--json").json_lines[0]["state"] == "canceled"
    assert "state            pending" in run("completions", "verdict", second).stdout
    assert run("completions", "cancel", "cmp_none").exit_code == exit_codes.NOT_FOUND


def test_what_is_pending_in_a_batch_is_canceled(api, run, batch_id):
    first, *_ = (completion.id for completion in api.stored())
    api.grader.disease = unavailable_for(lambda completion: completion["id"] != first)
    api.platform.score(rounds=1)
    told = run("batches", "cancel", batch_id).stdout.split()
    assert dict(zip(told[::2], told[1::2], strict=True)) == {
        "expected": "3",
        "scored": "1",
        "canceled": "2",
        "abstained": "0",
        "failed": "0",
        "pending": "0",
    }
    (shown,) = run("batches", "get", batch_id, "--json").json_lines
    assert [verdict["state"] for verdict in shown["verdicts"]] == ["scored", *["canceled"] * 2]
