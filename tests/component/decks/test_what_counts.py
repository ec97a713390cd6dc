"""Which labels count: those that were drawn, and given by people who had seen no result."""

import random

import pytest

from tests.support.deck_edits import EditedDeck
from tests.support.deck_labels import LabelledDeck
from tests.support.ledger import Ledger
from tests.support.platform import Platform
from tests.support.published_decks import PublishedDeck

SAMPLES = 70


def seen(deck: LabelledDeck) -> dict[str, int]:
    """What the judge says of each sample, which the caller reads."""
    found, query = {}, {"limit": 50}
    while True:
        page = deck.get("results", **query)
        found |= {one["sampleId"]: one["score"] for one in page["results"]}
        if page.get("nextToken") is None:
            return found
        query["nextToken"] = page["nextToken"]


def following(results: dict[str, int], chance: random.Random) -> dict[str, int]:
    """Labels of somebody who follows what they saw nearly always."""
    return {
        id_: level if chance.random() > 0.2 else max(-3, level - 1)
        for id_, level in results.items()
    }


def test_who_follows_what_they_saw_makes_no_judge_look_good(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=SAMPLES, holdoutShare=1)
    chance = random.Random(1)
    dice = {id_: chance.randint(-3, 3) for id_ in deck.samples}
    deck.judged(dice)
    labels = following(seen(deck), chance)
    # Those that are dealt, those of a file, and those of a file in the name of somebody else.
    ids = list(labels)
    for _ in range(10):
        id_ = deck.get("feedback/next")["next"]["sample"]["id"]
        assert deck.rate(id_, labels[id_]).json["feedback"]["sawResult"]
        ids.remove(id_)
    lines = [
        {"sampleId": id_, "score": labels[id_], "selection": "random"}
        | ({"rater": "ada"} if place % 2 else {})
        for place, id_ in enumerate(ids)
    ]
    done = deck.upload(lines).json
    assert (done["accepted"], done["notBlind"]) == (60, 60)
    assert all(one["sawResult"] for one in deck.get("feedback", limit=100)["feedback"])

    found = deck.get("agreement")["agreement"]
    assert (found["n"], found["labels"], found["notBlind"]) == (0, 0, SAMPLES)
    assert not found["sufficient"]
    assert deck.get("means")["means"]["labels"] == 0
    half = deck.get("feedback/progress")["progress"]["holdout"]
    assert (half["rated"], half["notBlind"]) == (SAMPLES, SAMPLES)

    # What somebody says who saw nothing counts, and what was said before does not weigh in.
    anna = platform.new_key("training_operator", principal_id="anna")
    blind = {id_: chance.randint(-3, 3) for id_ in deck.samples}
    again = [{"sampleId": id_, "score": n, "selection": "random"} for id_, n in blind.items()]
    done = deck.upload(again, api_key=anna).json
    assert (done["accepted"], done["notBlind"]) == (SAMPLES, 0)
    found = deck.get("agreement")["agreement"]
    assert (found["n"], found["notBlind"], found["sufficient"]) == (SAMPLES, 0, True)
    assert found["kappa"]["value"] < 0.4


@pytest.mark.parametrize("rater", [None, "ada"])
def test_a_judge_by_dice_is_not_calibrated_by_who_saw_its_results(
    ledger: Ledger, rater: str | None
) -> None:
    deck = PublishedDeck(ledger)
    grader_id = deck.add_grader()
    deck.add_levels(SAMPLES)
    deck.off = 3
    deck.finish(deck.start())
    results = {one["sampleId"]: one["score"] for one in deck.results(grader_id)}
    said = LabelledDeck.__new__(LabelledDeck)
    said.platform, said.path = deck.platform, f"{deck.path}/graders/{grader_id}"
    labels = following(results, random.Random(2))
    lines = [
        {"sampleId": id_, "score": n, "selection": "random"} | ({"rater": rater} if rater else {})
        for id_, n in labels.items()
    ]
    assert said.upload(lines).json["notBlind"] == SAMPLES
    published = deck.publish(grader_id)
    assert (published["uncalibratedBecause"], published["calibration"]) == ("not_judged", None)


def test_another_system_prompt_is_not_measured_by_samples_of_the_one_before(
    ledger: Ledger,
) -> None:
    deck = PublishedDeck(ledger)
    grader_id = deck.add_grader()
    deck.add_levels(SAMPLES)
    deck.label(grader_id)
    deck.finish(deck.start())
    first = deck.publish(grader_id)
    assert first["uncalibratedBecause"] is None
    versions = f"{deck.path}/versions"
    prompt = deck.registered(first)["rubric"]["answer"]["systemPrompt"]
    assert deck.platform.call("POST", versions, {"systemPrompt": "Write poems."}).status == 201
    other = deck.publish(grader_id)
    assert other["published"]["deckVersion"] == 2
    assert (other["uncalibratedBecause"], other["calibration"]) == ("other_prompt", None)
    assert not deck.registered(other)["calibrated"]
    # The prompt that it was measured under is the same one, whatever its number.
    assert deck.platform.call("POST", versions, {"systemPrompt": prompt}).status == 201
    back = deck.publish(grader_id)
    assert back["published"]["deckVersion"] == 3
    assert back["calibration"]["kappa"] == first["calibration"]["kappa"]


