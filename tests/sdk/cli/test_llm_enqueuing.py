"""``autotune llm enqueue``: files, their lines, and what is sent once."""

import subprocess
from datetime import UTC, datetime, timedelta

import pytest

from autotune.cli import exit_codes
from tests.support.http_faults import Fault


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
def options(connection_id):
    """What short lines leave out."""
    return (
        "--connection", connection_id, "--model", "gpt-5", "--max-tokens", 64,
        "--purpose", "scoring",
    )  # fmt: skip


@pytest.fixture
def in_twos(monkeypatch):
    """Send two lines at a time, not a thousand."""
    monkeypatch.setattr("autotune.client.llm_packing.limits.MAX_LLM_ROWS", 2)


def whole(connection_id, **fields):
    return {
        "connectionId": connection_id,
        "purpose": "rubric",
        "model": "claude",
        "input": {"user": "Is it {{what}}?", "variables": {"what": "safe"}},
        "params": {"maxTokens": 8, "temperature": 0},
        **fields,
    }


def test_short_and_whole_lines_are_enqueued_with_the_options_as_defaults(
    api, run, write_jsonl, options, connection_id
):
    lines = [
        {"user": "Hi {{who}}", "system": "Judge.", "variables": {"who": "you"}},
        "",
        whole(connection_id),
        {"user": "low", "priority": "low", "params": {"temperature": 1}, "labels": {"a": "b"}},
    ]
    path = write_jsonl(lines)
    ran = run("llm", "enqueue", path, *options, "--json")
    assert [one["line"] for one in ran.json_lines] == [1, 3, 4]
    assert "3 new, 0 already enqueued" in ran.stderr
    first, second, third = (api.rows[one["requestId"]] for one in ran.json_lines)
    assert first["input"] == {"system": "Judge.", "user": "Hi {{who}}", "variables": {"who": "you"}}
    assert (first["model"], first["purpose"], first["params"]["maxTokens"]) == (
        "gpt-5",
        "scoring",
        64,
    )
    assert (second["model"], second["purpose"], second["params"]["maxTokens"]) == (
        "claude",
        "rubric",
        8,
    )
    assert third["params"] == {"maxTokens": 64, "temperature": 1.0}
    assert (third["priority"], third["labels"]) == ("low", {"a": "b"})


def test_the_same_file_is_enqueued_once(api, run, write_jsonl, options, in_twos):
    path = write_jsonl([{"user": f"q{n}"} for n in range(5)])
    api.misbehave(Fault(where="batch", status=403, code="forbidden"))
    refused = run("llm", "enqueue", path, *options)
    assert refused.exit_code == exit_codes.DENIED
    first = run("llm", "enqueue", path, *options)
    again = run("llm", "enqueue", path, *options)
    assert (again.stdout, len(api.rows)) == (first.stdout, 5)
    assert "0 new, 5 already enqueued" in again.stderr
    other = run("llm", "enqueue", path, *options, "--idempotency-key", "second")
    assert "5 new" in other.stderr
    assert len(api.rows) == 10


def test_a_pipe_is_enqueued_as_a_file_is(api, run, start, write_jsonl, options):
    path = write_jsonl([{"user": f"q{n}"} for n in range(5)])
    first = run("llm", "enqueue", path, *options)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as piping:
        piped = start("llm", "enqueue", "-", *options, stdin=piping.stdout)
        printed, told = piped.communicate(timeout=60)
    assert (printed, len(api.rows)) == (first.stdout, 5)
    assert "0 new, 5 already enqueued" in told


def test_after_a_failure_half_way_the_same_command_goes_on(
    api, run, write_jsonl, options, in_twos, monkeypatch
):
    monkeypatch.setattr("autotune.client.clients.time.sleep", lambda _: None)
    path = write_jsonl([{"user": f"q{n}"} for n in range(5)])
    answer = api.answer

    def fail_from_the_second(request):
        if api.count("POST /api/v1/llm-requests/batch") >= 1:
            api.misbehave(Fault(where="POST", status=503))
        return answer(request)

    monkeypatch.setattr(api, "answer", fail_from_the_second)
    failed = run("llm", "enqueue", path, *options)
    assert failed.exit_code == exit_codes.UNAVAILABLE
    assert "enqueued 2 of 5" in failed.stderr
    assert "run the same command again to go on" in failed.stderr
    assert len(api.rows) == 2
    monkeypatch.setattr(api, "answer", answer)
    done = run("llm", "enqueue", path, *options)
    assert "3 new, 2 already enqueued" in done.stderr
    assert len(done.stdout.split()) == len(api.rows) == 5


def test_after_a_line_is_mended_what_was_enqueued_before_it_is_not_enqueued_again(
    api, run, write_jsonl, options, in_twos
):
    lines = [{"user": f"q{n}"} for n in range(7)]
    unknown = {"user": "q3", "connectionId": "llc_" + "0" * 26}
    path = write_jsonl([*lines[:3], "", unknown, *lines[4:]])
    refused = run("llm", "enqueue", path, *options)
    assert refused.exit_code == exit_codes.USAGE
    assert f"{path}, line 5: connectionId: no such connection" in refused.stderr
    assert "requests[" not in refused.stderr
    assert "2 of 7 are enqueued" in refused.stderr
    assert list(api.rows) == refused.stdout.split()
    assert len(api.rows) == 2
    path = write_jsonl([*lines[:3], "", *lines[3:]])
    done = run("llm", "enqueue", path, *options)
    assert "5 new, 2 already enqueued" in done.stderr
    assert [api.rows[one]["input"]["user"] for one in done.stdout.split()] == [
        f"q{n}" for n in range(7)
    ]
    assert len(api.rows) == 7


