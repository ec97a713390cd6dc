"""``autotune apprentice versions``: models of a server are registered, listed and retired."""

from datetime import UTC, datetime

import pytest

from autotune.cli import exit_codes
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.versions.changes import VersionChange
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.apprentice import configuration
from tests.support.ledger import ledger as make_ledger
from tests.support.model_servers import Vllm, serving


@pytest.fixture
def server(api):
    """A server of a task's small model."""
    with make_ledger(api.platform) as ledger, serving(Vllm()) as made:
        local = {"backend": "vllm", "url": made.url}
        asked = configuration(ledger.connect(), local=local, training=None)
        put = api.platform.call("PUT", "/api/v1/apprentice/tasks/support", asked)
        assert put.status == 200
        yield made


def versions(run, *words):
    return run("apprentice", "versions", *words)


def test_a_model_is_registered_listed_and_retired(run, server):
    shown = versions(run, "register", "support", "intents-1").stdout
    assert "intents-1" in shown
    server.weights = 2
    (second,) = versions(run, "register", "support", "intents-1", "--json").json_lines
    assert second["number"] == 2
    lines = versions(run, "list", "support").stdout.splitlines()
    assert lines[0].split() == [
        "VERSION",
        "MODEL",
        "DIGEST",
        "STATE",
        "DEFINITION",
        "GATE",
        "CANARY",
        "REGISTERED",
    ]
    assert lines[1].split()[:5] == [
        "2",
        "intents-1",
        second["digest"].removeprefix("sha256:")[:12],
        "hosted",
        "present",
    ]
    (retired,) = versions(run, "retire", "support", "2", "--json").json_lines
    assert retired["state"] == "retired"
    assert versions(run, "show", "support", "2", "--json").json_lines == [retired]
    listed = versions(run, "list", "support", "--json").json_lines
    assert [one["state"] for one in listed] == ["retired", "hosted"]


def test_what_pairs_did_to_a_version_is_shown_line_by_line(run, server, api):
    versions(run, "register", "support", "intents-1")
    repository = TaskRepository(Table("apprentice", clients.dynamodb()))
    task = repository.find(api.platform.me()["organizationId"], "support")
    change = VersionChange(
        task_id=task.id,
        organization_id=task.organization_id,
        version=1,
        sequence=132,
        kind="canary_began",
        at=datetime(2026, 11, 28, 12, tzinfo=UTC),
        mean_agreement=0.962,
        share=0.25,
    )
    alarm = change.model_copy(update={"sequence": 200, "kind": "alarm", "share": None})
    evidence = EvidenceRepository(Table("apprentice", clients.dynamodb()))
    assert evidence.write([evidence.change(change), evidence.change(alarm)]) is None
    *fields, head, first, second = versions(run, "show", "support", "1").stdout.splitlines()
    assert fields[0].split() == ["number", "1"]
    assert not any(line.startswith("changes") for line in fields)
    assert head.split() == ["AT", "CHANGE", "PAIR", "SHARE", "AGREEMENT"]
    assert first.split() == ["2026-11-28", "12:00", "canary_began", "132", "25.0%", "96.2%"]
    assert second.split() == ["2026-11-28", "12:00", "alarm", "200", "96.2%"]
    (shown,) = versions(run, "show", "support", "1", "--json").json_lines
    assert [one["kind"] for one in shown["changes"]] == ["canary_began", "alarm"]


def test_what_is_refused_is_said(run, server):
    unlisted = versions(run, "register", "support", "another")
    assert unlisted.exit_code != 0
    assert "it does not list another; it lists base, intents-1" in unlisted.stderr
    versions(run, "register", "support", "intents-1")
    early = versions(run, "promote", "support", "1")
    assert early.exit_code != 0
    assert "no evidence" in early.stderr
    back = versions(run, "rollback", "support", "1")
    assert back.exit_code != 0
    assert "version 1 does not serve: none does" in back.stderr
    assert versions(run, "show", "support", "0").exit_code == exit_codes.USAGE
