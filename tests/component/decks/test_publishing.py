"""Graders of a deck score completions, where their judge was measured, and only by that model."""

from typing import Any

import pytest

from autotune_platform.decks.labels.choosing import drawn_to_check
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.decks import PROMPT, RUBRIC
from tests.support.ledger import MODEL, Ledger
from tests.support.published_decks import PublishedDeck

SAMPLES = 63
OTHER = "small-2027"


@pytest.fixture
def deck(ledger: Ledger) -> PublishedDeck:
    return PublishedDeck(ledger)


def test_a_calibrated_deck_scores_until_its_judge_is_another_model(deck: PublishedDeck) -> None:
    grader_id = deck.add_grader()
    deck.add_levels(SAMPLES)
    deck.label(grader_id)
    deck.finish(deck.start())
    published = deck.publish(grader_id)
    assert published["published"]["version"] == published["published"]["deckVersion"] == 1
    calibration = published["calibration"]
    assert published["uncalibratedBecause"] is None
    assert (calibration["model"], calibration["n"]) == (MODEL, SAMPLES)
    assert 0.4 < calibration["low"] < calibration["kappa"] < 1
    path = f"{deck.path}/graders/{grader_id}/agreement"
    agreement = deck.platform.call("GET", path).json  # publishing spent the look
    assert agreement["agreement"]["kappa"]["value"] == calibration["kappa"]
    assert agreement["agreement"]["kappa"]["low"] == calibration["low"]
    assert all(one["hits"] == one["n"] == 9 for one in calibration["byLevel"])
    registered = deck.registered(published)
    assert registered["calibrated"]
    assert registered["version"] == published["published"]["graderVersion"]
    assert registered["version"] == calibration["graderVersion"]

    task_id = deck.platform.new_task(registered["id"], uncalibrated="refuse")
    found = deck.score(task_id, *(place % 7 for place in range(20)))
    assert [one["state"] for one in found] == ["scored"] * 20
    values = sorted(one["score"]["value"] for one in found)
    assert values == pytest.approx(sorted(place % 7 / 6 for place in range(20)))
    assert {one["score"]["confidence"] for one in found} == {10 / 11}

    deck.model = OTHER
    (late,) = deck.score(task_id, 5)
    assert (late["state"], late["reasonCode"]) == ("abstained", "uncalibrated_model")
    assert deck.publish(grader_id) == published, "nothing new was measured"

    # Whoever picks the samples of a check picks what is easy; those that are drawn count alone.
    # As many as are drawn are no check, and nor are more.
    picked = [one for one in deck.sample_ids if one not in to_be_checked(deck, grader_id)]
    for some in (picked[:20], picked[20:25]):
        deck.finish(deck.start(repeat=True, sampleIds=some))
        assert deck.publish(grader_id)["calibration"]["model"] == MODEL
    run = deck.finish(deck.start(repeat=True))
    assert run["counts"]["scored"] == 20
    checked = deck.publish(grader_id)
    assert (checked["calibration"]["model"], checked["calibration"]["n"]) == (OTHER, 20)
    assert checked["calibration"]["low"] >= 0.4
    assert checked["published"]["graderVersion"] == registered["version"]
    (back,) = deck.score(task_id, 5)
    assert (back["state"], back["score"]["value"]) == ("scored", pytest.approx(5 / 6))
    # Of the twenty alone, people agreed with those of the level that was given.
    by_level = {one["level"]: one for one in checked["calibration"]["byLevel"]}
    of_level = by_level.get(2, {"hits": 0, "n": 0})  # chance may have drawn none of it
    assert back["score"]["confidence"] == (of_level["hits"] + 1) / (of_level["n"] + 2)


def to_be_checked(deck: PublishedDeck, grader_id: str) -> set[str]:
    """The samples by which the platform checks another model."""
    truths = LabelRepository(Table("decks", clients.dynamodb())).truths(grader_id)
    return {*drawn_to_check(grader_id, 1, truths)}


def test_a_check_that_fails_brings_no_model_back(deck: PublishedDeck) -> None:
    grader_id = deck.add_grader()
    deck.add_levels(SAMPLES)
    deck.label(grader_id)
    deck.finish(deck.start())
    first = deck.publish(grader_id)
    deck.model, deck.off = OTHER, 4
    deck.finish(deck.start(repeat=True, split="holdout"))
    assert deck.publish(grader_id) == first
    # Judging the same samples once more, until it looks better, changes nothing.
    deck.off = 0
    deck.finish(deck.start(repeat=True, split="holdout"))
    assert deck.publish(grader_id)["calibration"]["model"] == MODEL


def test_what_was_not_measured_enough_is_published_without_a_calibration(
    deck: PublishedDeck,
) -> None:
    grader_id = deck.add_grader()
    bare = deck.publish(grader_id)
    assert (bare["uncalibratedBecause"], bare["calibration"]) == ("not_judged", None)
    deck.add_levels(49)
    deck.label(grader_id)
    deck.finish(deck.start())
    few = deck.publish(grader_id)
    assert (few["uncalibratedBecause"], few["calibration"]) == ("insufficient_labels", None)
    assert not deck.registered(few)["calibrated"]
    task_id = deck.platform.new_task(few["published"]["graderId"])
    (found,) = deck.score(task_id, 3)
    assert (found["state"], found["reasonCode"]) == ("abstained", "uncalibrated")

    worse = deck.new_version(grader_id, criteria="Is it short?")
    deck.add_levels(14)
    deck.label(grader_id)
    deck.off = 3
    deck.finish(deck.start())
    low = deck.publish(grader_id)
    assert low["published"]["version"] == worse
    assert low["uncalibratedBecause"] == "below_threshold"
    assert low["calibration"]["low"] < 0.4
    assert not deck.registered(low)["calibrated"]


