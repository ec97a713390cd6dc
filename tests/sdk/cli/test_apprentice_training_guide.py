"""What the guide to training a small model says is so."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import httpx

from autotune import AutotuneClient
from autotune.protocol.apprentice_trainings import (
    ApprenticeTrainingError,
    ApprenticeTrainingObjection,
)
from examples.bank_messages import TASK, messages, send
from examples.language_models.intent_teacher import MODEL, WORDS, tell
from tests.providers.answers import Reply
from tests.support.apprentice_folding import Apprentice
from tests.support.apprentice_runs import runs as make_runs
from tests.support.ledger import ledger as make_ledger
from tests.support.trainings import trainings as make_trainings

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs/guides/apprentice-training.md").read_text("utf-8")
EXAMPLE = (ROOT / "examples/trained_apprentice.yaml").read_text("utf-8")


def test_the_example_becomes_a_version(api, run, monkeypatch, capsys):
    with make_ledger(api.platform) as ledger, make_runs(ledger) as runs:
        model = {"provider": "openai", "name": MODEL, "usd_per_million": [0.15, 0.15, 0.6]}
        httpx.post(f"{ledger.fake.base_url}/_fake/models", json=model).raise_for_status()
        connection = ledger.connect(
            provider="openai",
            baseUrl=f"{ledger.fake.base_url}/v1",
            prices={MODEL: {"inputUsd": "0.15", "outputUsd": "0.60"}},
        )
        with make_trainings(runs, monkeypatch) as trainings:
            ledger.fake.world.answers.answerer = lambda ask: Reply(tell(ask.texts), has_token=False)
            applied = run(
                "apprentice",
                "apply",
                "--config",
                "-",
                stdin=EXAMPLE.replace("CONNECTION", connection),
            )
            assert applied.stdout == f"{TASK}: new, version 1\n", applied.stderr
            with AutotuneClient() as client:
                assert send(client, 350) == {"remote": 350}
            Apprentice.follow(None, Apprentice.records())

            def wait(_: float) -> None:
                trainings.steps(trainings.executions()[0])

            monkeypatch.setattr("autotune.client.clients.time", SimpleNamespace(sleep=wait))
            (program,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.M | re.S)
            exec(compile(program, "apprentice-training.md", "exec"), {})
    assert "hosted 1 [] None" in capsys.readouterr().out


def test_the_messages_have_every_intent():
    intents = {tell([one]) for one in messages(200)}
    assert len(intents) == len(WORDS) + 1
    assert (
        tell(["You are asked.", "Where is the lost property office?"]) == '{"intent": "block_card"}'
    )


def test_every_reason_is_explained():
    jobs = (ROOT / "docs/guides/apprentice-jobs.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?) \|", TEXT + jobs, re.M)
    named = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}
    wanted = {*get_args(ApprenticeTrainingObjection), *get_args(ApprenticeTrainingError)}
    assert wanted <= named
