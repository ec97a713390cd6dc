import json

import pytest

from autotune.cli import exit_codes


@pytest.fixture
def api(ledger, monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", ledger.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", ledger.api_key)
    monkeypatch.chdir(tmp_path)
    return ledger


@pytest.fixture
def asked_again(api, run, write_jsonl):
    """A request and the one that it was asked again as, which cost 1,500 billionths each."""
    options = ("--connection", api.new_connection(), "--model", "m", "--max-tokens", 8)
    path = write_jsonl([{"user": "q1"}, {"user": "q2"}])
    first, second = run("llm", "enqueue", path, *options, "--purpose", "scoring").stdout.split()
    api.end(first, reaskedAs=second)
    api.end(second, reaskOf=first, firstRequestId=first)
    return first, second


def test_waiting_follows_and_counts_what_all_of_them_cost(run, asked_again):
    first, _ = asked_again
    ran = run("llm", "wait", first, "--json")
    shown = json.loads(ran.stdout)
    assert ran.exit_code == exit_codes.OK
    assert (shown["requests"], shown["completed"], shown["reasked"]) == (1, 1, 1)
    assert shown["costNanoUsd"] == 3_000
    assert "asked again      1" in run("llm", "wait", first).stdout
    alone = json.loads(run("llm", "wait", first, "--no-follow", "--json").stdout)
    assert (alone["reasked"], alone["costNanoUsd"]) == (0, 1_500)


def test_results_are_those_of_the_last(run, asked_again):
    first, second = asked_again
    (line,) = run("llm", "results", first).stdout.splitlines()
    assert (json.loads(line)["id"], json.loads(line)["firstRequestId"]) == (second, first)
    (line,) = run("llm", "results", first, "--no-follow").stdout.splitlines()
    assert json.loads(line)["id"] == first


def test_show_says_that_there_is_another_and_follows_on_demand(run, asked_again):
    first, second = asked_again
    ran = run("llm", "show", first, "--json")
    assert json.loads(ran.stdout)["id"] == first
    assert second in ran.stderr
    followed = run("llm", "show", first, "--follow", "--json")
    assert json.loads(followed.stdout)["id"] == second
    assert "asked again" not in followed.stderr
