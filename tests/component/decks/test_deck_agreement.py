"""How far judges agree with people: figures that are claimed, and when nothing is."""

import random

import numpy as np
import pytest

from autotune_platform.decks.labels import disagreements
from autotune_platform.decks.labels.repository import LabelRepository
from autotune_platform.statistics.intervals import kappa_with_interval
from tests.support.deck_labels import LabelledDeck
from tests.support.platform import Platform


def noisy(truth: dict[str, int], seed: int) -> dict[str, int | None]:
    """What a judge says that is one level too high at times, and abstains now and then."""
    chance = random.Random(seed)
    return {
        id_: None if chance.random() < 0.1 else min(3, level + chance.choice([0, 0, 1]))
        for id_, level in truth.items()
    }


def test_labels_of_a_file_give_kappa_with_its_interval_on_the_held_out_half(
    platform: Platform,
) -> None:
    deck = LabelledDeck(platform)
    ids = deck.add(
        *(f"question {place}" for place in range(240)),
        groups=[f"article {place // 2}" for place in range(240)],
    )
    chance = random.Random(1)
    truth = {id_: chance.randint(-3, 3) for id_ in ids}
    judged = noisy(truth, 2)
    deck.label(truth)
    deck.judged(judged)
    found = deck.get("agreement")["agreement"]

    holdout = deck.of("holdout")
    pairs = [(truth[id_], judged[id_]) for id_ in holdout if judged[id_] is not None]
    people, judge = (list(column) for column in zip(*pairs, strict=True))
    apart = np.subtract.outer(people, judge) ** 2  # every person's level with every judge's
    expected = 1 - np.diag(apart).mean() / apart.mean()
    assert found["kappa"]["value"] == pytest.approx(expected, abs=1e-12)
    groups = [
        place // 2 for place, id_ in enumerate(ids) if id_ in holdout and judged[id_] is not None
    ]
    interval = kappa_with_interval(people, judge, groups).interval
    # The order of sums is that of ids, which are drawn.
    assert found["kappa"]["low"] == pytest.approx(interval.low, rel=1e-12)
    assert found["kappa"]["high"] == pytest.approx(interval.high, rel=1e-12)
    assert found["kappa"]["low"] < expected < found["kappa"]["high"]
    assert (found["n"], found["groups"]) == (len(pairs), len(set(groups)))
    assert found["sufficient"]
    assert found["insufficientBecause"] is None
    assert found["labels"] == len(holdout)
    assert found["coverage"] == len(pairs) / len(holdout)
    errors = np.subtract(judge, people)
    assert found["meanBias"]["value"] == pytest.approx(errors.mean())
    assert found["meanBias"]["low"] < errors.mean() < found["meanBias"]["high"]
    for one in found["biasByLevel"]:
        at = [error for error, level in zip(errors, judge, strict=True) if level == one["level"]]
        assert one["n"] == len(at)
        assert one["value"] == (pytest.approx(np.mean(at)) if at else None)
    assert found["percentAgreement"] == np.mean(errors == 0)
    abstained = len(holdout) - len(pairs)
    assert found["applicability"] == {
        "bothApply": len(pairs),
        "onlyJudgeAbstains": abstained,
        "onlyTruthDoesNotApply": 0,
        "neitherApplies": 0,
    }
    development = [id_ for id_ in deck.of("development") if judged[id_] is not None]
    assert np.sum(found["confusion"]) == len(development) == found["development"]["kappa"]["n"]
    for id_ in development:
        found["confusion"][truth[id_] + 3][judged[id_] + 3] -= 1
    assert not np.any(found["confusion"]), "rows are the truth, columns the judge"
    assert found["ceiling"]["alpha"] == {"value": None, "undefinedBecause": "no_pairs", "n": 0}


