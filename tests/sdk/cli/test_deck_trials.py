"""``autotune decks graders lint`` and ``try``: what is seen of a rubric before it grades."""

import pytest

from autotune.cli import exit_codes
from tests.judges.models import PROPOSING_MODEL
from tests.judges.planted_samples import SYSTEM_PROMPT
from tests.support.deck_files import WRITTEN
from tests.support.deck_proposals import Proposals
from tests.support.deck_runs import DeckRuns, verdict
from tests.support.decks import LEVELS, RUBRIC, new_deck, new_deck_grader
from tests.support.ledger import ledger as make_ledger

VAGUE = {**RUBRIC, "levels": ["", "Bad.", *LEVELS[2:6], LEVELS[2]]}
SEEN = [("levels[0]", "empty"), ("levels[1]", "vague"), ("levels[6]", "repeated")]
LEVELS_OF = {"alpha": 2, "beta": -3, "gamma": 0, "delta": 1}


@pytest.fixture
def deck(api):
    """A deck with four development samples, whose runs go on whenever one is looked at."""
    with make_ledger(api.platform) as ledger:
        made = DeckRuns(ledger, holdoutShare=0)
        made.judging(
            lambda ask: next(verdict(LEVELS_OF[one]) for one in LEVELS_OF if one in ask.prompt)
        )
        made.ids = made.add_samples(*LEVELS_OF)

        def go_on(request):
            parts = request.path.split("/")
            if request.method == "GET" and len(parts) == 7 and parts[5] == "runs":
                run = made.read(parts[6])
                if run["status"] == "running":
                    made.finish(run)

        api.before_answer = go_on
        yield made
        api.before_answer = lambda _: None


def test_lint_names_what_to_look_at_in_a_deck_and_in_a_file(run, api, tmp_path):
    deck_id = new_deck(api.platform)["id"]
    good = new_deck_grader(api.platform, deck_id)
    fine = run("decks", "graders", "lint", deck_id)
    assert (fine.exit_code, fine.stderr) == (exit_codes.OK, "no remarks\n")
    bad = new_deck_grader(api.platform, deck_id, name="vague", rubric=VAGUE)
    assert [(one["field"], one["code"]) for one in bad["lint"]] == SEEN, "the API says the same"
    found = run("decks", "graders", "lint", deck_id, "--json")
    assert found.exit_code == exit_codes.INCOMPLETE
    assert [(one["field"], one["code"]) for one in found.json_lines] == SEEN
    assert {one["grader"] for one in found.json_lines} == {"vague"}
    assert run("decks", "graders", "lint", deck_id, good["id"]).exit_code == exit_codes.OK
    shown = run("decks", "graders", "lint", deck_id, bad["id"]).stdout
    assert "says the same as level -1" in shown

    file = tmp_path / "d.deck.md"
    file.write_text(WRITTEN)
    (neutral,) = run("decks", "graders", "lint", file, "--json").json_lines
    assert (neutral["field"], neutral["level"], neutral["code"]) == ("levels[3]", 0, "vague")
    refused = run("decks", "graders", "lint", file, good["id"])
    assert "as a whole" in refused.stderr


def test_a_proposed_grader_is_tried_on_three_samples_for_a_price_that_is_said_before(run, deck):
    grader_id = deck.add_grader(active=False)
    tried = run("decks", "graders", "try", deck.deck_id, grader_id)
    assert tried.exit_code == exit_codes.OK, tried.stderr
    assert tried.stderr.startswith("3 judgements of 3 samples: 0.")
    found = [line.split()[:4] for line in tried.stdout.splitlines()[1:]]
    newest = list(zip(deck.ids, LEVELS_OF.values(), strict=True))[:0:-1]
    assert found == [
        [id_, "development", "scored", f"{level:+d}" if level else "0"] for id_, level in newest
    ]
    assert len(deck.asked) == 3
    again = run("decks", "graders", "try", deck.deck_id, grader_id, "--json")
    assert "3 are judged already" in again.stderr
    assert [one["sampleId"] for one in again.json_lines] == [id_ for id_, _ in newest]
    assert len(deck.asked) == 3
    (named,) = run(
        "decks", "graders", "try", deck.deck_id, grader_id, "--sample", deck.ids[0], "--json"
    ).json_lines
    assert (named["sampleId"], named["score"]) == (deck.ids[0], 2)
    poor = new_deck(deck.platform)["id"]
    refused = run("decks", "graders", "try", poor, grader_id)
    assert "no samples in its development half" in refused.stderr


def test_graders_are_proposed_for_a_price_that_is_said_before(run, api):
    with make_ledger(api.platform) as ledger:
        made = Proposals(ledger)

        def go_on(request):
            parts = request.path.split("/")
            if request.method == "GET" and len(parts) == 7 and parts[5] == "runs":
                going = made.read(parts[6])
                if going["status"] == "running":
                    made.finish(going)

        api.before_answer = go_on
        made.faults("quote", "quote", "quote")
        asked = ("decks", "graders", "propose", made.deck_id, "--connection", made.connection_id)
        proposed = run(*asked, "--model", PROPOSING_MODEL)
        assert proposed.exit_code == exit_codes.OK, proposed.stderr
        assert proposed.stderr.startswith("0.0")
        assert "not kept: 1. " in proposed.stderr
        assert ": quote_not_in_prompt" in proposed.stderr
        graders = made.graders()
        assert [line.split()[0] for line in proposed.stdout.splitlines()] == [
            one["id"] for one in graders
        ]
        assert f"{len(graders)} proposed for 0.0" in proposed.stderr
        assert {one["judge"]["params"]["maxTokens"] for one in graders} == {1_000}
        poor = run(*asked, "--model", PROPOSING_MODEL, "--cap", "0.000000001", "--json")
        assert poor.exit_code == exit_codes.INCOMPLETE
        assert poor.json_lines[0]["stoppedBecause"] == "cap"
        assert "proposing graders" in poor.stderr
        api.before_answer = lambda _: None


def test_a_deck_is_made_with_graders_that_are_proposed_at_once(run, api, tmp_path):
    file = tmp_path / "support.md"
    file.write_text(SYSTEM_PROMPT)
    with make_ledger(api.platform) as ledger:
        made = Proposals(ledger)

        def go_on(request):
            parts = request.path.split("/")
            if request.method == "GET" and len(parts) == 7 and parts[5] == "runs":
                made.path = f"/api/v1/decks/{parts[4]}"
                going = made.read(parts[6])
                if going["status"] == "running":
                    made.finish(going)

        api.before_answer = go_on
        asked = ("decks", "create", file, "--propose", "--connection", made.connection_id)
        created = run(*asked, "--model", PROPOSING_MODEL, "--cap", "1")
        assert created.exit_code == exit_codes.OK, created.stderr
        deck_id, *graders = created.stdout.splitlines()
        assert made.path == f"/api/v1/decks/{deck_id}"
        assert [line.split()[0] for line in graders] == [one["id"] for one in made.graders()]
        api.before_answer = lambda _: None
    without = run(*asked, "--model", PROPOSING_MODEL)
    assert "--cap" in without.stderr
    alone = run("decks", "create", file, "--cap", "1")
    assert "go with --propose" in alone.stderr
    assert len(run("decks", "list", "--json").json_lines) == 2
