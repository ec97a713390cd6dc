"""``autotune apprentice certificate``: certificates are shown, checked, and found to be wrong."""

import pytest

from autotune.cli import exit_codes
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.apprentice_runs import runs as make_runs
from tests.support.ledger import ledger as make_ledger
from tests.support.trainings import trainings as make_trainings


@pytest.fixture
def trained(api, monkeypatch):
    """A task whose first version was trained here."""
    with (
        make_ledger(api.platform) as ledger,
        make_runs(ledger) as runs,
        make_trainings(runs, monkeypatch) as made,
    ):
        made.ask(160)
        made.train()
        yield made


def test_a_certificate_is_shown_checked_and_found_to_be_of_another_model(run, trained, tmp_path):
    shown = run("apprentice", "certificate", "intents", "1").stdout
    assert "autotune.apprentice.certificate" in shown
    (signed,) = run("apprentice", "certificate", "intents", "1", "--json").json_lines
    assert signed["certificate"]["version"] == 1
    (checked,) = run("apprentice", "certificate", "intents", "1", "--verify", "--json").json_lines
    assert checked["isVerified"] is True
    assert checked["certificate"] == signed["certificate"]
    said = run("apprentice", "certificate", "intents", "1", "--verify").stderr
    assert "version 1 of intents" in said
    assert signed["keyId"][:16] in said

    answer = trained.platform.call("GET", "/api/v1/apprentice/certificate-key")
    pem = tmp_path / "key.pem"
    pem.write_text(answer.json["certificateKey"]["publicKey"])
    assert run("apprentice", "certificate", "intents", "1", "--key", str(pem)).exit_code == 0

    table = Table("apprentice", clients.dynamodb())
    key = (f"{trained.task_id}#trainings", "certificate#000001")
    stored = table.get(*key)
    text = stored["text"].replace('"task":"intents"', '"task":"others"')
    table.update(*key, {"text": text})
    found = run("apprentice", "certificate", "intents", "1", "--verify")
    assert found.exit_code == exit_codes.INCOMPLETE
    assert "the signature is not of this certificate" in found.stderr

    table.update(*key, {"text": stored["text"]})
    table.update(trained.task_id, "version#000001", {"digest": "0" * 64})
    found = run("apprentice", "certificate", "intents", "1", "--verify")
    assert found.exit_code == exit_codes.INCOMPLETE
    assert "is not of version 1" in found.stderr
