import json
import subprocess

import pytest

from autotune.cli import exit_codes
from autotune.cli.llm_spending import dollars
from tests.support.http_faults import Fault

KEY = "sk-secret-0123456789abcdef"


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
def enqueued(run, write_jsonl, options):
    """Enqueue some requests, and return their ids."""

    def enqueue(count):
        path = write_jsonl([{"user": f"q{n}"} for n in range(count)])
        return run("llm", "enqueue", path, *options).stdout.split()

    return enqueue


def whole(connection_id, **fields):
    return {
        "connectionId": connection_id,
        "purpose": "rubric",
        "model": "claude",
        "input": {"user": "Is it {{what}}?", "variables": {"what": "safe"}},
        "params": {"maxTokens": 8, "temperature": 0},
        **fields,
    }


def test_a_key_is_read_from_stdin_or_a_variable_and_shown_nowhere(api, run, monkeypatch):
    monkeypatch.setenv("PROVIDER_KEY", KEY)
    common = ("llm", "connect", "--name", "lab", "--provider", "openai")
    for ran in (run(*common, stdin=f"{KEY}\n"), run(*common, "--key-env", "PROVIDER_KEY")):
        assert ran.exit_code == exit_codes.OK
        assert KEY not in ran.stdout + ran.stderr
        assert "keyEndsWith      cdef" in ran.stdout
    assert list(api.keys.values()) == [KEY, KEY]
    listed = run("llm", "connections").stdout
    assert "…cdef" in listed
    assert KEY not in listed


def test_a_key_that_is_missing_is_named_and_nothing_is_sent(api, run):
    common = ("llm", "connect", "--name", "lab", "--provider", "openai")
    assert "stdin holds no key" in run(*common, stdin="").stderr
    assert "UNSET_KEY holds no key" in run(*common, "--key-env", "UNSET_KEY").stderr
    both = run(*common, "--key-env", "PATH", "--key-stdin")
    assert (both.exit_code, "either" in both.stderr) == (exit_codes.USAGE, True)
    wrong = run(*common, stdin="two words\n")
    assert (wrong.exit_code, "two words" in wrong.stderr) == (exit_codes.USAGE, False)
    assert api.received == []


def test_a_key_that_is_typed_is_hidden(api, run, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "autotune.cli.llm_connections.typer.prompt",
        lambda text, **how: asked.append((text, how["hide_input"])) or KEY,
    )

    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setattr("autotune.cli.llm_connections.sys", type("S", (), {"stdin": Terminal()}))
    run("llm", "connect", "--name", "lab", "--provider", "anthropic")
    assert asked == [("Key", True)]
    assert list(api.keys.values()) == [KEY]


def test_a_simulated_connection_has_its_url_and_prices_and_no_key(api, run):
    (made,) = run(
        "llm", "connect", "--name", "own", "--provider", "simulated", "--json",
        "--base-url", "https://vllm.example/v1", "--price", "meta/llama3:8b=0,0",
        "--price", "m=1.25,10,0.125", "--concurrency", 32, "--min-rows", 1,
    ).json_lines  # fmt: skip
    assert (made["provider"], made["concurrency"], made["minRows"]) == ("simulated", 32, 1)
    assert made["prices"]["meta/llama3:8b"]["inputUsd"] == "0"
    given = {name: one for name, one in made["prices"]["m"].items() if one is not None}
    assert given == {"inputUsd": "1.25", "outputUsd": "10", "cachedInputUsd": "0.125"}
    assert api.keys == {}
    for price in ("m", "m=1", "=1,2", "m=1,2,3,4,5"):
        ran = run("llm", "update-connection", made["id"], "--price", price)
        assert (ran.exit_code, "MODEL=INPUT" in ran.stderr) == (exit_codes.USAGE, True)


