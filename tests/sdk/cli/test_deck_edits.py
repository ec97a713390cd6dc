"""``autotune decks propose``, ``replay``, ``accept`` and ``rollback``."""

import json

from autotune import AutotuneClient
from autotune.cli import exit_codes
from tests.component.decks.test_edit_proposals import ProposingDeck
from tests.judges.models import PROPOSING_MODEL
from tests.support.deck_edits import EditedDeck
from tests.support.deck_labels import LabelledDeck
from tests.support.decks import RUBRIC
from tests.support.ledger import ledger as make_ledger


def test_an_edit_is_proposed_listed_shown_and_rejected(api, run, tmp_path):
    deck = LabelledDeck(api.platform, samples=4)
    ids = (deck.id, deck.grader_id)
    made = run("decks", "propose", *ids, "--find", "faithful", "--replace", "true", "--note", "n")
    assert made.exit_code == 0, made.stderr
    assert "status" in made.stdout
    (listed,) = run("decks", "edits", *ids, "--json").json_lines
    (change,) = listed["patch"]
    assert (change["field"], change["find"], change["replace"]) == ("criteria", "faithful", "true")
    file = tmp_path / "patch.json"
    level = {"field": "level", "level": -3, "find": "throughout", "replace": "everywhere"}
    file.write_text(json.dumps([level]))
    (second,) = run("decks", "propose", *ids, file, "--json").json_lines
    table = run("decks", "edits", *ids).stdout.splitlines()
    assert [line.split()[0] for line in table[1:]] == [second["id"], listed["id"]]

    early = run("decks", "replay", *ids, second["id"], "--held-out")
    assert early.exit_code != 0
    assert "proposed; only active ones judge" in early.stderr
    unmeasured = run("decks", "accept", *ids, second["id"])
    assert "is not measured on labels that are held out" in unmeasured.stderr
    gone = run("decks", "reject", *ids, second["id"], "--reason", "no", "--json").json_lines
    assert (gone[0]["status"], gone[0]["reason"]) == ("rejected", "no")
    back = run("decks", "rollback", *ids, second["id"])
    assert "is rejected, and not accepted" in back.stderr
    shown = run("decks", "edit", *ids, second["id"])
    assert "rejected" in shown.stdout


def test_what_makes_no_patch_is_said_before_anything_is_sent(api, run, tmp_path):
    deck = LabelledDeck(api.platform)
    ids = (deck.id, deck.grader_id)
    before = len(api.received)
    both = run("decks", "propose", *ids)
    assert (both.exit_code, "--find and --replace" in both.stderr) == (exit_codes.USAGE, True)
    field = run("decks", "propose", *ids, "--field", "x", "--find", "a", "--replace", "b")
    assert "criteria, level, notApplicableWhen" in field.stderr
    file = tmp_path / "patch.json"
    file.write_text(json.dumps(RUBRIC))
    assert "a JSON list of changes" in run("decks", "propose", *ids, file).stderr
    accepting = run("decks", "replay", *ids, "edt_x", "--accept")
    assert "--accept needs --held-out" in accepting.stderr
    assert len(api.received) == before


def test_a_replay_says_its_price_and_its_look_before_it_starts(api, run):
    with make_ledger(api.platform) as ledger:
        deck = EditedDeck(ledger, number=8, holdoutShare=0)
        deck.label(list(deck.samples))
        edit_id = deck.propose("useless")
        ids = (deck.deck_id, deck.grader_id, edit_id)
        started = run("decks", "replay", *ids, "--no-wait")
        assert started.exit_code == 0, started.stderr
        assert started.stderr.startswith("16 judgements of 8 samples: 0.0")
        assert "replaying" in started.stdout
        with AutotuneClient(base_url=api.base_url, api_key=api.api_key) as client:
            found = client.decks.edits.estimate(*ids, split="development")
        assert (found.samples, found.look) == (8, None)


def test_a_model_at_work_is_canceled_and_its_price_said_before(api, run):
    with make_ledger(api.platform) as ledger:
        deck = ProposingDeck(ledger)
        ids = (deck.deck_id, deck.grader_id)
        none = run("decks", "cancel-fix", *ids)
        assert "has no proposal" in none.stderr
        model = ("--connection", deck.proposer["connectionId"], "--model", PROPOSING_MODEL)
        dear = run("decks", "fix", *ids, *model, "--cap-usd", "0", "--samples", "3")
        assert dear.stderr.startswith("3 disagreements, at most 11 requests: 0.")
        assert "capNanoUsd" in dear.stderr
        assert deck.begin(samples=3).status == 202
        canceled = run("decks", "cancel-fix", *ids)
        assert canceled.exit_code == 0, canceled.stderr
        assert "cancel" in canceled.stderr
        assert deck.end()["status"] == "canceled"
        (shown,) = run("decks", "cancel-fix", *ids, "--json").json_lines
        assert (shown["status"], shown["costNanoUsd"]) == ("canceled", 0)