def test_an_edit_is_not_measured_by_who_saw_what_is_judged(ledger: Ledger) -> None:
    deck = EditedDeck(ledger, number=240)
    held = deck.of("holdout")
    deck.label(deck.of("development"))
    deck.finish(deck.start())
    assert {one["sampleId"] for one in deck.results(deck.grader_id)} >= set(held)
    deck.label(held)
    edit_id = deck.propose("good")
    deck.replay(edit_id, "development")
    refused = deck.send(f"/{edit_id}/replay", {"split": "holdout"})
    assert refused.status == 409
    assert refused.json["detail"].startswith(f"{len(held)} drawn samples of the held-out half")


def test_what_people_see_of_kappa_moves_no_label_that_counts(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=60, holdoutShare=1)
    chance = random.Random(4)
    truth = {id_: chance.randint(-3, 3) for id_ in deck.samples}
    judged = {id_: chance.randint(-3, 3) for id_ in deck.samples}
    deck.judged(judged)
    deck.label(truth)
    before = deck.get("agreement")["agreement"]
    assert before["corrected"] == 0
    # Whoever tries one correction after the other would find those by which kappa rises.
    deck.label({id_: level for id_, level in judged.items() if level != truth[id_]})
    after = deck.get("agreement")["agreement"]
    assert after["kappa"] == before["kappa"]
    apart = [id_ for id_ in truth if judged[id_] != truth[id_]]
    assert after["corrected"] == len(apart)
    listed = deck.get("truth", limit=100)["truths"]
    assert {one["sampleId"]: one["score"] for one in listed} == truth

    # A slip is mended by somebody who decides, once.
    decided = deck.adjudicate(apart[0], judged[apart[0]]).json["truth"]
    assert (decided["score"], decided["source"]) == (judged[apart[0]], "adjudicated")
    assert deck.adjudicate(apart[0], truth[apart[0]]).status == 409
    assert deck.get("agreement")["agreement"]["corrected"] == len(apart) - 1


def test_who_chooses_what_to_rate_leaves_no_drawn_sample_open(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=80, holdoutShare=1)
    chance = random.Random(5)
    truth = {id_: chance.randint(-3, 3) for id_ in deck.samples}
    deck.judged(
        {id_: n if chance.random() < 0.5 else chance.randint(-3, 3) for id_, n in truth.items()}
    )
    deck.label(truth)
    before = deck.get("agreement")["agreement"]
    ids = list(truth)
    deck.label(dict.fromkeys(ids[:40]), rater="bob", selection="chosen")
    after = deck.get("agreement")["agreement"]
    assert (after["kappa"], after["toAdjudicate"]) == (before["kappa"], 0)
    (word,) = (
        one
        for truth in deck.get("truth", limit=100)["truths"]
        if truth["sampleId"] == ids[0]
        for one in truth["ratings"]
        if one["rater"] == "bob"
    )
    assert not word["counts"]

    # Where people are apart on drawn ones, nothing is claimed before somebody decides.
    deck.label(dict.fromkeys(ids[40:44]), rater="eve")
    few = deck.get("agreement")["agreement"]
    assert (few["toAdjudicate"], few["sufficient"]) == (4, True)
    deck.label(dict.fromkeys(ids[44:46]), rater="eve")
    many = deck.get("agreement")["agreement"]
    assert (many["toAdjudicate"], many["insufficientBecause"]) == (6, "many_open")
    assert deck.get("means")["means"]["insufficientBecause"] == "many_open"
    for id_ in ids[40:46]:
        assert deck.adjudicate(id_, truth[id_]).status == 200
    assert deck.get("agreement")["agreement"]["sufficient"]