def test_what_is_published_is_a_snapshot_that_needs_no_deck(deck: PublishedDeck) -> None:
    platform = deck.platform
    proposed = deck.add_grader(active=False)
    early = platform.call("POST", f"{deck.path}/graders/{proposed}/publish")
    assert (early.status, early.json["code"]) == (409, "conflict")
    grader_id = deck.add_grader()
    first = deck.publish(grader_id)
    registered = deck.registered(first)
    assert (registered["kind"], registered["name"]) == ("rubric", first["name"])
    answer = registered["rubric"]["answer"]
    assert answer["type"] == "levels"
    assert answer["systemPrompt"] == PROMPT
    assert (answer["criteria"], answer["levels"]) == (RUBRIC["criteria"], RUBRIC["levels"])
    assert registered["rubric"]["model"] == first["judge"]["model"]
    assert deck.publish(grader_id) == first
    assert deck.registered(first) == registered, "the same is published once"

    # Nothing of it follows the deck before it is published again, as a version of the same grader.
    deck.new_version(grader_id, criteria="Is it short?")
    platform.call("POST", f"{deck.path}/versions", {"systemPrompt": "Other."})
    assert deck.registered(first) == registered
    second = deck.publish(grader_id)
    told = second["published"]
    assert told["graderId"] == registered["id"]
    assert (told["version"], told["deckVersion"]) == (2, 2)
    later = deck.registered(second)
    assert later["version"] == told["graderVersion"] != registered["version"]
    assert later["rubric"]["answer"]["criteria"] == "Is it short?"

    # A version comes back as what it was, and a grader that was deleted comes back.
    platform.call("PATCH", f"{deck.path}/graders/{grader_id}", {"version": 1})
    platform.call("PATCH", deck.path, {"version": 1})
    assert deck.publish(grader_id)["published"]["graderVersion"] == registered["version"]
    assert platform.call("DELETE", f"/api/v1/graders/{registered['id']}").status == 204
    again = deck.registered(deck.publish(grader_id))
    assert (again["id"], again["version"]) == (registered["id"], registered["version"])

    platform.call("DELETE", deck.path)
    assert deck.registered(first) == again


def test_a_deck_is_a_panel_of_all_that_it_publishes(deck: PublishedDeck) -> None:
    platform = deck.platform

    def task(status: int = 201, **body: Any) -> Any:
        answer = platform.call("POST", f"{deck.path}/task", body)
        assert answer.status == status, answer.text
        return answer

    first = deck.add_grader()
    assert task(409).json["code"] == "conflict"
    names = [deck.publish(first)["published"]["graderId"]]
    names.append(deck.publish(deck.add_grader(name="other"))["published"]["graderId"])
    retired = deck.add_grader(name="retired")
    deck.publish(retired)
    platform.call("PATCH", f"{deck.path}/graders/{retired}", {"status": "retired"})
    deck.add_grader(name="not published")
    made = task(quorum=2, aggregation="min", uncalibrated="allow").json["task"]
    assert [one["graderId"] for one in made["graders"]] == names
    assert (made["name"], made["quorum"], made["aggregation"]) == ("summaries", 2, "min")
    (found,) = deck.score(made["id"], 4)
    assert (found["state"], found["score"]["value"]) == ("scored", pytest.approx(4 / 6))
    assert task().json["task"]["quorum"] == 1
    assert set(task(422, quorum=3).fields) == {"quorum"}
    assert task(409, uncalibrated="refuse").json["code"] == "grader_not_calibrated"
    for place in range(9):
        deck.publish(deck.add_grader(name=f"further {place}"))
    assert "at most 10" in task(409).json["detail"]


def test_twenty_samples_of_the_current_prompt_check_a_model_that_follows(ledger: Ledger) -> None:
    deck = PublishedDeck(ledger)
    grader_id = deck.add_grader()
    for prompt in ("Answer in verse.", None):
        start = len(deck.sample_ids)
        deck.add_levels(63)
        deck.label(grader_id, since=start)
        deck.finish(deck.start())
        if prompt:
            new = deck.platform.call("POST", f"{deck.path}/versions", {"systemPrompt": prompt})
            assert new.status == 201, new.text
    assert deck.publish(grader_id)["calibration"]["n"] == 63
    deck.model = "small-2027"
    run = deck.finish(deck.start(repeat=True))
    assert run["counts"]["scored"] == 20
    checked = deck.publish(grader_id)
    assert checked["uncalibratedBecause"] is None
    assert (checked["calibration"]["model"], checked["calibration"]["n"]) == ("small-2027", 20)
    # All labelled samples are those of the current prompt, or of another one that is named.
    assert deck.estimate(labelled=True, repeat=True)["samples"] == 63
    assert deck.estimate(labelled=True, repeat=True, deckVersion=1)["samples"] == 63
