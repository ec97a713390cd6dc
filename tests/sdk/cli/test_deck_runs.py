"""``autotune decks grade``: what it costs, what it came to, and what is not paid twice."""

import pytest

from autotune.cli import exit_codes
from tests.support.deck_runs import DeckRuns, verdict
from tests.support.ledger import ledger as make_ledger

GRADED = {"alpha": verdict(2), "beta": verdict(-3), "gamma": verdict("NOT_APPLICABLE")}


@pytest.fixture
def deck(api):
    """A deck whose runs go on whenever one is looked at."""
    with make_ledger(api.platform) as ledger:
        made = DeckRuns(ledger, holdoutShare=0)
        made.judging(lambda ask: next((GRADED[one] for one in GRADED if one in ask.prompt), None))

        def go_on(request):
            parts = request.path.split("/")
            if request.method == "GET" and len(parts) == 7 and parts[5] == "runs":
                run = made.read(parts[6])
                if run["status"] == "running":
                    made.finish(run)

        api.before_answer = go_on
        yield made
        api.before_answer = lambda _: None


def test_a_deck_is_graded_for_what_the_estimate_says_and_only_once(run, deck):
    grader_id = deck.add_grader()
    ids = deck.add_samples("alpha", "beta", "gamma")
    told = run("decks", "estimate", deck.deck_id)
    assert told.exit_code == exit_codes.OK
    assert told.stdout.splitlines()[1].split()[:4] == [grader_id, "1", "3", "0"]
    assert told.stderr.startswith("3 judgements of 3 samples: 0.")
    assert deck.asked == []

    graded = run("decks", "grade", deck.deck_id)
    assert (graded.exit_code, "status           completed" in graded.stdout) == (0, True)
    assert "scored           2" in graded.stdout
    assert "abstained        1" in graded.stdout
    assert "completed: judged 3 of 3" in graded.stderr
    listed = run("decks", "results", deck.deck_id, grader_id).stdout.splitlines()
    assert listed[0].split()[:4] == ["SAMPLE", "SPLIT", "STATUS", "LEVEL"]
    assert {line.split()[1] for line in listed[1:]} <= {"development", "holdout"}
    found = {line.split()[0]: line.split()[2:4] for line in listed[1:]}
    assert found == {
        ids[0]: ["scored", "+2"],
        ids[1]: ["scored", "-3"],
        ids[2]: ["abstained", "-"],
    }
    (worst,) = run("decks", "results", deck.deck_id, grader_id, "--score", -3, "--json").json_lines
    assert worst["sampleId"] == ids[1]
    asked = len(deck.asked)
    again = run("decks", "grade", deck.deck_id, "--json")
    assert again.json_lines[0]["counts"]["known"] == 3
    assert "3 are judged already" in again.stderr
    assert len(deck.asked) == asked

    runs = run("decks", "runs", deck.deck_id).stdout.splitlines()
    assert [line.split()[1:3] for line in runs[1:]] == [["grade", "completed"]] * 2
    repeated = run("decks", "grade", deck.deck_id, "--repeat", "--sample", ids[0])
    assert "of 1 judged twice, 1 have the same level" in repeated.stderr


def test_a_run_that_is_not_waited_for_is_shown_waited_for_or_canceled(run, deck):
    deck.add_grader()
    deck.add_samples("alpha", "beta")
    started = run("decks", "grade", deck.deck_id, "--no-wait", "--split", "development", "--json")
    (first,) = started.json_lines
    assert (started.exit_code, first["status"]) == (exit_codes.OK, "running")
    ended = run("decks", "runs", deck.deck_id, first["id"], "--wait", "--json")
    assert ended.json_lines[0]["status"] == "completed"
    (second,) = run("decks", "grade", deck.deck_id, "--no-wait", "--json").json_lines
    canceled = run("decks", "cancel", deck.deck_id, second["id"], "--json")
    assert canceled.json_lines[0]["cancelRequestedAt"]
    shown = run("decks", "runs", deck.deck_id, second["id"])
    assert "status           canceled" in shown.stdout


def test_a_cap_stops_a_run_and_what_is_wrong_is_told(run, deck):
    deck.add_grader()
    ids = deck.add_samples("alpha", "beta")
    capped = run("decks", "grade", deck.deck_id, "--cap", "0")
    assert capped.exit_code == exit_codes.INCOMPLETE
    assert "status           stopped (cap)" in capped.stdout
    assert deck.asked == []
    for options, told in [
        (["--cap", "much"], "expected US dollars as digits"),
        (["--sample", ids[0], "--split", "holdout"], "--sample or --split"),
        (["--sample", "smp_" + "0" * 26], "sampleIds"),
    ]:
        ran = run("decks", "grade", deck.deck_id, *options)
        assert (ran.exit_code, told in ran.stderr) == (exit_codes.USAGE, True), ran.stderr
    assert "name it" in run("decks", "runs", deck.deck_id, "--wait").stderr
