import json
import re
import threading
import time

import pytest

from autotune.cli.progress import SubmissionProgress
from tests.support.graders import healthy, unavailable_for
from tests.support.http_faults import Fault


def test_a_file_is_submitted_and_its_verdicts_are_told(api, run, task_id, write_jsonl, completions):
    lines = completions(25)
    lines[3]["metadata"]["outcome"] = "abstained"
    lines[4]["metadata"]["value"] = 0.05
    api.grading_seconds = 0.2
    ran = run("submit", write_jsonl(lines), "--task", task_id, "--batch-size", 10)
    assert ran.exit_code == 0
    assert ran.last_line == "scored 24 of 25"
    assert "25 new, 0 already submitted" in ran.stdout
    figures = dict(line.rsplit(maxsplit=1) for line in ran.stdout.splitlines() if " " in line)
    assert figures["scored"] == "24"
    assert figures["abstained"] == "1"
    assert figures["mean score"] == f"{(23 + 0.05) / 24:.4f}"
    assert re.search(r"latency p50 +[\d,]+ ms", ran.stdout)
    assert "scored/s" in ran.stdout
    assert [line.split()[-1] for line in ran.stdout.splitlines() if line.startswith("[")] == [
        "1",
        *"00000000",
        "23",
    ]
    assert "submitted 25 of 25, verdicts 25" in ran.stderr
    assert api.count("POST /api/v1/completions/batch") == 3
    numbers = [one.metadata["n"] for one in api.stored()]
    # Requests overtake each other; what one holds stays in order.
    assert sorted(numbers) == list(range(25))


def test_the_same_file_again_adds_nothing(api, run, task_id, write_jsonl, completions):
    path = write_jsonl([*completions(12), *completions(12)])
    assert "24 new, 0 already" in run("submit", path, "--task", task_id).stdout
    again = run("submit", path, "--task", task_id)
    assert "0 new, 24 already submitted" in again.stdout
    assert again.last_line == "scored 24 of 24"
    assert len(api.stored()) == 24


def test_equal_lines_are_distinct_completions(api, run, task_id, write_jsonl, completions):
    ran = run("submit", write_jsonl(completions(1) * 30), "--task", task_id, "--batch-size", 5)
    assert ran.last_line == "scored 30 of 30"
    assert len(api.stored()) == 30


def test_another_task_model_or_submission_is_new(api, run, task_id, write_jsonl, completions):
    path = write_jsonl(completions(5))
    for more in ([], ["--model", "m9"], ["--submission", "second run"]):
        assert "5 new" in run("submit", path, "--task", task_id, *more).stdout
        assert "0 new" in run("submit", path, "--task", task_id, *more).stdout
    assert "5 new" in run("submit", path, "--task", api.new_task("other")).stdout
    assert {one.model_id for one in api.stored()} == {"m0", "m1", "m9"}


def test_another_priority_for_the_same_file_is_refused_with_a_way_out(
    api, run, task_id, write_jsonl, completions
):
    path = write_jsonl(completions(5))
    run("submit", path, "--task", task_id, "--priority", "low")
    ran = run("submit", path, "--task", task_id, "--priority", "high")
    assert ran.exit_code == 2
    assert "idempotency_key_reused" in ran.stderr
    assert "--submission" in ran.stderr
    assert len(api.stored()) == 5


def test_failed_completions_make_the_exit_status_1(run, task_id, write_jsonl, completions):
    ran = run("submit", write_jsonl(completions(4, outcome="failed")), "--task", task_id)
    assert ran.exit_code == 1
    assert ran.last_line == "scored 0 of 4"
    assert "item_failed" in ran.stdout
    assert "mean score" in ran.stdout


def test_json_is_one_document_and_alone_on_stdout(run, task_id, write_jsonl, completions):
    ran = run("submit", write_jsonl(completions(7)), "--task", task_id, "--json")
    (result,) = ran.json_lines
    assert (result["submitted"], result["new"], result["alreadySubmitted"]) == (7, 7, 0)
    assert result["summary"]["counts"]["scored"] == 7
    assert result["summary"]["meanScore"] == 1.0
    assert len(result["batchIds"]) == 1
    assert ran.stderr.splitlines()[-1] == "scored 7 of 7"


def test_without_waiting_no_verdict_is_asked_for(api, run, task_id, write_jsonl, completions):
    api.grading_seconds = 60
    ran = run("submit", write_jsonl(completions(7)), "--task", task_id, "--no-wait")
    assert (ran.exit_code, ran.last_line) == (0, "submitted 7")
    assert api.count("GET /api/v1/batches") == 0
    ran = run("submit", write_jsonl(completions(7)), "--task", task_id, "--no-wait", "--json")
    assert "summary" not in ran.json_lines[0]


