"""``autotune apprentice run`` and ``runs``."""

import pytest

from tests.support.apprentice_runs import ANSWER
from tests.support.apprentice_runs import runs as make_runs
from tests.support.ledger import ledger as make_ledger


@pytest.fixture
def runs(api):
    with make_ledger(api.platform) as ledger, make_runs(ledger) as made:
        made.put()
        yield made


def test_the_command_prints_the_answer(run, runs, tmp_path):
    ran = run("apprentice", "run", "intents", "--input", '{"text": "Let me in!"}')
    assert (ran.exit_code, ran.stdout.strip()) == (0, ANSWER.replace(":", ": "))
    file = tmp_path / "input.json"
    file.write_text('{"text": "Let me in!"}')
    (shown,) = run("apprentice", "run", "intents", "--input", f"@{file}", "--json").json_lines
    assert shown["output"] == {"intent": "open_door"}
    ran = run("apprentice", "run", "intents", "--input", f"@{file}", "--no-wait")
    assert ran.stdout.startswith("apr_")
    (shown,) = run("apprentice", "runs", shown["id"], "--json").json_lines
    assert shown["state"] == "answered"
    assert run("apprentice", "run", "intents", "--input", "[1]").exit_code == 2
