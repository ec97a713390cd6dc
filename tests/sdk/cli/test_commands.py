import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autotune.cli import exit_codes
from tests.support.clock import AT_ONCE
from tests.support.graders import answering, healthy
from tests.support.http_faults import Fault


def test_keys_are_created_listed_shown_and_revoked(api, run):
    created = run("keys", "create", "--name", "trainer", "--role", "training_operator", "--json")
    key_id = created.json_lines[0]["key"]["id"]
    assert created.json_lines[0]["apiKey"].startswith(key_id)
    listed = run("keys", "list")
    assert key_id in listed.stdout
    assert "training_operator" in listed.stdout
    assert run("keys", "me", "--json").json_lines[0]["role"] == "admin"
    assert "revoked" in run("keys", "revoke", key_id).stdout


def test_a_new_key_is_shown_once_on_stdout(run):
    ran = run("keys", "create", "--name", "x", "--role", "admin", "--principal-id", "lab-1")
    assert ran.last_line.split()[0] == "apiKey"
    assert "shown this once" in ran.stderr


def test_graders_are_registered_verified_listed_shown_and_deleted(api, run):
    registered = run(
        "graders", "register", "--name", "numeric", "--endpoint", api.grader.url,
        "--max-batch-size", 50, "--domain", "math", "--domain", "logic", "--public", "--json",
        "--max-concurrency", 4, "--requests-per-second", 0.5, "--hedge-after-ms", 800,
    )  # fmt: skip
    grader = registered.json_lines[0]["grader"]
    assert grader["capabilities"]["maxBatchSize"] == 50
    assert grader["capabilities"]["domains"] == ["math", "logic"]
    assert grader["limits"] == {
        "maxConcurrency": 4,
        "requestsPerSecond": 0.5,
        "hedgeAfterMs": 800,
    }
    assert grader["visibility"] == "public"
    assert run("graders", "get", grader["id"], "--json").json_lines == [grader]
    api.grader.health_disease = answering(sign=False)
    failed = run("graders", "verify", grader["id"])
    assert failed.exit_code == exit_codes.INCOMPLETE
    assert failed.stdout.startswith("failed   ")
    assert f"(response_unsigned): is {api.grader.url} a grader" in failed.stdout
    api.grader.health_disease = healthy
    assert run("graders", "verify", grader["id"]).last_line == f"{grader['id']} is verified"
    assert api.grader.url in run("graders", "list").stdout
    assert run("graders", "delete", grader["id"], "--json").json_lines[0]["deleted"]
    assert run("graders", "list", "--json").stdout == ""


def test_a_new_secret_of_a_grader_is_shown_once_on_stdout(api, run):
    registered = run("graders", "register", "--name", "n", "--endpoint", api.grader.url)
    grader_id = run("graders", "list", "--json").json_lines[0]["id"]
    rotated = run("graders", "rotate-secret", grader_id)
    assert re.fullmatch(r"sharedSecret +[0-9a-f]{64}", rotated.last_line)
    assert rotated.last_line != registered.last_line
    assert "shown this once" in rotated.stderr
    assert "previousSecretUntil" in rotated.stdout


def test_the_health_of_a_grader_is_shown_and_is_the_exit_status(api, run):
    registered = run("graders", "register", "--name", "n", "--endpoint", api.grader.url, "--json")
    grader = registered.json_lines[0]["grader"]
    unverified = run("graders", "health", grader["id"])
    assert unverified.exit_code == exit_codes.INCOMPLETE
    assert "status           inactive" in unverified.stdout
    run("graders", "verify", grader["id"])
    api.platform.probe_graders()
    verified = run("graders", "health", grader["id"], "--json")
    assert verified.exit_code == exit_codes.OK
    assert verified.json_lines[0]["lastProbe"]["outcome"] == "healthy"
    assert run("graders", "health", "grd_none").exit_code == exit_codes.NOT_FOUND


def test_a_grader_is_pinned_to_another_certificate_and_to_none(run):
    registered = run(
        "graders", "register", "--name", "n", "--endpoint", "https://g.example", "--json",
        "--certificate-sha256", "0" * 64,
    )  # fmt: skip
    registered = registered.json_lines[0]["grader"]
    grader_id, pinned = registered["id"], registered["certificateSha256"]
    assert pinned == ["0" * 64]

    def pins_after(*options):
        (grader,) = run("graders", "update", grader_id, *options, "--json").json_lines
        return grader["certificateSha256"]

    both = ("--certificate-sha256", "0" * 64, "--certificate-sha256", "1" * 64)
    assert pins_after(*both) == ["0" * 64, "1" * 64]
    assert pins_after("--name", "m") == ["0" * 64, "1" * 64]
    assert pins_after("--no-certificate") == []
    contradiction = run("graders", "update", grader_id, "--no-certificate", *both)
    assert contradiction.exit_code == exit_codes.USAGE


