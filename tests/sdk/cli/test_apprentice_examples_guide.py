"""What the guide to examples says is so."""

import re
from pathlib import Path
from typing import get_args

from autotune.protocol.apprentice_examples import ApprenticeSelection
from tests.support.apprentice import configuration
from tests.support.ledger import ledger as make_ledger

TEXT = (Path(__file__).parents[3] / "docs/guides/apprentice-examples.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def test_the_commands_and_the_program_run(api, run, capsys, monkeypatch, tmp_path):
    (commands,) = blocks("sh")
    (program,) = blocks("python")
    (line,) = blocks("json")
    monkeypatch.chdir(tmp_path)
    Path("examples.jsonl").write_text(line)
    with make_ledger(api.platform) as ledger:
        asked = configuration(ledger.connect())
        put = api.platform.call("PUT", "/api/v1/apprentice/tasks/support_intent", asked)
        assert put.status == 200
        for command in commands.splitlines():
            shown = run(*command.removeprefix("autotune ").split())
            assert shown.exit_code == 0, command
        assert "track_order" in shown.stdout
        exec(compile(program, "apprentice-examples.md", "exec"), {})
    assert "1 0 []" in capsys.readouterr().out


def test_every_selection_is_explained():
    rows = re.findall(r"^\| `(\w+)` \|", TEXT, re.M)
    assert set(rows) - {"selection"} == set(get_args(ApprenticeSelection))
