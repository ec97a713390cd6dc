import json

import pytest

from autotune.cli import exit_codes

LABELS = {"type": "label", "labels": ["good", "bad"]}
TEXT = {"type": "text"}


@pytest.fixture
def api(ledger, monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", ledger.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", ledger.api_key)
    monkeypatch.chdir(tmp_path)
    ledger.ends = lambda _: {"status": "completed", "rawOutput": "Well.\nVERDICT: good"}
    return ledger


@pytest.fixture
def enqueued(api, run, write_jsonl):
    """Enqueue some requests, which are answered at once, and return their ids."""
    options = ("--connection", api.new_connection(), "--model", "m", "--max-tokens", 8)

    def enqueue(count, verdict):
        path = write_jsonl([{"user": f"q{n}", "verdict": verdict} for n in range(count)])
        return run("llm", "enqueue", path, *options, "--purpose", "scoring").stdout.split()

    return enqueue


def test_the_command_line_parses_and_lists(api, run, enqueued):
    ids = enqueued(2, LABELS)
    ran = run("llm", "parse", *ids, "--verdict", json.dumps(TEXT), "--json")
    assert [json.loads(line)["version"] for line in ran.stdout.splitlines()] == [2, 2]
    ran = run("llm", "parse-matching", "--purpose", "scoring")
    assert sorted(ran.stdout.split()) == sorted(ids)
    assert "2 parsed" in ran.stderr
    listed = run("llm", "parses", ids[0]).stdout
    assert [line.split()[2] for line in listed.splitlines()[1:]] == ["label", "text", "label"]
    refused = run("llm", "parse-matching")
    assert (refused.exit_code, "--all" in refused.stderr) == (exit_codes.USAGE, True)


@pytest.mark.parametrize("text", ["{", "[]", '"text"', '{"type": "json"}', '{"type": "label"}'])
def test_a_format_that_is_none_is_named_by_its_option(api, run, enqueued, text):
    (request_id,) = enqueued(1, LABELS)
    before = len(api.received)
    ran = run("llm", "parse", request_id, "--verdict", text)
    assert ran.exit_code == exit_codes.USAGE
    assert "verdict" in ran.stderr
    assert len(api.received) == before