def test_a_connection_to_bedrock_has_roles_and_no_key(api, run):
    role = "arn:aws:iam::123456789012:role/autotune-bedrock"
    (made,) = run(
        "llm", "connect", "--name", "aws", "--provider", "bedrock", "--json",
        "--region", "eu-west-1", "--role-arn", role, "--bucket", "lab-batches",
        "--batch-role-arn", "arn:aws:iam::123456789012:role/batch", "--job-hours", 72,
    ).json_lines  # fmt: skip
    shown = made["bedrock"]
    assert (shown["region"], shown["roleArn"], shown["jobHours"]) == ("eu-west-1", role, 72)
    assert (shown["prefix"], shown["externalId"]) == ("autotune/", "org_own")
    assert api.keys == {}
    ran = run("llm", "connect", "--name", "aws", "--provider", "bedrock", "--region", "eu-west-1")
    assert (ran.exit_code, "role" in ran.stderr) == (exit_codes.USAGE, True)


def test_prices_in_batch_jobs_stand_beside_those_of_single_calls(api, run):
    (made,) = run(
        "llm", "connect", "--name", "own", "--provider", "simulated", "--json",
        "--base-url", "https://vllm.example/v1", "--price", "m=1.25,10",
        "--batch-price", "m=0.6,5", "--batches", "never",
    ).json_lines  # fmt: skip
    given = {name: one for name, one in made["prices"]["m"].items() if one is not None}
    assert given == {
        "inputUsd": "1.25",
        "outputUsd": "10",
        "batchInputUsd": "0.6",
        "batchOutputUsd": "5",
    }
    ran = run("llm", "update-connection", made["id"], "--batch-price", "m=1,2")
    assert (ran.exit_code, "no --price" in ran.stderr) == (exit_codes.USAGE, True)


def test_what_became_of_a_job_is_said(api, run, enqueued):
    batch_id = api.new_batch(*enqueued(1))
    adopted = run("llm", "resolve-batch", batch_id, "--adopt", "batch_1", "--json").json_lines
    assert adopted[0]["job"]["id"] == "batch_1"
    again = run("llm", "resolve-batch", batch_id, "--resubmit", "--json").json_lines
    assert again[0]["job"]["stage"] == "creating"
    for wrong in ([], ["--adopt", "batch_1", "--resubmit"]):
        assert run("llm", "resolve-batch", batch_id, *wrong).exit_code != exit_codes.OK


def test_a_connection_is_changed_verified_and_revoked(api, run, connection_id):
    changed = run("llm", "update-connection", connection_id, "--key-stdin", stdin=KEY + "\n")
    assert "keyVersion       2" in changed.stdout
    assert api.keys[connection_id] == KEY
    run("llm", "update-connection", connection_id, "--name", "other")
    assert api.keys[connection_id] == KEY
    verified = run("llm", "verify", connection_id, "--model", "gpt-5")
    assert (verified.exit_code, "works            yes" in verified.stdout) == (exit_codes.OK, True)
    api.works = False
    refused = run("llm", "verify", connection_id, "--model", "gpt-5", "--json")
    assert (refused.exit_code, refused.json_lines[0]["errorCode"]) == (
        exit_codes.INCOMPLETE,
        "account",
    )
    assert "revoked" in run("llm", "revoke-connection", connection_id).stdout
    unknown = run("llm", "revoke-connection", "llc_none")
    assert unknown.exit_code == exit_codes.NOT_FOUND


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


def test_the_same_file_is_enqueued_once(api, run, write_jsonl, options, monkeypatch):
    monkeypatch.setattr("autotune.client.llm_enqueuing.limits.MAX_LLM_ROWS", 2)
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
    api, run, write_jsonl, options, monkeypatch
):
    monkeypatch.setattr("autotune.client.llm_enqueuing.limits.MAX_LLM_ROWS", 2)
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


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "one JSON object"),
        ({"system": "s"}, "input.user"),
        ({"user": "u", "input": {"user": "u"}}, "input: either input or user"),
        ({"user": "u", "model": ""}, "model"),
        ({"user": "u", "params": {"maxTokens": 0}}, "params.maxTokens"),
        ({"user": "u", "params": []}, "params"),
        ({"user": "u", "temprature": 1}, "temprature"),
        ('{"user": "\\ud800"}', "input.user"),
    ],
)
def test_a_wrong_line_is_named_before_anything_is_sent(api, run, write_jsonl, options, line, told):
    path = write_jsonl([{"user": "u"}, "", line, {"user": "u"}])
    ran = run("llm", "enqueue", path, *options)
    assert ran.exit_code == exit_codes.USAGE
    assert f"{path}, line 3: " in ran.stderr
    assert told in ran.stderr
    assert api.received == []