def test_undefined_and_too_few_are_said_and_never_a_number(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=60, holdoutShare=1)
    found = deck.get("agreement")["agreement"]
    assert found["kappa"]["value"] is None
    assert found["kappa"]["undefinedBecause"] == "no_pairs"
    assert (found["coverage"], found["percentAgreement"]) == (None, None)
    assert (found["sufficient"], found["insufficientBecause"]) == (False, "few_labels")
    ids = list(deck.samples)
    deck.label(dict.fromkeys(ids, 1))
    deck.judged(dict.fromkeys(ids, 1))
    found = deck.get("agreement")["agreement"]
    assert found["kappa"]["undefinedBecause"] == "one_level_only"
    assert found["kappa"]["noIntervalBecause"] == "undefined"
    assert found["percentAgreement"] == 1, "and yet nothing is claimed"
    assert found["insufficientBecause"] == "few_outside_commonest_level"

    other = LabelledDeck(platform, samples=60, holdoutShare=1)
    levels = {id_: place % 7 - 3 for place, id_ in enumerate(other.samples)}
    other.label(levels, selection="chosen")
    other.judged(levels)
    found = other.get("agreement")["agreement"]
    assert (found["n"], found["labels"]) == (0, 0), "what was chosen stands for nothing else"
    other.label(levels, rater="bob", explanation="again")
    found = other.get("agreement")["agreement"]
    assert (found["n"], found["labels"]) == (60, 60), "what another was given by draw counts"


def test_people_apart_and_people_among_themselves_are_shown(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=70, holdoutShare=1)
    ids = list(deck.samples)
    levels = {id_: place % 6 - 3 for place, id_ in enumerate(ids)}
    deck.label(levels, rater="ada")
    bob = {id_: levels[id_] + (place % 2) for place, id_ in enumerate(ids[:30])}
    bob[ids[0]] = 3  # six levels apart
    deck.label(bob, rater="bob")
    deck.label({ids[1]: None}, rater="eve")
    deck.judged({**levels, ids[2]: None}, failed=[ids[3]])
    found = deck.get("agreement")["agreement"]
    assert found["toAdjudicate"] == 1
    assert found["labels"] == 69
    assert (found["failed"], found["ungraded"]) == (1, 0)
    assert found["ceiling"]["raters"] == 2, "one gave no level"
    assert found["ceiling"]["samples"] == 30
    assert 0 < found["ceiling"]["alpha"]["value"] < 1
    by_rater = {one["rater"]: one for one in found["ceiling"]["byRater"]}
    assert by_rater["ada"]["n"] == 30
    assert by_rater.keys() == {"ada", "bob"}
    assert found["ceiling"]["leaveOneOutKappa"] == pytest.approx(by_rater["ada"]["value"], abs=0.05)
    assert found["otherCriteria"] == 0
    assert found["kappa"]["noIntervalBecause"] is None

    old = deck.get("agreement", version=1)["agreement"]
    assert old == found
    answer = platform.call("GET", f"{deck.path}/agreement", query={"version": 2})
    assert answer.status == 422
    assert "version" in answer.fields


