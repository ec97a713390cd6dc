import re
from pathlib import Path
from typing import get_args

import pytest

from autotune.cli.application import app
from autotune.client.llm import LlmMethods
from autotune.protocol.llm_connections import LlmProvider
from autotune.protocol.llm_requests import FinishReason, LlmErrorCode, LlmReaskSkipped, LlmStatus
from autotune.protocol.verdict_formats import ParseErrorCode, VerdictType

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "language-models.md"
TEXT = GUIDE.read_text("utf-8")


@pytest.fixture
def api(ledger, monkeypatch, tmp_path):
    """The ledger's API, which the examples find; what they ask ends at once."""
    monkeypatch.setenv("AUTOTUNE_BASE_URL", ledger.base_url)
    monkeypatch.setenv("AUTOTUNE_API_KEY", ledger.api_key)
    monkeypatch.chdir(tmp_path)
    ledger.ends = lambda row: {
        "status": "completed",
        "rawOutput": row["input"]["user"],
        "costNanoUsd": 5,
    }
    return ledger


def examples(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def test_every_command_of_the_guide_runs(api, shell, tmp_path):
    (line,) = examples("json")
    (tmp_path / "rows.jsonl").write_text(line)
    (tmp_path / "batch.jsonl").write_text('{"custom_id": "a"}\n')
    ran = shell.run("\n".join(examples("sh")))
    assert ran.returncode == 0, ran.stderr
    assert set(api.keys.values()) == {"sk-xxxx"}
    assert "completed 1 of 1" in ran.stdout
    first, asked = api.rows.values()
    assert first["purpose"] == "trial"
    # Asked by itself, at once: the first example ends within a minute.
    connection = api.connections[first["connectionId"]]
    assert (connection["batches"], connection["maxWaitSeconds"]) == ("never", 0)
    assert asked["verdict"]["labels"] == ["polite", "rude"]
    assert (tmp_path / "answers.jsonl").read_text().count("\n") == 1
    assert api.limits == {"dayUsd": "20"}


def test_the_program_of_the_guide_runs(api, capsys):
    (example,) = examples("python")
    exec(compile(example, GUIDE.name, "exec"), {"connection_id": api.new_connection()})
    assert capsys.readouterr().out == "completed Is this polite? {{answer}}\n" * 2


@pytest.mark.parametrize(
    "words",
    [
        *(LlmProvider, LlmStatus, LlmErrorCode, FinishReason, VerdictType, ParseErrorCode),
        LlmReaskSkipped,
    ],
)
def test_the_guide_has_every_word_of_the_protocol(words):
    for word in get_args(words):
        assert f"`{word}`" in TEXT, word


def test_the_guide_has_every_command_and_every_method():
    (group,) = [one for one in app.registered_groups if one.name == "llm"]
    for one in group.typer_instance.registered_commands:
        name = one.name or one.callback.__name__.replace("_", "-")
        assert f"`{name}`" in TEXT, name
    methods = [name for name in vars(LlmMethods) if not name.startswith("_")]
    assert len(methods) == 26
    for name in methods:
        assert f"`{name}`" in TEXT or f"`client.llm.{name}`" in TEXT, name
