"""Drawn labels that were given after a look at the result: they hold claims back when many."""

import random

import pytest

from tests.support.deck_labels import LabelledDeck
from tests.support.ledger import Ledger
from tests.support.platform import Platform
from tests.support.prompt_edits import PromptEdits
from tests.support.published_decks import PublishedDeck


@pytest.mark.parametrize(("seen", "because"), [(10, "many_open"), (4, None)])
def test_samples_that_were_looked_at_first_are_not_left_out_silently(
    platform: Platform, seen: int, because: str | None
) -> None:
    deck = LabelledDeck(platform, samples=90, holdoutShare=1)
    chance = random.Random(3)
    deck.judged({id_: chance.randint(-3, 3) for id_ in deck.samples})
    listed = [one["sampleId"] for one in deck.get("results", limit=seen)["results"]]
    # What they saw first is what the judge gets wrong, say: in no figure would be best for it.
    others = [id_ for id_ in deck.samples if id_ not in listed][:80]
    deck.label({id_: chance.randint(-3, 3) for id_ in [*listed, *others]})

    means = deck.get("means")["means"]
    assert (means["labels"], means["withoutTruth"]) == (80, seen)
    agreement = deck.get("agreement")["agreement"]
    assert (agreement["labels"], agreement["notBlind"]) == (80, seen)
    for found in (means, agreement):
        assert (found["insufficientBecause"], found["sufficient"]) == (because, because is None)

    # Somebody's blind word counts, and the sample is none of these any more.
    anna = platform.new_key("training_operator", principal_id="anna")
    lines = [{"sampleId": id_, "score": 1, "selection": "random"} for id_ in listed]
    assert deck.upload(lines, api_key=anna).json["accepted"] == seen
    means = deck.get("means")["means"]
    assert (means["labels"], means["withoutTruth"], means["sufficient"]) == (80 + seen, 0, True)


def test_a_judge_is_not_calibrated_without_what_was_looked_at_first(ledger: Ledger) -> None:
    deck = PublishedDeck(ledger)
    grader_id = deck.add_grader()
    deck.add_levels(70)
    deck.finish(deck.start())
    path = f"{deck.path}/graders/{grader_id}"
    seen = deck.platform.call("GET", f"{path}/results", query={"limit": 10}).json["results"]
    deck.label(grader_id)
    published = deck.publish(grader_id)
    assert published["uncalibratedBecause"] == "insufficient_labels"
    agreement = deck.platform.call("GET", f"{path}/agreement").json["agreement"]
    assert (agreement["labels"], agreement["notBlind"]) == (60, len(seen))
    assert agreement["insufficientBecause"] == "many_open"


def test_an_edit_of_the_prompt_is_not_measured_without_them(ledger: Ledger) -> None:
    deck = PromptEdits(ledger, samples=60)
    edit = deck.propose()
    deck.generate(edit["id"])
    deck.judge(edit["id"])
    path = f"{deck.path}/graders/{deck.grader_id}"
    seen = deck.platform.call("GET", f"{path}/results", query={"limit": 100}).json["results"]
    made = deck.generated()
    listed = {one["sampleId"] for one in seen} & {one["id"] for one in made}
    assert listed
    deck.label(made)
    measured = deck.act(edit["id"], "measure").json["edit"]
    (effect,) = measured["effects"]
    arms = effect["old"], effect["new"]
    assert sum(one["withoutTruth"] for one in arms) == len(listed)
    assert sum(one["labels"] for one in arms) == 120 - len(listed)
    assert (effect["outcome"], measured["look"]) == ("insufficient", None)
    assert "many_open" in {one["insufficientBecause"] for one in arms}
