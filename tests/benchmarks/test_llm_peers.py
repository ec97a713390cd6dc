"""How clients of batch APIs are run against the fake, with scripts that stand in for them."""

import json
import sys
from types import SimpleNamespace

import pytest

from benchmarks.llm_peers import running
from benchmarks.llm_peers.cases import CASES, QUESTIONS
from benchmarks.llm_peers.observing import RAISED, RETURNED, WAITING
from benchmarks.llm_peers.running import run

ASKING = """
import json, sys, time, urllib.request
from pathlib import Path

url, questions, folder = sys.argv[1], json.loads(sys.argv[2]), Path(sys.argv[3])


def call(path, body=None, kind="application/json"):
    headers = {"authorization": "Bearer fake-key", "content-type": kind}
    request = urllib.request.Request(url + path, body, headers)
    return urllib.request.urlopen(request, timeout=10).read()


def create():
    lines = "".join(
        json.dumps({"custom_id": str(number), "method": "POST", "url": "/v1/chat/completions",
                    "body": {"model": "gpt-4.1-mini",
                             "messages": [{"role": "user", "content": text}]}}) + "\\n"
        for number, text in enumerate(questions))
    part = '--x\\r\\ncontent-disposition: form-data; name="%s"%s\\r\\n\\r\\n%s\\r\\n'
    form = part % ("purpose", "", "batch") + part % ("file", '; filename="a.jsonl"', lines)
    uploaded = json.loads(call("/files", (form + "--x--\\r\\n").encode(),
                               "multipart/form-data; boundary=x"))
    body = {"input_file_id": uploaded["id"], "endpoint": "/v1/chat/completions",
            "completion_window": "24h"}
    return json.loads(call("/batches", json.dumps(body).encode()))


def results(batch):
    while not batch["output_file_id"]:
        time.sleep(0.2)
        batch = json.loads(call("/batches/" + batch["id"]))
    lines = call(f"/files/{batch['output_file_id']}/content").splitlines()
    found = {}
    for line in map(json.loads, lines):
        text = line["response"]["body"]["choices"][0]["message"]["content"]
        found.setdefault(line["custom_id"], []).append(text)
    (folder / "answers.json").write_text(json.dumps({"answers": found, "errors": {}}))


"""


@pytest.fixture
def peer(tmp_path):
    """A client whose last lines are given."""

    def make(last):
        script = tmp_path / "ask.py"
        script.write_text(ASKING + last)
        python = SimpleNamespace(python=sys.executable)
        return SimpleNamespace(name="stand-in", script=script, environment=python)

    return make


def case(name):
    (found,) = [one for one in CASES if one.name == name]
    return found


def test_what_is_paid_and_handed_over_is_counted(peer):
    found = run(peer("results(create())"), case("none"))
    assert (found.ended, found.answered, found.paid, found.jobs) == (RETURNED, QUESTIONS, 8, 1)
    assert (found.lost, found.paid_again, found.paid_lost) == (0, 0, 0)


def test_a_job_that_is_created_twice_is_paid_twice(peer):
    found = run(peer("create(); results(create())"), case("none"))
    assert (found.answered, found.paid, found.paid_again, found.jobs) == (8, 16, 8, 2)


def test_an_error_is_kept_and_what_ran_all_the_same_is_paid(peer):
    found = run(peer("create()"), case("create_answer_lost"))
    assert (found.ended, found.met, found.answered, found.lost) == (RAISED, True, 0, 8)
    assert "Remote end closed connection" in found.error or "reset" in found.error
    assert (found.paid, found.paid_lost, found.paid_again) == (8, 8, 0)


def test_a_client_that_waits_is_stopped_once_days_have_passed(peer, monkeypatch):
    monkeypatch.setattr(running, "PATIENCE_SECONDS", (2, 1, 1))
    found = run(peer("results(create())"), case("completed_without_output"))
    assert (found.ended, found.lost, found.paid_lost) == (WAITING, 8, 8)


def test_another_job_of_the_workspace_is_not_counted(peer):
    found = run(peer("results(create())"), case("rows_foreign_id"))
    assert (found.met, found.strangers, found.paid, found.jobs) == (True, 1, 8, 1)
    assert found.calls["openai.create"] == 1
    assert json.dumps(found.as_json())