def test_faults_of_the_network_submit_nothing_twice(api, run, task_id, write_jsonl, completions):
    api.misbehave(
        Fault(where="batch", drop_after=True),
        Fault(where="batch", status=503),
        Fault(where="GET .*batches", status=502, body=b"<html>", content_type="text/html"),
    )
    ran = run("submit", write_jsonl(completions(40)), "--task", task_id, "--batch-size", 10)
    assert ran.last_line == "scored 40 of 40"
    assert len(api.stored()) == 40


@pytest.mark.parametrize("lines", [[], ["", "  "]], ids=["empty", "blank"])
def test_a_file_without_completions_is_told_as_a_mistake(run, task_id, write_jsonl, lines):
    path = write_jsonl(lines)
    ran = run("submit", path, "--task", task_id)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[-1] == (
        f"autotune: nothing to submit: {path} has no completions"
    )


def test_an_invalid_line_stops_before_its_batch_and_loses_nothing(
    api, run, task_id, write_jsonl, completions
):
    lines = [json.dumps(line) for line in completions(25)]
    fixed = list(lines)
    lines[14] = '{"prompt": "p", "modelId": "m"}'
    path = write_jsonl(lines)
    ran = run("submit", path, "--task", task_id, "--batch-size", 10)
    assert ran.exit_code == 2
    assert f"autotune: {path}, line 15: response: Field required" in ran.stderr
    assert "\n10 completions are accepted; once this is mended" in ran.stderr
    assert len(api.stored()) == 10
    write_jsonl(fixed)
    ran = run("submit", path, "--task", task_id, "--batch-size", 10)
    assert "15 new, 10 already submitted" in ran.stdout
    assert len(api.stored()) == 25


def test_invalid_lines_can_be_set_aside(api, run, task_id, write_jsonl, completions):
    good = [json.dumps(line) for line in completions(4)]
    bad = ["[1]", '{"prompt": 1}', '{"loss": NaN}']
    path = write_jsonl([good[0], bad[0], good[1], "", bad[1], good[2], bad[2], good[3]])
    ran = run("submit", path, "--task", task_id, "--skip-invalid")
    assert ran.exit_code == 1
    assert ran.last_line == "scored 4 of 4"
    rejected = path.with_suffix(".rejected.jsonl")
    assert rejected.read_text().splitlines() == bad
    assert "line 2: expected one JSON object, not list" in ran.stderr
    assert f"3 invalid lines are in {rejected}" in ran.stderr
    assert len(api.stored()) == 4


def test_of_many_invalid_lines_the_first_are_told_and_the_others_counted(
    run, task_id, write_jsonl, completions
):
    path = write_jsonl(["[1]"] * 7 + completions(1))
    ran = run("submit", path, "--task", task_id, "--skip-invalid")
    assert ran.stderr.count("expected one JSON object, not list") == 5
    assert "and 2 more\n7 invalid lines are in" in ran.stderr


def test_nothing_rejected_leaves_no_file(run, task_id, write_jsonl, completions):
    path = write_jsonl(completions(2))
    assert run("submit", path, "--task", task_id, "--skip-invalid").exit_code == 0
    assert not path.with_suffix(".rejected.jsonl").exists()


def test_stdin_is_read_as_it_comes(api, start, task_id, completions):
    process = start("submit", "-", "--task", task_id, "--json", stdin=-1)
    text = "".join(json.dumps(line) + "\n" for line in completions(3))
    stdout, _ = process.communicate(text, timeout=30)
    assert process.returncode == 0
    assert json.loads(stdout)["submitted"] == 3


def test_a_wrong_task_is_told_before_anything_is_sent(api, run, task_id, write_jsonl, completions):
    ran = run("submit", write_jsonl(completions(2)), "--task", "task_" + "0" * 26)
    assert ran.exit_code == 4
    assert "404 not_found" in ran.stderr
    assert api.count("POST") == 0


def test_an_advice_is_given_only_where_it_works(api, run, task_id, write_jsonl, completions):
    bad_at_once = write_jsonl(["{"], "bad.jsonl")
    unknown = ["--task", "task_" + "0" * 26]
    for arguments in ([bad_at_once, "--task", task_id], [write_jsonl(completions(2)), *unknown]):
        ran = run("submit", *arguments)
        assert ran.exit_code != 0
        assert "again" not in ran.stderr
    api.misbehave(Fault(where="batch", status=503, headers={"Retry-After": "900"}))
    ran = run("submit", write_jsonl(completions(2)), "--task", task_id)
    assert ran.stderr.startswith("run the same command again to go on\n")