def test_an_option_that_the_server_refuses_is_named_as_the_option(api, run, write_jsonl, options):
    nowhere = ("--connection", "llc_" + "0" * 26, *options[2:])
    for command in ("enqueue", "estimate"):
        ran = run("llm", command, write_jsonl([{"user": "u"}]), *nowhere)
        assert (ran.exit_code, "line 1: --connection: no such" in ran.stderr) == (
            exit_codes.USAGE,
            True,
        )
    assert "nothing is enqueued" in run("llm", "enqueue", "completions.jsonl", *nowhere).stderr


def test_what_is_too_late_is_refused_before_anything_is_enqueued(
    api, run, write_jsonl, options, in_twos
):
    lines = [{"user": f"q{n}"} for n in range(6)]
    lines[4]["completeBy"] = "2026-01-01T00:00:00Z"
    path = write_jsonl(lines)
    ran = run("llm", "enqueue", path, *options)
    assert ran.exit_code == exit_codes.USAGE
    assert f"{path}, line 5: completeBy: a moment in the future" in ran.stderr
    assert (ran.stdout, api.rows) == ("", {})


def test_what_was_enqueued_in_time_is_found_again_when_it_is_too_late(
    api, run, write_jsonl, options, in_twos, monkeypatch
):
    soon = datetime.now(UTC) + timedelta(hours=1)
    lines = [{"user": f"q{n}", "completeBy": soon.isoformat()} for n in range(3)]
    path = write_jsonl(lines)
    first = run("llm", "enqueue", path, *options)

    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(hours=2)

    monkeypatch.setattr("autotune.cli.llm_rows.datetime", Later)
    monkeypatch.setattr("tests.support.served_rows.datetime", Later)
    again = run("llm", "enqueue", path, *options)
    assert (again.stdout, len(api.rows)) == (first.stdout, 3)
    assert "0 new, 3 already enqueued" in again.stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "expected one JSON object"),
        ({"system": "s"}, "user is missing"),
        ({}, "user is missing"),
        ({"user": "u", "input": {"user": "u"}}, "input: either input or user"),
        ({"user": "u", "model": ""}, "model: "),
        ({"user": "u", "params": {"maxTokens": 0}}, "params.maxTokens: "),
        ({"user": "u", "params": []}, "params: "),
        ({"user": "u", "temprature": 1}, "temprature is no field of a request"),
        ('{"user": "\\ud800"}', "user: "),
        ({"user": "{{a}} {{b}}", "variables": {"a": "x"}}, "variables: a value for b"),
        ({"input": {"user": "{{a}}"}}, "input.variables: a value for a"),
        (
            {"user": "{{a}}" * 6, "variables": {"a": "x" * 900_000}},
            "at most 5000000 characters once variables are put in",
        ),
        ({"user": "u", "purpose": "My Judge"}, "purpose: lower-case letters"),
        ({"user": "u", "completeBy": "tomorrow"}, "completeBy: "),
        ({"user": "u", "connectionId": "lab"}, "connectionId: the id of a connection"),
        (
            {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {}},
            "autotune llm import --format openai",
        ),
        ({"messages": [{"role": "user", "content": "u"}]}, "use user and system"),
        ({"custom_id": "1", "params": {"messages": []}}, "--format anthropic"),
    ],
)
def test_a_wrong_line_is_named_before_anything_is_sent(api, run, write_jsonl, options, line, told):
    path = write_jsonl([{"user": "u"}, "", line, {"user": "u"}])
    ran = run("llm", "enqueue", path, *options)
    assert ran.exit_code == exit_codes.USAGE
    assert f"{path}, line 3: " in ran.stderr
    assert told in ran.stderr
    assert "Value error" not in ran.stderr
    assert "1 line is wrong, so nothing was sent" in ran.stderr
    assert api.received == []


def test_every_wrong_line_is_found_in_one_run(api, run, write_jsonl, options):
    path = write_jsonl([{"user": "u"}, *[{"user": 1}] * 7])
    ran = run("llm", "enqueue", path, *options)
    for number in range(2, 7):
        assert f"{path}, line {number}: user: " in ran.stderr
    assert "line 7: " not in ran.stderr
    assert "and 2 more" in ran.stderr
    assert "7 lines are wrong" in ran.stderr
    assert api.received == []


def test_a_line_that_lacks_what_no_option_gives_is_told_both_places(api, run, write_jsonl):
    ran = run("llm", "enqueue", write_jsonl([{"user": "u"}]), "--model", "gpt-5")
    for told in (
        "--connection, or connectionId, is missing",
        "--purpose, or purpose, is missing",
        "--max-tokens, or params.maxTokens, is missing",
    ):
        assert told in ran.stderr
    wrong = run("llm", "enqueue", "completions.jsonl", "--connection", "lab")
    assert (wrong.exit_code, "no connection lab" in wrong.stderr) == (exit_codes.NOT_FOUND, True)
    path = write_jsonl([{"user": "u"}])
    wrong = run("llm", "enqueue", path, "--purpose", "My Judge")
    assert "; --purpose: lower-case letters" in wrong.stderr
    empty = run("llm", "enqueue", write_jsonl([""], "empty.jsonl"))
    assert (empty.exit_code, "empty.jsonl is empty" in empty.stderr) == (exit_codes.USAGE, True)
    assert api.received == []
