import json
import stat

import pytest

from tests.sdk.fake_api import Fault


@pytest.fixture
def submitted(run, task_id, write_jsonl, completions):
    lines = completions(130)
    for n, outcome in ((1, "failed"), (2, "abstained"), (3, "abstained"), (4, "canceled")):
        lines[n]["metadata"]["outcome"] = outcome
    lines[5]["response"] = "zehn — 十 \u2028"
    lines[5]["metadata"]["value"] = 0.25
    run("submit", write_jsonl(lines), "--task", task_id)
    return task_id


def test_scored_completions_become_training_records(api, run, submitted, tmp_path):
    out = tmp_path / "scores.jsonl"
    ran = run("export", "--task", submitted, "-o", out)
    assert ran.exit_code == 0
    counted, uncounted = ran.stderr.splitlines()
    assert counted == f"126 records to {out}; left out: 2 abstained, 1 canceled, 1 failed"
    assert uncounted.startswith("pending completions are not counted here; `autotune submit` of")
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").split("\n")[:-1]]
    assert len(records) == 126
    (record,) = [one for one in records if one["completionMetadata"]["n"] == 5]
    completion_id = record["metadata"]["completionId"]
    assert record == {
        "prompt": "What is 5 + 5?",
        "response": "zehn — 十 \u2028",
        "score": 0.25,
        "dimensions": {"correctness": 0.5},
        "metadata": {
            "taskId": submitted,
            "modelId": "m1",
            "completionId": completion_id,
            "graderId": api.store.tasks[submitted]["graderId"],
            "graderVersion": "1",
            "confidence": 0.9,
        },
        "completionMetadata": {"n": 5, "value": 0.25},
    }
    assert completion_id in api.store.completions


def test_what_is_reported_can_be_json(run, submitted, tmp_path):
    out = tmp_path / "scores.jsonl"
    ran = run("export", "--task", submitted, "--out", out, "--json")
    assert ran.json_lines == [
        {
            "file": str(out),
            "exported": 126,
            "leftOut": {"abstained": 2, "canceled": 1, "failed": 1},
            "pending": None,
        }
    ]


def test_a_dash_writes_records_to_stdout_and_the_rest_to_stderr(run, submitted):
    ran = run("export", "--task", submitted, "-o", "-", "--json")
    assert len(ran.stdout.split("\n")) == 127
    assert "126 records to stdout" in ran.stderr


def test_an_export_that_fails_leaves_the_file_before_and_nothing_else(
    api, run, submitted, tmp_path
):
    directory = tmp_path / "exports"
    directory.mkdir()
    out = directory / "scores.jsonl"
    out.write_text("before")
    # The first page comes, the second does not.
    api.misbehave(Fault(where="/scores", delay_seconds=0), Fault(where="/scores", status=404))
    assert run("export", "--task", submitted, "-o", out).exit_code == 4
    assert out.read_text() == "before"
    assert list(directory.iterdir()) == [out]
    assert run("export", "--task", submitted, "-o", out).exit_code == 0
    assert list(directory.iterdir()) == [out]
    assert stat.S_IMODE(out.stat().st_mode) & 0o400


def test_a_place_that_cannot_be_written_is_told(run, submitted):
    ran = run("export", "--task", submitted, "-o", "no/such/directory/x.jsonl")
    assert ran.exit_code == 2
    assert "cannot write no/such/directory/x.jsonl" in ran.stderr


def test_an_empty_task_is_an_empty_file(run, task_id, tmp_path):
    out = tmp_path / "none.jsonl"
    assert run("export", "--task", task_id, "-o", out).exit_code == 0
    assert out.read_bytes() == b""
