"""``autotune apprentice``: what a file says is applied, shown, and deleted again."""

import pytest

from autotune.cli import exit_codes
from tests.support.apprentice_files import APPRENTICE_YAML, changed
from tests.support.apprentice_folding import Apprentice
from tests.support.ledger import ledger as make_ledger

KEY = "sk-secret-0123456789abcdef"
OTHER_KEY = "sk-secret-0123456789abcxyz"
NAME = "apprentice openai OPENAI_API_KEY"


@pytest.fixture
def api(api, monkeypatch):
    """The platform, with the key of a provider in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return api


@pytest.fixture
def apply(run, tmp_path):
    """Apply what a file says."""

    def apply_file(text=APPRENTICE_YAML, *options):
        (tmp_path / "apprentice.yaml").write_text(text, encoding="utf-8")
        ran = run("apprentice", "apply", *options)
        assert KEY not in ran.stdout + ran.stderr
        assert OTHER_KEY not in ran.stdout + ran.stderr
        return ran

    return apply_file


def connections(run):
    return run("llm", "connections", "--json").json_lines


def tasks(run):
    return run("apprentice", "tasks", "--json").json_lines


def with_connection(connection_id, *pairs):
    return changed(("api_key_env: OPENAI_API_KEY", f"connection: {connection_id}"), *pairs)


def connect(run, provider, *options):
    ran = run("llm", "connect", *options, "--provider", provider, "--name", "own", "--json",
              "--key-env", "OPENAI_API_KEY")  # fmt: skip
    return ran.json_lines[0]["id"]


def test_tasks_are_made_and_the_same_file_changes_nothing(run, apply):
    ran = apply()
    assert ran.exit_code == 0
    assert ran.stdout.splitlines() == ["support: new, version 1", "language: new, version 1"]
    assert f"connection {NAME}: new" in ran.stderr
    (connection,) = connections(run)
    assert (connection["name"], connection["provider"]) == (NAME, "openai")
    again = apply()
    assert again.stdout.splitlines() == [
        "support: unchanged, version 1",
        "language: unchanged, version 1",
    ]
    assert f"connection {NAME}: unchanged" in again.stderr
    assert connections(run) == [connection]
    assert [(one["name"], one["version"]) for one in tasks(run)] == [
        ("language", 1),
        ("support", 1),
    ]


def test_what_changes_is_said_and_whether_evidence_stands(run, apply):
    apply()
    cheaper = apply(changed(('daily: "5"', 'daily: "4"')))
    assert cheaper.stdout.splitlines() == [
        "support: version 2; its definition is the same, so evidence stands",
        "language: unchanged, version 1",
    ]
    asked = changed(('daily: "5"', 'daily: "4"'), ("You name languages.", "Name the language."))
    ran = apply(asked, "--json")
    assert ran.json_lines == [
        {
            "task": "support",
            "change": "unchanged",
            "version": 2,
            "evidenceBeginsAnew": False,
            "dryRun": False,
        },
        {
            "task": "language",
            "change": "changed",
            "version": 2,
            "evidenceBeginsAnew": True,
            "dryRun": False,
        },
    ]


def test_a_dry_run_says_what_apply_does_and_changes_nothing(run, apply):
    planned = apply(APPRENTICE_YAML, "--dry-run")
    assert "nothing was changed" in planned.stderr
    assert tasks(run) == connections(run) == []
    assert apply().stdout == planned.stdout
    for new in ("x", "support"):
        text = changed(("You tell intents apart.", new), ("monthly: 20.50", "monthly: 7"))
        planned = apply(text, "--dry-run", "--json")
        expected = [{**one, "dryRun": False} for one in planned.json_lines]
        assert apply(text, "--json").json_lines == expected
        assert planned.json_lines[0]["evidenceBeginsAnew"]


def test_another_key_in_the_variable_is_the_connections_next(run, apply, monkeypatch):
    apply()
    monkeypatch.setenv("OPENAI_API_KEY", OTHER_KEY)
    planned = apply(APPRENTICE_YAML, "--dry-run")
    assert f"connection {NAME}: key changed" in planned.stderr
    assert connections(run)[0]["keyEndsWith"] == "cdef"
    ran = apply()
    assert f"connection {NAME}: key changed" in ran.stderr
    assert "unchanged, version 1" in ran.stdout
    (connection,) = connections(run)
    assert (connection["keyEndsWith"], connection["keyVersion"]) == ("cxyz", 2)


def test_a_revoked_connection_is_not_taken_again(run, apply):
    apply()
    run("llm", "revoke-connection", connections(run)[0]["id"])
    ran = apply()
    assert f"connection {NAME}: new" in ran.stderr
    assert [one["status"] for one in connections(run)] == ["revoked", "active"]
    assert "support: version 2" in ran.stdout


def test_versions_of_a_configuration_are_listed(run, apply):
    apply()
    (first,) = run("apprentice", "configurations", "support", "--json").json_lines
    shown = run("apprentice", "configurations", "support").stdout.splitlines()
    assert shown[0].split() == ["VERSION", "DEFINITION", "MADE", "BY"]
    assert shown[1].split()[:2] == [str(first["version"]), first["definitionHash"][:12]]


def test_a_connection_of_ones_own_is_named_by_its_id(run, apply):
    connection_id = connect(run, "openai")
    assert apply(with_connection(connection_id)).exit_code == 0
    shown = run("apprentice", "show", "support", "--json").json_lines[0]
    assert shown["configuration"]["remote"]["primary"]["connectionId"] == connection_id
    assert len(connections(run)) == 1


def test_google_is_gemini_in_the_ledger(run, apply):
    connection_id = connect(run, "gemini")
    text = with_connection(connection_id, ("openai", "google"), ("gpt-4o-mini", "gemini-2.5-flash"))
    assert apply(text).exit_code == 0
    own = changed(
        ("provider: openai", "provider: google"),
        ("gpt-4o-mini", "gemini-2.5-flash"),
    )
    assert apply(own).exit_code == 0
    assert [one["provider"] for one in connections(run)] == ["gemini", "gemini"]


@pytest.mark.parametrize(
    ("make", "line", "said"),
    [
        (
            lambda run: with_connection(connect(run, "gemini")),
            5,
            "remote.primary.connection: is a connection to gemini, and provider is openai",
        ),
        (
            lambda _: with_connection("llc_" + "0" * 26),
            5,
            "remote.primary.connection: no connection llc_",
        ),
        (
            lambda _: changed(("OPENAI_API_KEY", "NO_SUCH_VARIABLE")),
            5,
            "remote.primary.api_key_env: the environment variable NO_SUCH_VARIABLE holds no key",
        ),
        (
            lambda _: changed(
                ("{type: exact_match}", f"{{type: custom, grader_id: grd_{'0' * 26}}}")
            ),
            39,
            "tasks.language.evaluator.grader_id: expected a grader",
        ),
        (lambda _: changed(("decay: exponential", "decay: slow")), 15, "sampling.decay: "),
    ],
)
def test_nothing_is_changed_where_the_file_has_a_fault(run, apply, make, line, said):
    text = make(run)
    there = connections(run)
    ran = apply(text)
    assert ran.exit_code == exit_codes.USAGE
    assert ran.stdout == ""
    assert f"apprentice.yaml:{line}: {said}" in ran.stderr
    assert "no task was changed" in ran.stderr
    assert tasks(run) == []
    assert connections(run) == there


def test_what_the_api_refuses_has_its_line_and_says_what_was_done(run, apply):
    remote = (
        "    remote: {primary: {provider: openai, model: no-such-model, "
        "api_key_env: OPENAI_API_KEY, max_output_tokens: 9}}\n    evaluator: {type: exact_match}"
    )
    ran = apply(changed(("    evaluator: {type: exact_match}", remote)))
    assert ran.exit_code == exit_codes.USAGE
    assert "apprentice.yaml:39: tasks.language.remote.primary.model: no price" in ran.stderr
    assert "done before: support: new, version 1" in ran.stderr
    assert "no task was changed" not in ran.stderr
    assert [one["name"] for one in tasks(run)] == ["support"]


def test_what_could_never_train_has_its_line(run, apply):
    ran = apply(
        changed(("  fine_tune_batch_size: 50", "  fine_tune_batch_size: 50\n  spot: false"))
    )
    assert ran.exit_code == exit_codes.USAGE
    assert "apprentice.yaml:19: training.spot: no job trains linear" in ran.stderr
    assert tasks(run) == []


def test_a_file_that_is_not_there_is_named(run, api):
    ran = run("apprentice", "apply", "--config", "other.yaml")
    assert ran.exit_code == exit_codes.USAGE
    assert "other.yaml: No such file" in ran.stderr


def test_a_file_may_come_from_stdin(run, api):
    ran = run("apprentice", "apply", "--config", "-", stdin=APPRENTICE_YAML)
    assert "support: new" in ran.stdout


def test_a_task_is_listed_shown_in_each_version_and_deleted(run, apply):
    apply()
    apply(changed(('daily: "5"', 'daily: "4"')))
    listed = run("apprentice", "tasks").stdout
    assert "support" in listed
    assert "Names languages." in listed
    shown = run("apprentice", "show", "support").stdout
    assert '"daily": "4"' in shown
    assert ": 0 of 4 USD; " in shown
    first = run("apprentice", "show", "support", "--version", 1)
    assert '"daily": "5"' in first.stdout
    assert "You tell intents apart." in first.stdout
    missing = run("apprentice", "show", "support", "--version", 3)
    assert missing.exit_code == exit_codes.NOT_FOUND
    assert run("apprentice", "delete", "support").exit_code == 0
    assert run("apprentice", "show", "support").exit_code == exit_codes.NOT_FOUND
    assert run("apprentice", "delete", "support").exit_code == exit_codes.NOT_FOUND


def test_pairs_are_shown_newest_first(run, api):
    with make_ledger(api.platform) as ledger:
        apprentice = Apprentice(api.platform, ledger.connect())
        apprentice.add_version(1)
        apprentice.store(apprentice.answered(score) for score in (1, 0.25))
        apprentice.follow()
    shown = run("apprentice", "pairs", "intents", "--version", 1).stdout
    assert "1.000" in shown
    assert "0.250" in shown
    assert shown.splitlines()[1].split()[0] == "2"
    as_json = run("apprentice", "pairs", "intents", "--version", 1, "--limit", 1, "--json")
    assert [one["sequence"] for one in as_json.json_lines] == [2]
    missing = run("apprentice", "pairs", "intents", "--version", 2)
    assert missing.exit_code == exit_codes.NOT_FOUND