def test_a_graders_limits_are_changed_one_by_one_and_lifted(run):
    registered = run(
        "graders", "register", "--name", "n", "--endpoint", "https://g.example",
        "--max-concurrency", 4, "--hedge-after-ms", 800, "--json",
    )  # fmt: skip
    grader_id = registered.json_lines[0]["grader"]["id"]

    def limits_after(*options):
        (grader,) = run("graders", "update", grader_id, *options, "--json").json_lines
        return {name: value for name, value in grader["limits"].items() if value is not None}

    assert limits_after("--name", "m") == {"maxConcurrency": 4, "hedgeAfterMs": 800}
    assert limits_after("--requests-per-second", 2.5) == {
        "maxConcurrency": 4,
        "requestsPerSecond": 2.5,
        "hedgeAfterMs": 800,
    }
    assert limits_after("--no-limits", "--max-concurrency", 9) == {"maxConcurrency": 9}
    assert limits_after("--no-limits") == {}
    shown = run("graders", "get", grader_id, "--json").json_lines[0]
    assert (shown["name"], shown["endpoint"]) == ("m", "https://g.example")
    assert run("graders", "update", grader_id, "--max-concurrency", 0).exit_code == exit_codes.USAGE


def test_a_graders_figures_are_a_table_with_a_column_for_each_version(api, run, task_id):
    grader_id = api.grader_id
    empty = run("graders", "stats", grader_id)
    assert (empty.stdout, empty.stderr) == ("", f"{grader_id} has no verdicts\n")
    for version, score in (("1.0.0", 0.5), ("2.0.0", 0.25)):
        api.grader.version = version
        judged = [{"metadata": {"value": score}}] * 3
        api.platform.submit(task_id, *judged, {"metadata": {"outcome": "failed"}})
        api.platform.score()
    api.platform.project()
    shown = [line.split() for line in run("graders", "stats", grader_id).stdout.splitlines()]
    assert ["all", "versions", "1.0.0", "2.0.0"] in shown
    assert ["mean", "score", "0.3750", "0.5000", "0.2500"] in shown
    (latency,) = [line for line in shown if line[:2] == ["latency", "p99"]]
    assert latency[3::2] == ["ms"] * 3
    assert ["error", "rate", *["25.00%"] * 3] in shown
    assert ["item_failed", "2", "1", "1"] in shown
    assert any(line[:2] == ["[0.50,", "0.55)"] and "3" in line for line in shown)
    one = run("graders", "stats", grader_id, "--version", "2.0.0")
    assert "all versions" not in one.stdout
    assert "0.2500" in one.stdout
    assert run("graders", "stats", grader_id, "--json").json_lines[0]["graderId"] == grader_id


def test_how_much_a_grader_was_used_is_shown_for_a_month(api, run, task_id):
    judged = [{}] * 3 + [{"metadata": {"outcome": "canceled"}}] * 2
    api.platform.submit(task_id, *judged)
    api.platform.score()
    api.platform.project()
    month = f"{datetime.now(UTC):%Y-%m}"
    shown = run("graders", "usage", api.grader_id, "--month", month).stdout.splitlines()
    assert [line.split() for line in shown] == [
        ["month", month],
        ["scored", "3"],
        ["abstained", "0"],
        ["failed", "0"],
        ["canceled", "2"],
        ["total", "5"],
    ]
    assert run("graders", "usage", api.grader_id, "--json").json_lines[0]["total"] == 5


def test_a_grader_secret_is_shown_once_on_stdout(run):
    ran = run("graders", "register", "--name", "n", "--endpoint", "https://g.example")
    assert re.fullmatch(r"sharedSecret +[0-9a-f]{64}", ran.last_line)


