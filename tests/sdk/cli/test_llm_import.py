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
def options(api):
    return (
        "--format", "openai", "--connection", api.new_connection(), "--purpose", "scoring"
    )  # fmt: skip


def test_a_file_is_imported_once_and_its_wrong_lines_are_reported(
    api, run, write_jsonl, options, tmp_path
):
    path = write_jsonl([{"custom_id": str(n)} for n in range(3)] + ["broken"] * 25)
    report = tmp_path / "rejected.jsonl"
    ran = run("llm", "import", path, *options, "--report", report)
    assert ran.exit_code == exit_codes.INCOMPLETE
    assert ran.stdout.strip() == next(iter(api.imports))
    assert "line 4: it is no JSON object" in ran.stderr
    assert "and 5 more" in ran.stderr
    assert "3 enqueued, 25 rejected" in ran.stderr
    written = [json.loads(line) for line in report.read_text().splitlines()]
    assert [one["line"] for one in written] == list(range(4, 29))
    again = run("llm", "import", path, *options, "--json")
    shown = json.loads(again.stdout)
    assert (shown["id"], shown["counts"]["rejected"]) == (ran.stdout.strip(), 25)
    assert "secret" not in again.stdout + again.stderr
    assert api.count("PUT") == 1
    other = run("llm", "import", path, *options, "--idempotency-key", "another")
    assert other.stdout != ran.stdout


def test_a_file_without_a_wrong_line_ends_well_with_its_defaults(api, run, write_jsonl, options):
    path = write_jsonl([{"custom_id": "a"}])
    defaults = json.dumps({"labels": {"run": "7"}})
    ran = run(
        "llm", "import", path, *options, "--model", "m", "--on-error", "rejectAll",
        "--defaults", defaults,
    )  # fmt: skip
    assert ran.exit_code == exit_codes.OK, ran.stderr
    (body,) = [one.body for one in api.received if one.path.endswith("/llm-imports")]
    asked = json.loads(body)
    assert asked["defaults"] == {"model": "m", "labels": {"run": "7"}}
    assert asked["onError"] == "rejectAll"


@pytest.mark.parametrize(
    ("defaults", "expected"),
    [("{", "not JSON"), ("[]", "no JSON object"), ('{"maxTokens": 5}', "maxTokens")],
    ids=["broken", "list", "unknown"],
)
def test_defaults_that_are_none_are_refused(api, run, write_jsonl, options, defaults, expected):
    before = len(api.received)
    ran = run("llm", "import", write_jsonl([{}]), *options, "--defaults", defaults)
    assert ran.exit_code == exit_codes.USAGE
    assert expected in ran.stderr
    assert len(api.received) == before


def test_imports_are_listed_by_state_without_links(api, run, write_jsonl, options):
    path = write_jsonl([{"custom_id": "a"}, "broken"])
    done = run("llm", "import", path, *options).stdout.strip()
    other = run("llm", "import", path, *options, "--idempotency-key", "another").stdout.strip()
    api.imports[other]["state"] = "waiting"
    api.imports[other]["waitingBecause"] = "there are too many"
    listed = run("llm", "imports")
    assert listed.exit_code == exit_codes.OK, listed.stderr
    assert listed.stdout.index(other) < listed.stdout.index(done)
    assert "there are too many" in listed.stdout
    only = run("llm", "imports", "--state", "completed", "--json", "--limit", "5")
    (shown,) = [json.loads(line) for line in only.stdout.splitlines()]
    assert (shown["id"], shown["counts"]["rejected"]) == (done, 1)
    assert "secret" not in listed.stdout + only.stdout
    assert run("llm", "imports", "--state", "gone").exit_code == exit_codes.USAGE


@pytest.mark.parametrize("missing", ["--format", "--connection", "--purpose"])
def test_an_option_that_is_needed_is_asked_for_by_name(api, run, write_jsonl, options, missing):
    place = options.index(missing)
    given = (*options[:place], *options[place + 2 :])
    ran = run("llm", "import", write_jsonl([{"custom_id": "a"}]), *given)
    assert ran.exit_code == exit_codes.USAGE
    assert f"Missing option '{missing}'" in ran.stderr
    assert not api.imports


def test_help_shows_no_default_of_what_is_needed(run):
    shown = run("llm", "import", "--help").stdout
    assert "MISSING" not in shown
    assert shown.count("[required]") == 4


@pytest.mark.parametrize("command", [("import", "f.jsonl"), ("list",)])
def test_a_connection_that_is_no_id_is_refused_with_the_command_that_lists_them(
    api, run, write_jsonl, options, command
):
    path = write_jsonl([{"custom_id": "a"}])
    words = ["llm", command[0], *([path] if command[1:] else [])]
    rest = [one if one != options[3] else "bad" for one in options] if command[1:] else []
    ran = run(*words, *(rest or ["--connection", "bad"]))
    assert ran.exit_code == exit_codes.NOT_FOUND
    assert "--connection takes an id as `autotune llm connections` shows it" in ran.stderr
    assert "----" not in ran.stderr
