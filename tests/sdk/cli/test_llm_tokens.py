"""``autotune llm tokens``: what lets in is shown once, by the name that --json has for it."""

from autotune.cli import exit_codes
from tests.support.apprentice import configuration


def test_a_secret_is_shown_once_and_a_revoked_token_is_listed(api, run):
    body = {"name": "lab", "provider": "openai", "apiKey": "sk-test-0123456789"}
    answer = api.platform.call("POST", "/api/v1/llm-connections", body)
    connection_id = answer.json["connection"]["id"]
    common = ("llm", "tokens", "create", "--name", "lab", "--connection", connection_id)
    (made,) = run(*common, "--json").json_lines
    secret, token_id = made["secret"], made["token"]["id"]
    shown = run(*common, "--read-only")
    (line,) = [one for one in shown.stdout.splitlines() if one.startswith("secret ")]
    assert "The secret is shown this once" in shown.stderr
    assert run("llm", "tokens", "revoke", token_id).exit_code == exit_codes.OK
    listed = run("llm", "tokens", "list").stdout
    assert "revoked" in listed
    for one in (secret, line.split()[1]):
        assert one not in listed
        assert one[-4:] in listed


def test_a_token_is_of_a_connection_or_a_task(api, run):
    prices = {"small": {"inputUsd": "0.1", "outputUsd": "0.4"}}
    body = {"name": "lab", "provider": "openai", "apiKey": "sk-test-0123456789", "prices": prices}
    answer = api.platform.call("POST", "/api/v1/llm-connections", body)
    task = configuration(answer.json["connection"]["id"])
    put = api.platform.call("PUT", "/api/v1/apprentice/tasks/intents", task)
    assert put.status == 200, put.text
    create = ("llm", "tokens", "create", "--name", "lab")
    (made,) = run(*create, "--apprentice-task", "intents", "--json").json_lines
    assert made["token"]["apprenticeTask"] == "intents"
    assert "intents" in run("llm", "tokens", "list").stdout
    refused = run(*create)
    assert refused.exit_code == exit_codes.USAGE
    assert "exactly one of --connection and --apprentice-task" in refused.stderr
