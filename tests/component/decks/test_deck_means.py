"""Means of what people would say, from a judge that is too high and few labels."""

import random

import pytest

from autotune_platform.decks.labels.cohorts import LEAST_LABELS
from autotune_platform.statistics.means import Labelled, Unlabelled, corrected_mean
from tests.support.deck_labels import LabelledDeck
from tests.support.platform import Platform

SAMPLES, LABELS = 400, 80


def test_a_judge_that_is_too_high_is_corrected_by_labels_of_the_held_out_half(
    platform: Platform,
) -> None:
    deck = LabelledDeck(platform, samples=SAMPLES)
    chance = random.Random(5)
    truth = {id_: chance.choice([-3, -2, -1, -1, 0, 0, 1, 2]) for id_ in deck.samples}
    judged = {id_: level + chance.choice([0, 1, 1]) for id_, level in truth.items()}
    deck.judged(judged)
    holdout = deck.of("holdout")
    labelled, others = holdout[:LABELS], holdout[LABELS:]
    assert others
    deck.label({id_: truth[id_] for id_ in labelled})
    # Neither what was chosen nor what is not held out says anything of the rest.
    deck.label(dict.fromkeys(deck.of("development"), 3))
    deck.label(dict.fromkeys(others[:10], -3), selection="chosen")

    found = deck.get("means")["means"]
    assert (found["labels"], found["unlabelled"]) == (LABELS, len(others))
    assert (found["sufficient"], found["insufficientBecause"]) == (True, None)
    assert found["naive"] == pytest.approx(sum(judged[id_] for id_ in holdout) / len(holdout))
    people = sum(truth[id_] for id_ in labelled) / LABELS
    assert found["labelsOnly"]["value"] == pytest.approx(people)
    expected = corrected_mean(
        Labelled([truth[id_] for id_ in labelled], [judged[id_] for id_ in labelled]),
        Unlabelled([judged[id_] for id_ in others]),
    )
    assert found["power"] == pytest.approx(expected.power)
    assert found["corrected"]["value"] == pytest.approx(expected.corrected.mean)
    assert found["corrected"]["low"] == pytest.approx(expected.corrected.interval.low)
    real = sum(truth[id_] for id_ in holdout) / len(holdout)
    assert found["corrected"]["low"] < real < found["corrected"]["high"]
    assert found["naive"] > found["corrected"]["high"], "it is as far off as the judge"
    widths = [one["high"] - one["low"] for one in (found["corrected"], found["labelsOnly"])]
    assert widths[0] < widths[1]
    assert found["use"] == "corrected"

    assert deck.get("means", model="secret-model")["means"] == {**found, "model": "secret-model"}
    none = deck.get("means", model="other")["means"]
    assert (none["labels"], none["unlabelled"], none["naive"]) == (0, 0, None)
    assert none["corrected"]["noIntervalBecause"] == "undefined"
    assert none["insufficientBecause"] == "few_labels"
    assert deck.get("means", version=1)["means"] == found
    answer = platform.call("GET", f"{deck.path}/means", query={"version": 2})
    assert (answer.status, set(answer.fields)) == (422, {"version"})
    unnamed = platform.call("GET", f"{deck.path}/means", query={"model": ""})
    assert (unnamed.status, set(unnamed.fields)) == (422, {"model"})


def test_a_judge_that_says_the_same_of_all_is_of_no_help(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=60, holdoutShare=1)
    deck.judged(dict.fromkeys(deck.samples, 2))
    ids = list(deck.samples)[:40]
    deck.label({id_: place % 3 for place, id_ in enumerate(ids)})
    found = deck.get("means")["means"]
    assert (found["naive"], found["power"], found["use"]) == (2, 0, "labels_only")
    assert found["corrected"] == found["labelsOnly"]
    assert (found["sufficient"], found["insufficientBecause"]) == (False, "few_labels")