def test_a_line_that_lacks_what_no_option_gives_is_named(api, run, write_jsonl):
    ran = run("llm", "enqueue", write_jsonl([{"user": "u"}]), "--model", "gpt-5")
    for name in ("connectionId", "purpose", "params"):
        assert name in ran.stderr
    empty = run("llm", "enqueue", write_jsonl([""], "empty.jsonl"))
    assert (empty.exit_code, "no requests" in empty.stderr) == (exit_codes.USAGE, True)
    assert api.received == []


def test_requests_are_listed_and_shown(api, run, enqueued, connection_id):
    ids = enqueued(3)
    api.end(ids[1], "error", error={"code": "content_filtered", "message": "no"})
    api.end(ids[2], costNanoUsd=1_250_000_000)
    listed = run("llm", "list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["ID", *ids[::-1]]
    assert "content_filtered" in listed[2]
    assert " 1.25 " in listed[1]
    queued = run("llm", "list", "--status", "queued", "--connection", connection_id, "--json")
    assert [one["id"] for one in queued.json_lines] == [ids[0]]
    assert len(run("llm", "list", "--limit", 2, "--json").json_lines) == 2
    api.rows[ids[0]]["waitingBecause"] = "connection_paused"
    assert "waitingBecause   connection_paused" in run("llm", "show", ids[0]).stdout
    shown = run("llm", "show", ids[2], "--json").json_lines[0]
    assert (shown["rawOutput"], shown["input"]["user"]) == ("ready", "q2")
    assert "rawOutput        ready" in run("llm", "show", ids[2], "--wait", 5).stdout
    assert run("llm", "show", "llm_none").exit_code == exit_codes.NOT_FOUND
    assert run("llm", "list", "--connection", "lab").exit_code == exit_codes.NOT_FOUND


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


def test_what_is_no_id_is_named_by_its_line(api, run, tmp_path):
    (tmp_path / "ids.txt").write_text("\nbat_1\n")
    assert "ids.txt, line 2: expected the id" in run("llm", "wait", "ids.txt").stderr
    missing = run("llm", "wait", "nothing.txt")
    assert (missing.exit_code, "no file that can be read" in missing.stderr) == (
        exit_codes.USAGE,
        True,
    )
    (tmp_path / "empty.txt").write_text("\n")
    assert "no ids" in run("llm", "wait", "empty.txt").stderr
    assert api.received == []


def test_requests_are_canceled_retried_and_their_texts_deleted(api, run, enqueued):
    first, second = enqueued(2)
    assert "canceled" in run("llm", "cancel", first).stdout
    retried = run("llm", "retry", first, "--json").json_lines[0]
    assert retried["retryOf"] == first
    assert run("llm", "retry", first).stdout.strip() == retried["requestId"]
    refused = run("llm", "retry", second)
    assert (refused.exit_code, "the request is queued" in refused.stderr) == (
        exit_codes.USAGE,
        True,
    )
    api.end(second)
    assert run("llm", "delete-content", second, "--json").json_lines[0]["deleted"]
    assert "rawOutput" not in api.rows[second]


def test_batches_are_listed_shown_and_canceled(api, run, enqueued):
    ids = enqueued(2)
    batch_id = api.new_batch(*ids, unclear=3)
    (line,) = run("llm", "batches").stdout.splitlines()[1:]
    assert line.split()[:4] == [batch_id, "submitted", "m", "2"]
    assert run("llm", "batch", batch_id, "--json").json_lines[0]["unclear"] == 3
    rows = run("llm", "batch", batch_id, "--rows", "--json").json_lines
    assert [one["id"] for one in rows] == ids
    job = {"stage": "unknown", "rows": 0, "candidates": ["a", "b"]}
    unclear = api.new_batch(job=job)
    (line,) = run("llm", "batches", "--needs-operator").stdout.splitlines()[1:]
    assert line.split()[0] == unclear
    assert "canceled" in run("llm", "cancel-batch", batch_id).stdout


def test_costs_are_listed_with_their_sum(run):
    ran = run(
        "llm", "costs", "--group-by", "purpose", "--since", "2026-01-02", "--until", "2026-01-03"
    )
    assert [line.split()[0] for line in ran.stdout.splitlines()] == [
        "DAY",
        "2026-01-02",
        "2026-01-03",
    ]
    assert "a purpose" in ran.stdout
    assert "2.5 US dollars in all" in ran.stderr
    assert run("llm", "costs", "--since", "January").exit_code == exit_codes.USAGE
    traced = run("llm", "costs", "--group-by", "trace", "--trace-field", "experimentId")
    assert "a experimentId" in traced.stdout
    for alone in (("--group-by", "trace"), ("--trace-field", "rubricId")):
        assert run("llm", "costs", *alone).exit_code == exit_codes.USAGE


def test_an_estimate_says_whether_the_budget_has_room(api, run, write_jsonl, options):
    path = write_jsonl([{"user": "abc"}, {"user": "abc"}])
    fits = run("llm", "estimate", path, *options)
    assert (fits.exit_code, "boundNanoUsd     134" in fits.stdout) == (exit_codes.OK, True)
    assert "at most 0.000000134 US dollars" in fits.stderr
    run("llm", "budget", "--day", "0.0000001")
    tight = run("llm", "estimate", path, *options, "--json")
    assert (tight.exit_code, tight.json_lines[0]["fits"]) == (exit_codes.INCOMPLETE, False)
    assert api.rows == {}


def test_limits_of_the_budget_are_changed_one_by_one_and_lifted(api, run):
    def limits_after(*options):
        (shown,) = run("llm", "budget", *options, "--json").json_lines
        return {name: value for name, value in shown["limits"].items() if value is not None}

    assert limits_after() == {}
    assert limits_after("--day", "12.50", "--month", 100) == {"dayUsd": "12.50", "monthUsd": "100"}
    assert limits_after("--week", 50, "--no-month") == {"dayUsd": "12.50", "weekUsd": "50"}
    table = run("llm", "budget").stdout
    assert ["day", "2026", "12.5", "0", "0"] in [line.split() for line in table.splitlines()]
    assert api.count("PUT") == 2
    both = run("llm", "budget", "--day", 1, "--no-day")
    assert (both.exit_code, "--no-day" in both.stderr) == (exit_codes.USAGE, True)
    assert run("llm", "budget", "--day", "lots").exit_code == exit_codes.USAGE


def test_a_budget_that_is_used_up_says_what_shows_it(api, run, connection_id):
    api.misbehave(Fault(where="verify", status=402, code="budget_exhausted"))
    ran = run("llm", "verify", connection_id, "--model", "gpt-5")
    assert (ran.exit_code, "`autotune llm budget`" in ran.stderr) == (exit_codes.USAGE, True)


@pytest.mark.parametrize(
    ("nano", "text"),
    [(0, "0"), (1, "0.000000001"), (1_250_000_000, "1.25"), (100_000_000_000, "100"), (None, None)],
)
def test_money_is_shown_to_its_last_digit(nano, text):
    assert dollars(nano) == text


def test_what_matches_is_canceled_and_something_must_say_what_is_meant(run, enqueued):
    ids = enqueued(3)
    refused = run("llm", "cancel-matching")
    assert (refused.exit_code, "--all" in refused.stderr) == (exit_codes.USAGE, True)
    ran = run("llm", "cancel-matching", "--purpose", "scoring")
    assert sorted(ran.stdout.split()) == sorted(ids)
    assert "3 canceled" in ran.stderr
    again = run("llm", "retry-matching", "--all")
    assert len(again.stdout.split()) == 3
    assert "3 enqueued" in again.stderr
