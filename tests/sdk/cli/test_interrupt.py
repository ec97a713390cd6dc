import re
import signal
import time

from tests.support.clock import AT_ONCE
from tests.support.http_faults import Fault


def until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_ctrl_c_in_mid_submission_and_the_same_command_again_submit_each_line_once(
    api, start, run, task_id, write_jsonl, completions
):
    # Equal lines among them: those too must come out once for each time they are in the file.
    path = write_jsonl([*completions(75), *completions(75)])
    slow = Fault(where="completions/batch", delay_seconds=0.3)
    api.misbehave(*[slow] * 30)
    process = start("submit", path, "--task", task_id, "--batch-size", 5)
    until(lambda: len(api.stored()) >= 40)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "scored" not in stdout
    told = re.search(r"at least (\d+) completions are accepted; run the same command", stderr)
    assert "Traceback" not in stderr
    time.sleep(0.5)  # what was in flight arrives
    api.wait_until_idle()
    before = len(api.stored())
    assert 40 <= before < 150
    assert told is not None
    assert int(told[1]) <= before
    api.faults.clear()

    ran = run("submit", path, "--task", task_id, "--batch-size", 5)
    assert ran.exit_code == 0
    assert f"{150 - before} new, {before} already submitted" in ran.stdout
    assert ran.last_line == "scored 150 of 150"
    numbers = [one.metadata["n"] for one in api.stored()]
    assert sorted(numbers) == sorted([*range(75), *range(75)])


def test_ctrl_c_while_waiting_for_verdicts_keeps_what_was_submitted(
    api, start, run, task_id, write_jsonl, completions
):
    api.grading_seconds = None
    path = write_jsonl(completions(20))
    process = start("submit", path, "--task", task_id)
    until(lambda: api.count("GET /api/v1/batches") >= 1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "\n20 completions are accepted" in stderr
    api.platform.score()
    ran = run("submit", path, "--task", task_id)
    assert "0 new, 20 already submitted" in ran.stdout
    assert ran.last_line == "scored 20 of 20"


def test_a_server_that_dies_in_mid_submission_loses_nothing(
    api, run, task_id, write_jsonl, completions, monkeypatch
):
    monkeypatch.setattr("autotune.client.exchange.BACK_OFF", AT_ONCE)
    path = write_jsonl(completions(60))
    api.before_answer = lambda request: (
        api.misbehave(*[Fault(status=500, code="internal_error")] * 200)
        if len(api.stored()) >= 20 and not api.faults
        else None
    )
    ran = run("submit", path, "--task", task_id, "--batch-size", 5)
    assert ran.exit_code == 5
    assert 20 <= len(api.stored()) < 60
    assert "500 internal_error" in ran.stderr
    api.before_answer = lambda _: None
    api.faults.clear()
    ran = run("submit", path, "--task", task_id, "--batch-size", 5)
    assert ran.last_line == "scored 60 of 60"
    assert len(api.stored()) == 60
