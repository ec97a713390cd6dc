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
        "autotune.cli.llm_keys.typer.prompt",
        lambda text, **how: asked.append((text, how["hide_input"])) or KEY,
    )

    class Terminal:
        def isatty(self):
            return True

    monkeypatch.setattr("autotune.cli.llm_keys.sys", type("S", (), {"stdin": Terminal()}))
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


def test_limits_and_timings_of_jobs_are_options(api, run):
    (made,) = run(
        "llm", "connect", "--name", "lab", "--provider", "openai", "--key-stdin", "--json",
        "--enqueued-tokens", "gpt-5=900000", "--enqueued-tokens", "gpt-5-mini=5000000",
        "--open-jobs", 3, "--poll-most-seconds", 300, stdin=KEY + "\n",
    ).json_lines  # fmt: skip
    tokens = {"gpt-5": 900_000, "gpt-5-mini": 5_000_000}
    assert (made["limits"]["enqueuedTokens"], made["limits"]["openJobs"]) == (tokens, 3)
    assert made["timings"]["pollMostSeconds"] == 300
    (changed,) = run(
        "llm", "update-connection", made["id"], "--json", "--creations-per-hour", 10,
        "--default-timings", "--put-off-seconds", 60,
    ).json_lines  # fmt: skip
    assert (changed["limits"]["openJobs"], changed["limits"]["creationsPerHour"]) == (3, 10)
    timings = changed["timings"]
    assert (timings["pollMostSeconds"], timings["putOffSeconds"]) == (1_800, 60)
    (back,) = run("llm", "update-connection", made["id"], "--default-limits", "--json").json_lines
    assert back["limits"].get("openJobs") is None
    for wrong in ("gpt-5", "=3", "gpt-5=many"):
        ran = run("llm", "update-connection", made["id"], "--enqueued-tokens", wrong)
        assert (ran.exit_code, "MODEL=TOKENS" in ran.stderr) == (exit_codes.USAGE, True)


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
    assert "USD              0.0000009" in verified.stdout
    api.works = False
    refused = run("llm", "verify", connection_id, "--model", "gpt-5", "--json")
    assert (refused.exit_code, refused.json_lines[0]["errorCode"]) == (
        exit_codes.INCOMPLETE,
        "account",
    )
    assert "revoked" in run("llm", "revoke-connection", connection_id).stdout
    unknown = run("llm", "revoke-connection", "llc_none")
    assert unknown.exit_code == exit_codes.NOT_FOUND


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
    shown = run("llm", "show", ids[2], "--json").json_lines[0]
    assert (shown["rawOutput"], shown["input"]["user"]) == ("ready", "q2")
    assert "rawOutput        ready" in run("llm", "show", ids[2], "--wait", 5).stdout
    assert run("llm", "show", "llm_none").exit_code == exit_codes.NOT_FOUND
    assert run("llm", "list", "--connection", "lab").exit_code == exit_codes.NOT_FOUND


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
    difference = {"outputTokens": 3, "assumedRows": 0, "withinTolerance": False}
    usage = {"inputTokens": 5, "outputTokens": 8}
    other = api.new_batch(difference=difference, reported={"usage": usage}, aboveBound=2)
    (line,) = run("llm", "batches", "--differs").stdout.splitlines()[1:]
    assert line.split()[0] == other
    shown = run("llm", "batch", other).stdout
    assert '"outputTokens": 3' in shown
    assert '"outputTokens": 8' in shown
    assert "aboveBound       2" in shown
    assert "canceled" in run("llm", "cancel-batch", batch_id).stdout


def test_a_batch_that_is_over_without_its_requests_and_a_job_that_goes_on_say_so(
    api, run, enqueued
):
    ids = enqueued(2)
    counts = {"rows": 2, "released": 2}
    over = api.new_batch(*ids, status="completed", counts=counts)
    (line,) = run("llm", "batches").stdout.splitlines()[1:]
    assert line.split()[:4] == [over, "completed,", "all", "released"]
    why = "openrouter cancels no batch jobs"
    asked = "2026-01-02T03:04:05Z"
    on = api.new_batch(*ids, status="submitted", cancelRequestedAt=asked, cancelDetail=why)
    assert "2026-01-02 03:04:05" in run("llm", "batches").stdout
    story = run("explain", on).stdout
    assert why in story


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
