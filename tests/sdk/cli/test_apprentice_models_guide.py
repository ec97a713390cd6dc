"""What the guide to small models says is so."""

import re
from pathlib import Path

from autotune_platform.apprentice.local.contract import Reason
from autotune_platform.apprentice.local.listing import REGISTERED
from tests.support.apprentice import configuration
from tests.support.ledger import ledger as make_ledger
from tests.support.model_servers import Vllm, serving

TEXT = (Path(__file__).parents[3] / "docs/guides/apprentice-models.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.M | re.S)


def test_the_commands_and_the_program_run(api, run, capsys):
    (commands,) = blocks("sh")
    (program,) = blocks("python")
    with make_ledger(api.platform) as ledger, serving(Vllm()) as server:
        local = {"backend": "vllm", "url": server.url}
        asked = configuration(ledger.connect(), local=local, training=None)
        assert (
            api.platform.call("PUT", "/api/v1/apprentice/tasks/support_intent", asked).status == 200
        )
        for line in commands.splitlines():
            assert run(*line.removeprefix("autotune ").split()).exit_code == 0, line
        exec(compile(program, "apprentice-models.md", "exec"), {})
    assert "2 hosted None" in capsys.readouterr().out


def test_every_backend_and_reason_is_explained():
    rows = re.findall(r"^\| (`.*?) \|", TEXT, re.M)
    named = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}
    assert named == {*REGISTERED, *(str(one) for one in Reason)}
