"""``autotune llm wait``, ``results`` and ``show``: what has ended, and what the others wait for."""

import json

import pytest

from autotune.cli import exit_codes


@pytest.fixture
def api(ledger, monkeypatch, tmp_path):
    """The ledger's API, which the command line finds in its environment."""
    monkeypatch.setenv("AUTOTUNE_BASE_URL", ledger.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", ledger.api_key)
    monkeypatch.chdir(tmp_path)
    return ledger


@pytest.fixture
def connection_id(api):
    return api.new_connection()


@pytest.fixture
def enqueued(run, write_jsonl, connection_id):
    """Enqueue some requests, and return their ids."""
    options = ("--connection", connection_id, "--model", "m", "--max-tokens", 64)

    def enqueue(count):
        path = write_jsonl([{"user": f"q{n}"} for n in range(count)])
        return run("llm", "enqueue", path, *options, "--purpose", "scoring").stdout.split()

    return enqueue


@pytest.fixture
def paused(api, connection_id):
    """A connection whose key its provider refuses."""
    api.connections[connection_id] |= {"status": "paused", "pausedBecause": "401: no such key"}
    return connection_id


def test_ids_of_a_file_or_arguments_are_waited_for(api, run, enqueued, tmp_path):
    ids = enqueued(3)
    (tmp_path / "ids.txt").write_text("\n".join(ids[:2]) + "\n")
    for row_id in ids[:2]:
        api.end_later(row_id, 0.1)
    ran = run("llm", "wait", "ids.txt", "--timeout", 20)
    assert (ran.exit_code, ran.last_line) == (exit_codes.OK, "completed 2 of 2")
    assert "USD              0.000003" in ran.stdout
    api.end(ids[2], "error", error={"code": "rejected", "message": "no"})
    mixed = run("llm", "wait", "ids.txt", ids[2], ids[0], "--json")
    assert mixed.exit_code == exit_codes.INCOMPLETE
    assert mixed.json_lines == [
        {
            "requests": 3,
            "completed": 2,
            "error": 1,
            "canceled": 0,
            "pending": 0,
            "reasked": 0,
            "errors": {"rejected": 1},
            "costNanoUsd": 3_000,
        }
    ]


def test_a_time_out_says_how_many_are_pending(api, run, enqueued):
    ids = enqueued(2)
    api.end(ids[0])
    ran = run("llm", "wait", *ids, "--timeout", 0.1)
    assert (ran.exit_code, ran.last_line) == (exit_codes.INCOMPLETE, "completed 1 of 2")
    assert "1 are still pending; run the same command again" in ran.stderr


def test_results_are_one_document_a_line(api, run, enqueued):
    ids = enqueued(3)
    lines = "".join(json.dumps({"requestId": one, "line": 1}) + "\n" for one in ids)
    for row_id in ids:
        api.end(row_id, rawOutput="a\nb")
    ran = run("llm", "results", "-", stdin=lines)
    assert [one["id"] for one in ran.json_lines] == ids
    assert {one["rawOutput"] for one in ran.json_lines} == {"a\nb"}
    assert "completed 3 of 3" in ran.stderr


def test_a_time_out_says_what_the_others_wait_for(api, run, enqueued, paused):
    ids = enqueued(5)
    for row_id in ids[:2]:
        api.rows[row_id]["waitingBecause"] = "connection_paused"
    api.rows[ids[2]]["waitingBecause"] = "min_rows"
    api.rows[ids[3]]["status"] = "submitted"
    api.end(ids[4])
    for command in ("wait", "results"):
        ran = run("llm", command, *ids, "--timeout", 0.1)
        told = ran.stderr.splitlines()
        assert ran.exit_code == exit_codes.INCOMPLETE
        (line,) = [one for one in told if "connection_paused" in one]
        assert line.startswith(f"  2: connection_paused, {paused} (401: no such key); ")
        assert f"autotune llm update-connection {paused}" in line
        assert "  1: min_rows" in told
        assert "  1: is submitted" in told


def test_silence_is_explained_while_it_lasts(api, run, enqueued, paused, monkeypatch):
    monkeypatch.setattr("autotune.cli.llm_pending._REMIND_EVERY_SECONDS", 0.5)
    for hold in ("_WATCHED_HOLD_SECONDS", "_SHORT_HOLD_SECONDS"):
        monkeypatch.setattr(f"autotune.client.llm_waiting.{hold}", 0)
    ids = enqueued(2)
    api.rows[ids[0]]["waitingBecause"] = "connection_paused"
    api.rows[ids[1]]["waitingBecause"] = "budget_exhausted"
    for row_id in ids:
        api.end_later(row_id, 2.5)
    ran = run("llm", "wait", *ids)
    assert ran.exit_code == exit_codes.OK
    assert "still 2 pending" in ran.stderr
    assert "(401: no such key)" in ran.stderr
    assert "  1: budget_exhausted" in ran.stderr


def test_a_connection_that_cannot_be_read_does_not_end_the_wait(api, run, enqueued, paused):
    ids = enqueued(1)
    api.rows[ids[0]]["waitingBecause"] = "connection_paused"
    del api.connections[paused]
    ran = run("llm", "wait", *ids, "--timeout", 0.1)
    assert (ran.exit_code, ran.last_line) == (exit_codes.INCOMPLETE, "completed 0 of 1")
    assert f"  1: connection_paused, {paused}" in ran.stderr


def test_a_request_is_shown_with_its_status_first_and_without_what_it_has_not(
    api, run, enqueued, paused
):
    ids = enqueued(2)
    api.rows[ids[0]]["waitingBecause"] = "connection_paused"
    api.end(ids[1], costNanoUsd=1_250_000)
    waiting = run("llm", "show", ids[0]).stdout.splitlines()
    assert waiting[1:4] == [
        "status           queued",
        "waitingBecause   connection_paused",
        "pausedBecause    401: no such key",
    ]
    ended = run("llm", "show", ids[1]).stdout.splitlines()
    assert ended[1:4] == [
        "status           completed",
        "rawOutput        ready",
        "USD              0.00125",
    ]
    assert not [line for line in waiting + ended if line.split()[1:] in ([], ["-"], ["[]"], ["{}"])]
    (shown,) = run("llm", "show", ids[0], "--json").json_lines
    assert shown["rawOutput"] is None
