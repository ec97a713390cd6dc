"""``autotune decks prompt-edits``."""

from tests.support.ledger import ledger as make_ledger
from tests.support.prompt_edits import NEW, PromptEdits


def test_a_prompt_is_proposed_generated_measured_and_accepted(api, run, tmp_path):
    with make_ledger(api.platform) as ledger:
        deck = PromptEdits(ledger, samples=2)
        file = tmp_path / "prompt.md"
        file.write_text(NEW)
        model = ("--connection", deck.connection_id, "--model", "small", "--max-tokens", "50")
        of = ("decks", "prompt-edits")
        made = run(*of, "propose", deck.deck_id, file, *model, "--temperature", "0", "--json")
        (edit,) = made.json_lines
        assert edit["generator"]["params"]["temperature"] == 0
        ids = (deck.deck_id, edit["id"])
        started = run(*of, "generate", *ids, "--cap", "0.5", "--no-wait", "--yes")
        assert "2 inputs, 4 responses to pay, 0 there, 0 inputs left out" in started.stderr
        assert "generating" in started.stdout
        deck.finish(deck.read(deck.edit(edit["id"])["runId"]))
        deck.judge(edit["id"])
        measured = run(*of, "measure", *ids)
        assert "insufficient" in measured.stdout, measured.stderr
        assert "before: few labels, after: few labels" in measured.stdout
        assert "none, none" in measured.stdout
        refused = run(*of, "accept", *ids)
        assert (refused.exit_code != 0, "consent" in refused.stderr) == (True, True)
        accepted = run(*of, "accept", *ids, "--consent", "--json").json_lines
        assert (accepted[0]["status"], accepted[0]["consented"]) == ("accepted", True)
        rolled = run(*of, "rollback", *ids, "--reason", "no")
        assert "rolled back" in rolled.stdout
        assert "is rolled back" in run(*of, "reject", *ids).stderr
        (listed,) = run(*of, "list", deck.deck_id, "--json").json_lines
        assert (listed["id"], listed["inputs"]) == (edit["id"], 2)
        assert edit["id"] in run(*of, "show", *ids).stdout