def test_a_judge_that_abstains_where_people_say_little_moves_no_mean(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=300, holdoutShare=1)
    chance = random.Random(8)
    truth = {id_: chance.randint(-3, 3) for id_ in deck.samples}
    ids = list(truth)
    judged = {
        id_: None if level < 0 and chance.random() < 0.8 else level for id_, level in truth.items()
    }
    deck.judged(judged, failed=[id_ for id_ in ids[::10] if judged[id_] is None])
    labelled = ids[:100]
    deck.label({id_: truth[id_] for id_ in labelled})
    found = deck.get("means")["means"]
    people = sum(truth[id_] for id_ in labelled) / 100
    assert (found["labels"], found["unlabelled"]) == (100, 200)
    assert found["labelsOnly"]["value"] == pytest.approx(people)
    scored = sum(judged[id_] is not None for id_ in labelled)
    assert found["coverage"] == scored / 100
    real = sum(truth.values()) / len(truth)
    assert found["corrected"]["low"] < real < found["corrected"]["high"]
    assert found["naive"] > found["corrected"]["high"], "it leaves out what is low"


def test_labels_say_nothing_of_samples_that_came_when_they_had_been_drawn(
    platform: Platform,
) -> None:
    deck = LabelledDeck(platform, samples=100, holdoutShare=1)
    first = list(deck.samples)
    chance = random.Random(9)
    deck.judged({id_: chance.choice([-1, 0, 1]) for id_ in first})
    deck.label({id_: chance.choice([-2, -1, 0]) for id_ in first[:60]})
    before = deck.get("means")["means"]
    assert (before["labels"], before["unlabelled"], before["cameLater"]) == (60, 40, 0)
    assert deck.get("agreement")["agreement"]["cameLater"] == 0

    later = deck.add(*(f"later {place}" for place in range(300)))
    deck.judged(dict.fromkeys(later, 3))
    assert deck.get("means")["means"] == {**before, "cameLater": 300}
    assert deck.get("agreement")["agreement"]["cameLater"] == 300
    deck.label(dict.fromkeys(later[: LEAST_LABELS - 1], 2))
    few = deck.get("means")["means"]
    assert (few["labels"], few["cameLater"]) == (60, 300)
    assert few["corrected"] == before["corrected"]

    # Ten stand for three hundred.
    deck.label({later[LEAST_LABELS - 1]: 2})
    found = deck.get("means")["means"]
    assert (found["labels"], found["unlabelled"], found["cameLater"]) == (70, 330, 0)
    people = before["labelsOnly"]["value"]
    assert found["labelsOnly"]["value"] == pytest.approx((100 * people + 300 * 2) / 400)
    assert found["insufficientBecause"] == "uneven_weights"
    for which in ("corrected", "labelsOnly"):
        assert (found[which]["low"], found[which]["high"]) == (None, None)
        assert found[which]["noIntervalBecause"] == "uneven_weights"
    assert deck.get("agreement")["agreement"]["cameLater"] == 0


def test_which_samples_are_judged_moves_no_mean(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=200, holdoutShare=1)
    chance = random.Random(11)
    truth = {id_: chance.randint(-3, 3) for id_ in deck.samples}
    judged = {id_: max(-3, min(3, n + chance.randint(-1, 1))) for id_, n in truth.items()}
    labelled, others = [*truth][:55], [*truth][55:]
    deck.label({id_: truth[id_] for id_ in labelled})
    alone = deck.get("means")["means"]
    assert (alone["unjudged"], alone["power"], alone["naive"]) == (200, 0, None)

    # Whoever names what a run judges names what the model is good at.
    good = [id_ for id_ in others if truth[id_] > 0]
    deck.judged({id_: judged[id_] for id_ in [*labelled, *good]})
    found = deck.get("means")["means"]
    assert found["unjudged"] == len(others) - len(good)
    assert (found["power"], found["naive"], found["unlabelled"]) == (0, None, 0)
    assert found["use"] == "labels_only"
    assert found["corrected"] == found["labelsOnly"] == alone["labelsOnly"]
    assert found["coverage"] == 1

    deck.judged({id_: judged[id_] for id_ in others if id_ not in good})
    found = deck.get("means")["means"]
    assert (found["unjudged"], found["unlabelled"], found["use"]) == (0, 145, "corrected")
    real = sum(truth.values()) / len(truth)
    assert found["corrected"]["low"] < real < found["corrected"]["high"]
    # What comes later is in no figure, and need not be judged.
    deck.add("later")
    assert deck.get("means")["means"] == {**found, "cameLater": 1}