def test_what_was_uploaded_as_chosen_counts_once_somebody_draws_it(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=70, holdoutShare=1)
    ids = list(deck.samples)
    chosen = {id_: place % 4 for place, id_ in enumerate(ids)}
    lines = [{"sampleId": id_, "rater": "ada", "score": n} for id_, n in chosen.items()]
    done = deck.upload(lines).json
    assert (done["accepted"], done["chosen"]) == (70, 70)
    assert deck.upload(lines).json["repeated"] == 70
    # Ada chose them: that she says otherwise later is no draw, and is not passed over.
    drawn = [{**one, "selection": "random"} for one in lines]
    again = deck.upload(drawn).json
    assert (again["accepted"], again["repeated"], len(again["rejected"])) == (0, 0, 70)
    assert again["rejected"][0]["field"] == "selection"
    assert again["rejected"][0]["expected"].startswith("chosen, as of what this rater said first")
    deck.judged(chosen)
    assert deck.get("agreement")["agreement"]["labels"] == 0

    # Who is dealt them, or has a file of drawn ones, has them count, by their word alone.
    anna = platform.new_key("reviewer", principal_id="anna")
    given = deck.get("feedback/next", api_key=anna)
    assert (given["left"], given["next"]["selection"]) == (70, "random")
    assert given["next"]["probability"] == pytest.approx(1 / 70)
    first = given["next"]["sample"]["id"]
    assert deck.rate(first, -3, api_key=anna).json["feedback"]["selection"] == "random"
    given = deck.get("feedback/next", api_key=anna)
    assert (given["left"], given["next"]["probability"]) == (69, pytest.approx(1 / 69))
    others = [id_ for id_ in ids if id_ != first]
    deck.label({id_: chosen[id_] for id_ in others}, rater="ben")
    found = deck.get("agreement")["agreement"]
    assert (found["labels"], found["n"], found["sufficient"]) == (70, 70, True)
    assert found["ceiling"]["raters"] == 0, "what was chosen is in no ceiling"
    truths = {one["sampleId"]: one for one in deck.get("truth", limit=100)["truths"]}
    assert (truths[first]["score"], truths[first]["selection"]) == (-3, "random")
    counted = {one["rater"]: one["counts"] for one in truths[first]["ratings"]}
    assert counted == {"ada": False, "anna": True}
    assert deck.get("feedback/next", api_key=anna)["left"] < 70, "what was drawn is dealt no more"


def test_what_was_decided_about_chosen_ratings_is_no_truth_of_a_drawn_sample(
    platform: Platform,
) -> None:
    deck = LabelledDeck(platform, samples=1, holdoutShare=1)
    (id_,) = deck.samples
    deck.label({id_: -3}, "ada", selection="chosen")
    deck.label({id_: 3}, "bob", selection="chosen")
    assert deck.adjudicate(id_, 3).json["truth"]["source"] == "adjudicated"
    deck.label({id_: -1}, "eve")
    (truth,) = deck.get("truth")["truths"]
    assert (truth["score"], truth["source"], truth["adjudicatedBy"]) == (-1, "one_rating", None)


def test_people_among_themselves_are_measured_where_the_judge_is(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=60)
    levels = {id_: place % 7 - 3 for place, id_ in enumerate(deck.samples)}
    deck.judged(levels)
    deck.label(levels)
    held, others = deck.of("holdout"), deck.of("development")
    deck.label({id_: levels[id_] for id_ in held[:9]}, rater="bob")
    deck.label(
        {id_: -levels[id_] for id_ in [*others, *held[9:12]]}, rater="eve", selection="chosen"
    )
    ceiling = deck.get("agreement")["agreement"]["ceiling"]
    assert (ceiling["samples"], ceiling["raters"]) == (9, 2)
    assert ceiling["alpha"]["value"] == 1


def test_samples_that_are_left_are_no_draw(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=80, holdoutShare=1)
    chance = random.Random(6)
    truth = {id_: chance.randint(-3, 3) for id_ in deck.samples}
    deck.judged(truth)
    left: list[str] = []
    for place in range(60):
        given = deck.get("feedback/next", skip=left)["next"]["sample"]["id"]
        if place < 4:
            left.append(given)
            continue
        assert deck.rate(given, truth[given]).status == 200
    found = deck.get("agreement")["agreement"]
    assert (found["labels"], found["skipped"], found["insufficientBecause"]) == (
        56,
        4,
        "many_open",
    )
    assert deck.get("means")["means"]["insufficientBecause"] == "many_open"
    # What somebody else rates is left by nobody.
    anna = platform.new_key("reviewer", principal_id="anna")
    for _ in range(4):
        given = deck.get("feedback/next", api_key=anna)["next"]["sample"]["id"]
        assert given in left, "those that come first are those that were left"
        assert deck.rate(given, truth[given], api_key=anna).status == 200
    found = deck.get("agreement")["agreement"]
    assert (found["labels"], found["skipped"], found["sufficient"]) == (60, 0, True)


def test_samples_of_files_are_drawn_alike(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=6, holdoutShare=1)
    ids = list(deck.samples)
    lines = [
        {"sampleId": id_, "score": 1, "selection": "random", "probability": p}
        for id_, p in zip(ids, (0.6, 0.6, 0.1), strict=False)
    ]
    done = deck.upload(lines).json
    assert (done["accepted"], [one["field"] for one in done["rejected"]]) == (2, ["probability"])
    assert done["rejected"][0]["expected"].startswith("0.6, as of what was stored first")
    later = {"sampleId": ids[3], "score": 1, "selection": "random"}
    again = deck.upload([lines[2], {**later, "probability": 0.6}, {**later, "sampleId": ids[4]}])
    assert (again.json["accepted"], len(again.json["rejected"])) == (2, 1)
    chosen = {"sampleId": ids[2], "score": 1, "selection": "chosen"}
    assert deck.upload([chosen]).json["accepted"] == 1