@pytest.mark.parametrize(
    "arguments",
    [
        ["scores", "--task", "xyz"],
        ["export", "--task", "xyz", "-o", "-"],
        ["submit", "-", "--task", "xyz"],
        ["tasks", "create", "--name", "x", "--grader", "xyz"],
        ["tasks", "get", "xyz"],
        ["scores", "--task", "task_" + "0" * 26],
        ["tasks", "create", "--name", "x", "--grader", "grd_" + "0" * 26],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_what_is_not_there_is_told_alike_whatever_its_id_looks_like(run, arguments):
    ran = run(*arguments)
    assert ran.exit_code == exit_codes.NOT_FOUND
    assert re.search(r"no (task |grader )?(xyz|\w+_0{26})", ran.stderr)


def test_json_may_stand_before_the_command(run, task_id):
    assert run("--json", "tasks", "list").json_lines[0]["id"] == task_id


def test_long_fields_are_not_cut_when_piped(api, run, task_id):
    run("tasks", "update", task_id, "--name", "n" * 200)
    assert "n" * 200 in run("tasks", "list").stdout


def test_markup_in_names_is_text(api, run, task_id):
    run("tasks", "update", task_id, "--name", "[red]x[/red] :smile:")
    assert "[red]x[/red] :smile:" in run("tasks", "list").stdout


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(status=401, code="unauthenticated"), exit_codes.DENIED),
        (Fault(status=403, code="forbidden"), exit_codes.DENIED),
        (Fault(status=404, code="not_found"), exit_codes.NOT_FOUND),
        (Fault(status=409, code="grader_not_verified"), exit_codes.USAGE),
        (Fault(status=422, code="invalid_request"), exit_codes.USAGE),
        (Fault(status=200, body=b"<html>", content_type="text/html"), exit_codes.UNAVAILABLE),
        (Fault(status=503, headers={"Retry-After": "900"}), exit_codes.UNAVAILABLE),
    ],
)
def test_errors_are_one_line_with_code_and_request_id(api, run, fault, code):
    api.misbehave(fault)
    ran = run("keys", "me")
    assert ran.exit_code == code
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    assert line.startswith("autotune: ")
    assert api.received[0].headers["x-autotune-request-id"] in line


def test_an_unreachable_server_is_exit_status_5(run, monkeypatch):
    monkeypatch.setattr("autotune.client.exchange.BACK_OFF", AT_ONCE)
    ran = run("--base-url", "http://127.0.0.1:9", "keys", "me")
    assert ran.exit_code == exit_codes.UNAVAILABLE
    assert len(ran.stderr.splitlines()) == 1


def test_without_configuration_the_places_to_look_are_told(api, run, monkeypatch):
    monkeypatch.delenv("AUTOTUNE_BASE_URL")
    ran = run("keys", "me")
    assert ran.exit_code == exit_codes.USAGE
    assert "AUTOTUNE_BASE_URL" in ran.stderr


def test_the_local_profile_is_enough(api, run, monkeypatch, tmp_path):
    monkeypatch.delenv("AUTOTUNE_BASE_URL")
    monkeypatch.delenv("AUTOTUNE_API_KEY")
    (tmp_path / ".autotune").mkdir()
    (tmp_path / ".autotune" / "local.json").write_text(
        json.dumps({"baseUrl": api.base_url, "apiKey": api.api_key})
    )
    assert run("keys", "me").exit_code == 0


def test_a_local_stack_that_is_down_is_guessed(api, run, monkeypatch, tmp_path):
    monkeypatch.setattr("autotune.client.exchange.BACK_OFF", AT_ONCE)
    monkeypatch.delenv("AUTOTUNE_BASE_URL")
    monkeypatch.delenv("AUTOTUNE_API_KEY")
    (tmp_path / ".autotune").mkdir()
    (tmp_path / ".autotune" / "local.json").write_text(
        json.dumps({"baseUrl": "http://127.0.0.1:9", "apiKey": api.api_key})
    )
    ran = run("keys", "me")
    assert ran.exit_code == exit_codes.UNAVAILABLE
    assert "is the local stack up? `make up`" in ran.stderr
    elsewhere = run("--base-url", "http://127.0.0.1:9", "--api-key", api.api_key, "keys", "me")
    assert "local stack" not in elsewhere.stderr


def test_a_grader_that_is_not_verified_is_told_with_the_command(api, run):
    registered = run("graders", "register", "--name", "n", "--endpoint", "https://g", "--json")
    grader_id = registered.json_lines[0]["grader"]["id"]
    ran = run("tasks", "create", "--name", "x", "--grader", grader_id)
    assert ran.exit_code == exit_codes.USAGE
    assert ran.stderr.endswith("; that is what `autotune graders verify` does\n")


