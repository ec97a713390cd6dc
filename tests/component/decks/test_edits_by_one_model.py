"""An edit is measured on what one and the same model judged, before and after."""

from dataclasses import replace

import pytest

from tests.support.deck_edits import EditedDeck
from tests.support.deck_runs import counted
from tests.support.ledger import Ledger

BEFORE, AFTER = "planted-2026", "planted-2027"


@pytest.fixture
def deck(ledger: Ledger) -> EditedDeck:
    """A deck whose version 1 was judged, badly, by the model that its provider served then."""
    made = EditedDeck(ledger, number=240)
    made.label(list(made.samples))
    made.model.planted = replace(made.model.planted, noise=1)
    made.model.served_model = BEFORE
    assert made.finish(made.start())["status"] == "completed"
    return made


def serve_the_next(deck: EditedDeck) -> None:
    """Serve a model that judges the same rubric better."""
    deck.model.planted = replace(deck.model.planted, noise=0)
    deck.model.served_model = AFTER


def test_the_gain_of_a_new_model_is_none_of_the_edits(deck: EditedDeck) -> None:
    serve_the_next(deck)
    edit_id = deck.propose("useless")
    number = len(deck.of("development"))
    trial = deck.replay(edit_id, "development")["trial"]
    assert (trial["otherModel"], trial["new"]["n"], trial["delta"]) == (number, 0, None)

    # The trial has shown which model is served now: what another one judged is judged again.
    found = deck.send(f"/{edit_id}/estimate", {"split": "development"}).json["estimate"]
    assert (found["requests"], found["known"]) == (number, number)
    trial = deck.replay(edit_id, "development")["trial"]
    assert trial["otherModel"] == 0
    assert trial["delta"] == 0, "the new model has no noise: the edit changes nothing"

    measured = deck.replay(edit_id, "holdout")
    effect = measured["effect"]
    assert (effect["otherModel"], effect["delta"]) == (0, 0)
    assert effect["outcome"] == "no_evidence"
    assert deck.send(f"/{edit_id}/accept", {"consent": True}).status == 409
    first = deck.results(deck.grader_id, version=1)
    assert {one["answeredModel"] for one in first} == {BEFORE}, "the first judgements stay"
    again = deck.results(deck.grader_id, version=1, repeated="true")
    assert {one["answeredModel"] for one in again} == {AFTER}
    assert len(again) == len(deck.samples)

    # Another edit pays for version 1 no more.
    other = deck.propose("good")
    deck.replay(other, "development")
    run = deck.read(deck.replay(other, "holdout")["runId"])
    assert [one["version"] for one in run["graders"]] == [3]
    assert counted(run)["known"] == 0


def test_a_model_that_changes_before_the_look_leaves_nothing_to_claim(deck: EditedDeck) -> None:
    edit_id = deck.propose("useless")
    assert deck.replay(edit_id, "development")["trial"]["otherModel"] == 0
    serve_the_next(deck)
    measured = deck.replay(edit_id, "holdout")
    effect = measured["effect"]
    assert effect["otherModel"] == len(deck.of("holdout"))
    assert (effect["outcome"], effect["insufficientBecause"]) == ("insufficient", "other_model")
    assert deck.send(f"/{edit_id}/accept", {"consent": True}).status == 409


def test_what_one_model_judged_of_both_counts_and_the_rest_is_left_out(deck: EditedDeck) -> None:
    edit_id = deck.propose("good")
    deck.replay(edit_id, "development")
    calls = iter(range(10_000))
    judged = deck.model

    def served() -> str:
        return AFTER if next(calls) % 4 == 0 else BEFORE

    answer = deck.ledger.fake.world.answers.answerer
    assert answer is not None

    def judge(ask):  # type: ignore[no-untyped-def]
        judged.served_model = served()
        return answer(ask)

    deck.ledger.fake.world.answers.answerer = judge
    effect = deck.replay(edit_id, "holdout")["effect"]
    held_out = len(deck.of("holdout"))
    assert 0 < effect["otherModel"] < held_out / 2
    assert effect["scored"]["n"] == held_out - effect["otherModel"]