def test_a_time_limit_ends_the_waiting_and_tells_what_is_pending(
    api, run, one_by_one_id, write_jsonl, completions
):
    path = write_jsonl(completions(6))
    api.grading_rounds = 1
    api.grader.disease = unavailable_for(lambda one: one["metadata"]["n"] % 3 == 0)
    command = ["submit", path, "--task", one_by_one_id, "--batch-size", 3, "--timeout", 1]
    ran = run(*command)
    assert (ran.exit_code, ran.last_line) == (1, "scored 4 of 6")
    assert re.search(r"^pending +2$", ran.stdout, re.M)
    assert "2 are still pending; run the same command again" in ran.stderr
    failing = re.findall(r"grd_\w+ failed in attempt \d \(grader_error\); the next .*", ran.stderr)
    assert len(failing) == 1, ran.stderr
    assert re.search(r"the next attempt is in \d s, and so on", failing[0])
    api.grading_seconds = None
    (result,) = run(*command, "--json").json_lines
    assert result["summary"]["counts"] | {"scored": 4, "pending": 2} == result["summary"]["counts"]
    assert result["summary"]["completions"] == 6
    api.grader.disease = healthy
    api.platform.score()
    ran = run(*command)
    assert (ran.exit_code, ran.last_line) == (0, "scored 6 of 6")


def test_whoever_comes_after_a_grader_was_found_down_is_told_so(
    api, run, task_id, write_jsonl, completions
):
    api.grading_rounds = 1
    api.grader.disease = unavailable_for(lambda _: True)
    for number in range(5):
        path = write_jsonl(completions(number + 1), f"{number}.jsonl")
        waits = ["--timeout", 1] if number == 4 else ["--no-wait"]
        ran = run("submit", path, "--task", task_id, *waits)
    down = re.findall(r"grd_\w+ is down, as calls before found \(grader_\w+\); .*", ran.stderr)
    assert len(down) == 1, ran.stderr
    assert re.search(r"the next attempt is in \d+ s, and so on", down[0])


def test_verdicts_that_come_one_by_one_are_counted_once(
    api, run, one_by_one_id, write_jsonl, completions, monkeypatch
):
    monkeypatch.setattr("autotune.cli.submission._HOLD_SECONDS", 0)
    monkeypatch.setattr("autotune.cli.submission._GAP_SECONDS", 0.02)
    api.grading_seconds = None
    decided = []

    def decide_one(request):
        if request.method == "GET" and "/batches/" in request.path:
            decided.append(len(decided))
            api.platform.score(rounds=1)

    api.grader.disease = unavailable_for(lambda one: one["metadata"]["n"] not in decided)

    api.before_answer = decide_one
    ran = run("submit", write_jsonl(completions(3)), "--task", one_by_one_id, "--json")
    assert ran.json_lines[0]["summary"]["counts"]["scored"] == 3
    assert api.count("GET /api/v1/batches") == 3


def test_silence_is_explained(api, run, task_id, write_jsonl, completions, monkeypatch):
    monkeypatch.setattr("autotune.cli.submission._REMIND_EVERY_SECONDS", 0.3)
    api.grading_seconds = None
    print_line, is_explained = SubmissionProgress.print_line, threading.Event()

    def note(progress, line):
        print_line(progress, line)
        if line.startswith("still"):
            is_explained.set()

    def grade():
        assert is_explained.wait(60)
        api.platform.score()

    monkeypatch.setattr(SubmissionProgress, "print_line", note)
    grading = threading.Thread(target=grade)
    grading.start()
    began = time.monotonic()
    ran = run("submit", write_jsonl(completions(3)), "--task", task_id)
    grading.join()
    most = (time.monotonic() - began) / 0.3
    assert ran.last_line == "scored 3 of 3"
    assert re.search(r"still 3 pending; nothing new for \d s", ran.stderr)
    assert 1 <= ran.stderr.count("still 3 pending") <= most


def test_a_time_limit_without_waiting_is_wrong_usage(run, task_id, write_jsonl, completions):
    path = write_jsonl(completions(1))
    ran = run("submit", path, "--task", task_id, "--no-wait", "--timeout", 5)
    assert ran.exit_code == 2
    assert "--timeout" in ran.stderr


@pytest.mark.parametrize("arguments", [["nofile.jsonl", "--task", "t"], ["."], ["--task", "t"]])
def test_wrong_usage_is_exit_status_2(run, arguments):
    assert run("submit", *arguments).exit_code == 2


def test_memory_does_not_grow_with_the_file(api, task_id, completions, tmp_path):
    """The reader and the packer hold one batch, however long the file."""
    import tracemalloc

    from autotune.cli.lines import read_completions
    from autotune.client.submissions import BatchPacker, pack

    line = (json.dumps(completions(1)[0] | {"response": "x" * 2_000}) + "\n").encode()
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        for _ in range(20_000):
            file.write(line)
    tracemalloc.start()
    with path.open("rb") as file:
        source = read_completions(file, source="x", task_id=task_id, model_id=None, rejected=None)
        count = sum(batch.count for batch in pack(source, BatchPacker()))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 5_000_000