def test_options_before_the_command_win(api, run, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_BASE_URL", "http://127.0.0.1:9")
    assert run("--base-url", api.base_url, "keys", "me").exit_code == 0
    assert run("--base-url", api.base_url, "--api-key", "key_x.00", "keys", "me").exit_code == 3


def test_the_version_is_told(run):
    assert run("--version").stdout.startswith("autotune 0.")


@pytest.mark.parametrize(
    "command",
    ["keys", "graders", "tasks", "submit", "scores", "export", "decks", "ops", "grader"],
)
def test_every_command_has_help(run, command):
    assert run(command, "--help").exit_code == 0


def test_a_missing_extra_says_how_to_install_it():
    program = "import sys; sys.modules['typer'] = None\nfrom autotune.cli import main\nmain()"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr == ("the command line needs its extra: pip install 'autotune-sdk[cli]'\n")


def test_a_closed_pipe_ends_quietly(api, task_id):
    ran = subprocess.run(
        f"{sys.executable} -m autotune.cli tasks list --json | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in ran.stderr


def test_a_grader_that_answers_later_says_for_how_long_it_may(run):
    registered = run(
        "graders", "register", "--name", "n", "--endpoint", "https://g.example",
        "--async", "--callback-timeout", 3600, "--json",
    )  # fmt: skip
    grader = registered.json_lines[0]["grader"]
    assert grader["capabilities"]["supportsAsync"] is True
    assert grader["asyncSettings"] == {"timeoutSeconds": 3600, "heartbeatSeconds": None}
    (updated,) = run("graders", "update", grader["id"], "--heartbeat", 60, "--json").json_lines
    assert updated["asyncSettings"] == {"timeoutSeconds": 3600, "heartbeatSeconds": 60}
    (silent,) = run("graders", "update", grader["id"], "--no-heartbeat", "--json").json_lines
    assert silent["asyncSettings"] == {"timeoutSeconds": 3600, "heartbeatSeconds": None}
    both = run("graders", "update", grader["id"], "--heartbeat", 60, "--no-heartbeat")
    assert both.exit_code == exit_codes.USAGE
    too_short = run("graders", "update", grader["id"], "--callback-timeout", 59)
    assert too_short.exit_code == exit_codes.USAGE


def test_whether_a_grader_may_answer_later_is_changed_alone(run):
    registered = run(
        "graders", "register", "--name", "n", "--endpoint", "https://g.example",
        "--max-batch-size", 50, "--domain", "math", "--json",
    )  # fmt: skip
    declared = registered.json_lines[0]["grader"]
    for option, may in [("--async", True), ("--no-async", False)]:
        (updated,) = run("graders", "update", declared["id"], option, "--json").json_lines
        assert updated["capabilities"] == {**declared["capabilities"], "supportsAsync": may}


def test_graders_without_an_endpoint_are_registered_from_files(run, tmp_path):
    builtin, openai = tmp_path / "builtin.json", tmp_path / "openai.json"
    builtin.write_text('{"type": "exact_match", "reference": "{{ item.answer }}"}')
    check = {"type": "string_check", "name": "x", "input": "a", "reference": "b"}
    openai.write_text(json.dumps({**check, "operation": "eq"}))
    ran = run("graders", "register", "--name", "n", "--builtin", builtin)
    assert "sharedSecret" not in ran.stdout
    registered = run("graders", "register", "--name", "n", "--openai", openai, "--json")
    grader = registered.json_lines[0]["grader"]
    assert grader["kind"] == "builtin"
    verified = run("graders", "verify", grader["id"])
    assert verified.last_line == f"{grader['id']} is verified"
    assert "nothing to check" in verified.stderr
    changed = run("graders", "update", grader["id"], "--builtin", builtin, "--json")
    assert changed.json_lines[0]["builtin"]["type"] == "exact_match"
    people = run("graders", "register", "--name", "n", "--human", "--json")
    assert people.json_lines[0]["grader"]["kind"] == "human"
    assert "human" in run("graders", "list").stdout


def test_what_a_grader_is_is_said_once_and_in_a_file_of_json(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # long paths are broken into lines
    broken = Path("broken.json")
    broken.write_text("[1]")
    for options, told in [
        ([], "one of"),
        (["--human", "--endpoint", "https://g.example"], "one of"),
        (["--builtin", broken], "JSON object"),
        (["--openai", "none.json"], "none.json"),
    ]:
        ran = run("graders", "register", "--name", "n", *options)
        assert ran.exit_code == exit_codes.USAGE
        assert told in ran.stderr.replace("\n", " ")


def test_texts_are_kept_for_a_while_and_deleted_on_request(run, api, write_jsonl, completions):
    grader_id = run("graders", "register", "--name", "n", "--human", "--json").json_lines[0][
        "grader"
    ]["id"]
    task = run(
        "tasks", "create", "--name", "t", "--grader", grader_id, "--retention-days", 30, "--json"
    ).json_lines[0]
    assert task["retentionDays"] == 30
    run("submit", write_jsonl(completions(2)), "--task", task["id"], "--no-wait")
    first, second = api.stored()
    assert run("completions", "delete", first.id).exit_code == exit_codes.OK
    assert run("completions", "delete", first.id).exit_code == exit_codes.NOT_FOUND
    deleted = run("batches", "delete-content", second.batch_id, "--json")
    assert deleted.json_lines[0]["contentDeleted"]
    assert run("completions", "delete", second.id).exit_code == exit_codes.NOT_FOUND