def test_disagreements_are_of_the_development_half_alone(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    deck = LabelledDeck(platform, samples=40)
    levels = {id_: place % 7 - 3 for place, id_ in enumerate(deck.samples)}
    deck.label(levels, explanation="why")
    deck.judged({id_: -level for id_, level in levels.items()})
    development, holdout = deck.of("development"), deck.of("holdout")
    assert development
    assert holdout
    found = listed(deck)
    assert found == sorted(found, key=lambda one: -abs(one["distance"]))
    assert {one["sampleId"] for one in found} == {id_ for id_ in development if levels[id_]}
    first = found[0]
    assert (first["truth"], first["score"]) == (
        levels[first["sampleId"]],
        -levels[first["sampleId"]],
    )
    assert first["result"]["explanation"]
    assert first["outputExcerpt"].startswith("answer to")
    assert first["explanations"] == {"ada": "why"}
    cell = listed(deck, truth=3, score=-3)
    assert {one["sampleId"] for one in cell} == {id_ for id_ in development if levels[id_] == 3}
    agreed = listed(deck, truth=0, score=0)
    assert {one["sampleId"] for one in agreed} == {id_ for id_ in development if not levels[id_]}

    rating = deck.rate(development[0], 1).json["feedback"]
    assert rating["sawResult"], "the list showed it"
    assert not deck.rate(holdout[0], 1).json["feedback"]["sawResult"]

    # The guard is the split: without it the test above would fail.
    monkeypatch.setattr(disagreements, "development", list)
    without_the_filter(monkeypatch)
    assert {one["sampleId"] for one in listed(deck)} & set(holdout)


def test_where_they_differ_on_whether_it_applies_is_listed_apart(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=60)
    ids = list(deck.samples)
    kinds = {id_: place % 4 for place, id_ in enumerate(ids)}
    deck.label({id_: None if kinds[id_] in {1, 3} else 2 for id_ in ids}, explanation="why")
    judged = {id_: None if kinds[id_] in {0, 3} else 1 for id_ in ids}
    failed = ids[:1]
    deck.judged(judged, failed=failed)
    development = [id_ for id_ in deck.of("development") if id_ not in failed]
    of_kind = [sorted(id_ for id_ in development if kinds[id_] == kind) for kind in range(4)]
    found = listed(deck, about="applicability")
    assert [one["sampleId"] for one in found] == [*of_kind[0], *of_kind[1]], "nothing is held out"
    left, given = found[0], found[-1]
    assert (left["truth"], left["score"], left["distance"]) == (2, None, None)
    assert (given["truth"], given["score"], given["distance"]) == (None, 1, None)
    assert (left["result"]["status"], left["explanations"]) == ("abstained", {"ada": "why"})
    assert deck.rate(left["sampleId"], 1).json["feedback"]["sawResult"], "the list showed it"
    page = deck.get("disagreements", limit=1)
    assert page["applicability"] == {
        "bothApply": len(of_kind[2]),
        "onlyJudgeAbstains": len(of_kind[0]),
        "onlyTruthDoesNotApply": len(of_kind[1]),
        "neitherApplies": len(of_kind[3]),
    }
    assert page["total"] == len(of_kind[2]), "levels are asked for apart"
    only = listed(deck, about="applicability", truth=2)
    assert {one["sampleId"] for one in only} == set(of_kind[0])
    query = {"about": "applicability", "truth": 1, "score": 1}
    both = platform.call("GET", f"{deck.path}/disagreements", query=query)
    assert (both.status, set(both.fields)) == (422, {"score"})


def listed(deck: LabelledDeck, **query: object) -> list[dict[str, object]]:
    """Every page of the disagreements, five at a time."""
    found, token = [], None
    while True:
        page = deck.get(
            "disagreements", limit=5, **query, **({"nextToken": token} if token else {})
        )
        found += page["disagreements"]
        token = page.get("nextToken")
        if token is None:
            assert len(found) == page["total"]
            return found


def test_patterns_name_what_the_judge_gets_wrong_on_the_development_half_alone(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    deck = LabelledDeck(platform)
    ids = deck.add(*(f"{'long ' * (place % 2 * 20)}question {place}" for place in range(160)))
    chance = random.Random(3)
    truth = {id_: chance.randint(-3, 2) for id_ in ids}
    deck.label(truth)
    # What is long is a level too high.
    deck.judged({id_: truth[id_] + place % 2 for place, id_ in enumerate(ids)})
    found = deck.get("patterns")["patterns"]
    development = deck.of("development")
    assert found["n"] == len(development)
    errors = {(one["factor"], one["value"]): one for one in found["errors"]}
    long = errors["length", "long"]
    assert (long["meanError"], long["noIntervalBecause"]) == (1, "no_variation")
    assert errors["length", "short"]["meanError"] == 0
    everything = errors["all", "all"]
    assert everything["significant"]
    assert everything["low"] < everything["meanError"] < everything["high"]
    assert errors["model", "secret-model"]["n"] == len(development)
    assert errors["script", "latin"]["n"] == errors["rater", "ada"]["n"] == len(development)
    assert sum(one["count"] for one in found["cells"]) == sum(
        place % 2 for place, id_ in enumerate(ids) if id_ in development
    )
    significant = [one for one in found["cells"] if one["significant"]]
    assert all(one["score"] - one["truth"] == 1 for one in significant)

    monkeypatch.setattr(disagreements, "development", list)
    without_the_filter(monkeypatch)
    assert deck.get("patterns")["patterns"]["n"] == len(ids), "the guard is the split"


def without_the_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have truths of both halves read where those of one are asked for."""
    read = LabelRepository.truths
    monkeypatch.setattr(
        LabelRepository, "truths", lambda self, grader_id, split=None: read(self, grader_id)
    )
