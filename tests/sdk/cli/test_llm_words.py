"""Errors of ``autotune llm ...`` name options, say what to do, and repeat no key."""

import pytest

from autotune.cli import exit_codes
from tests.support.http_faults import Fault

KEY = "sk-secret-0123456789abcdef"
SIMULATED = ("--provider", "simulated", "--base-url", "https://vllm.example/v1")


@pytest.fixture
def api(ledger, monkeypatch, tmp_path):
    """The ledger's API, which the command line finds in its environment."""
    monkeypatch.setenv("AUTOTUNE_BASE_URL", ledger.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", ledger.api_key)
    monkeypatch.chdir(tmp_path)
    return ledger


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--provider", "simulated"), "--base-url is needed: simulated has no address of its own"),
        (("--provider", "azure", "--key-env", "HOME"), "--base-url is needed"),
        ((*SIMULATED, "--price", "m=a,1"), "--price m.inputUsd: expected US dollars as digits"),
        ((*SIMULATED, "--batches", "always"), "--batches: simulated connections have no"),
        ((*SIMULATED, "--min-rows", 9, "--max-rows", 2), "--min-rows must not be above --max-rows"),
        (("--provider", "bedrock"), "--region and --role-arn: needed by the provider bedrock"),
        (
            ("--provider", "bedrock", "--region", "here"),
            "--region: a region of AWS, such as us-east-1; --role-arn is missing",
        ),
        ((*SIMULATED, "--enqueued-tokens", "m=1"), "--enqueued-tokens m: "),
        ((*SIMULATED, "--poll-most-seconds", 1), "--poll-most-seconds: "),
    ],
)
def test_what_is_wrong_with_a_connection_is_said_by_its_options(api, run, options, told):
    ran = run("llm", "connect", "--name", "lab", *options)
    assert (ran.exit_code, f"autotune: {told}" in ran.stderr) == (exit_codes.USAGE, True)
    assert not [one for one in ("Value error", "(whole)", "Field required") if one in ran.stderr]
    assert api.received == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("llm", "connect", "--name", "lab", "--provider", "openai", "--key-env", KEY), "variable"),
        (("llm", "connect", "--name", "a", "--provider", "openai", "--key", KEY), "--key-env"),
        (("llm", "connect", "--name", "a", "--provider", "openai", "--api-key", KEY), "--key-env"),
        (("--api-key", KEY, "llm", "connections"), "`autotune llm connect --key-env`"),
    ],
)
def test_a_key_in_a_wrong_place_is_told_the_right_one_and_not_repeated(api, run, arguments, told):
    ran = run(*arguments)
    assert (ran.exit_code, told in ran.stderr) == (exit_codes.USAGE, True)
    assert KEY not in ran.stdout + ran.stderr
    assert api.received == []


def test_where_a_connection_leads_is_for_good(api, run):
    connection_id = api.new_connection()
    for option, value in (("--base-url", "https://other.example/v1"), ("--provider", "azure")):
        ran = run("llm", "update-connection", connection_id, option, value)
        assert ran.exit_code == exit_codes.USAGE
        assert f"{option} of a connection is for good" in ran.stderr
        assert "`autotune llm connect`" in ran.stderr
    assert api.received == []
    told = " ".join(run("llm", "connect", "--help").stdout.split())
    assert "provider and address are for good" in told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("list", "--purpose", "Judge"), "--purpose: lower-case letters"),
        (("budget", "--day", "-3"), "--day: expected US dollars as digits, such as 0.15"),
        (("tokens", "create", "--name", "t", "--connection", "lab"), "--connection takes an id"),
        (("costs", "--since", "January"), "an example is 2026-11-25"),
        (("list", "--since", "tomorrow"), "an example is 2026-11-25T14:30:00"),
        (("wait", "llm_1", "--timeout", "abc"), "an example is 30"),
        (("list", "--limit", "0"), "an example is 30"),
        (("show", "llm_1", "--wait", "99"), "an example is 20"),
    ],
)
def test_a_value_that_cannot_be_is_told_one_that_can(api, run, arguments, told):
    ran = run("llm", *arguments)
    assert ran.exit_code in (exit_codes.USAGE, exit_codes.NOT_FOUND)
    shown = " ".join(ran.stderr.replace("│", " ").split())
    assert told in shown
    assert "Value error" not in shown
    assert {one.method for one in api.received} <= {"GET"}


def test_a_refusal_of_the_server_names_the_option_and_the_request(api, run, monkeypatch):
    monkeypatch.setenv("PROVIDER_KEY", KEY)
    problem = (
        b'{"type": "t", "title": "t", "status": 422, "code": "invalid_request", "requestId": "q",'
        b' "detail": "baseUrl: an address that may be called",'
        b' "errors": [{"field": "baseUrl", "expected": "an address that may be called"},'
        b' {"field": "maxWaitSeconds", "expected": "less"}]}'
    )
    api.misbehave(Fault(where="POST", status=422, body=problem))
    ran = run("llm", "connect", "--name", "a", "--provider", "openai", "--key-env", "PROVIDER_KEY")
    told = "autotune: --base-url: an address that may be called; --max-wait-seconds: less (request "
    assert (ran.exit_code, told in ran.stderr) == (exit_codes.USAGE, True)
