"""``autotune apprentice run`` and ``runs``."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune.cli import exit_codes
from tests.support.apprentice_folding import Apprentice
from tests.support.apprentice_runs import ANSWER
from tests.support.apprentice_runs import runs as make_runs
from tests.support.lambdas import LambdaContext, handler
from tests.support.ledger import ledger as make_ledger
from tests.support.tables import stream_records


@pytest.fixture
def runs(api):
    with make_ledger(api.platform) as ledger, make_runs(ledger) as made:
        made.put()
        yield made


def test_the_command_prints_the_answer(run, runs, tmp_path):
    ran = run("apprentice", "run", "intents", "--input", '{"text": "Let me in!"}')
    assert (ran.exit_code, ran.stdout.strip()) == (0, ANSWER.replace(":", ": "))
    file = tmp_path / "input.json"
    file.write_text('{"text": "Let me in!"}')
    (shown,) = run("apprentice", "run", "intents", "--input", f"@{file}", "--json").json_lines
    assert shown["output"] == {"intent": "open_door"}
    ran = run("apprentice", "run", "intents", "--input", f"@{file}", "--no-wait")
    assert ran.stdout.startswith("apr_")
    (shown,) = run("apprentice", "runs", shown["id"], "--json").json_lines
    assert shown["state"] == "answered"
    assert run("apprentice", "run", "intents", "--input", "[1]").exit_code == 2


def test_runs_of_some_days_are_listed(run, runs):
    started = [runs.start().json["run"]["id"] for _ in range(2)]
    records = {"Records": stream_records("apprentice")}
    handler("functions.apprentice.follow_runs")(records, LambdaContext())
    today = datetime.now(UTC).date()
    since = ("--from", f"{today - timedelta(days=30)}")
    for days in ((), since, (*since, "--to", f"{today}"), ("--day", f"{today}")):
        listed = run("apprentice", "runs", "intents", *days, "--json").json_lines
        assert [one["id"] for one in listed] == started[::-1], days
    before = ("--to", f"{today - timedelta(days=1)}")
    assert run("apprentice", "runs", "intents", *since, *before, "--json").json_lines == []
    refused = run("apprentice", "runs", "intents", *since, "--day", f"{today}")
    assert refused.exit_code == exit_codes.USAGE


def test_a_run_shows_why_its_small_model_had_no_answer(run, runs):
    made = Apprentice(runs.platform, runs.connection_id)
    silent = {"phase": 3, "local_version": 1, "local": "unavailable", "local_fault": "timed_out"}
    one = made.answered(created_at=datetime.now(UTC), **silent)
    made.store([one])
    made.follow()
    assert "unavailable (timed_out)" in run("apprentice", "runs", "intents").stdout
    assert "timed_out" in run("apprentice", "runs", one.id).stdout


def test_texts_of_a_run_are_deleted(run, runs):
    made = runs.start(wait=20).json["run"]["id"]
    records = {"Records": stream_records("apprentice")}
    handler("functions.apprentice.follow_runs")(records, LambdaContext())
    assert run("apprentice", "delete-content", made).exit_code == 0
    (shown,) = run("apprentice", "runs", made, "--json").json_lines
    assert (shown.get("input"), shown.get("output"), shown["state"]) == (None, None, "answered")
    assert shown["contentDeletedAt"]
    pending = runs.start().json["run"]["id"]
    refused = run("apprentice", "delete-content", pending)
    assert "the run is pending" in refused.stderr


def test_what_is_refused_says_what_helps(run, runs):
    key = ("--idempotency-key", "order-7")
    asked = ("apprentice", "run", "intents", "--input")
    assert run(*asked, '{"text": "in"}', *key).exit_code == 0
    other = run(*asked, '{"text": "out"}', *key)
    assert (other.exit_code, "priority" in other.stderr) == (exit_codes.USAGE, False)
    assert "--idempotency-key: it came before with another input" in other.stderr
    runs.put("poor", budgets={"daily": "0.000001"})
    refused = run("apprentice", "run", "poor", "--input", '{"text": "in"}')
    assert refused.exit_code == exit_codes.USAGE
    assert "`autotune apprentice status` shows what is left" in refused.stderr
