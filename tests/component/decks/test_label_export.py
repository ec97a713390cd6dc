"""Labels leave a deck as they came: with ratings, truth, and results where they may be shown."""

import json
from typing import Any

from tests.support.deck_labels import LabelledDeck
from tests.support.decks import new_deck_grader
from tests.support.platform import Platform


def exported(deck: LabelledDeck, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    token: dict[str, str] = {}
    while True:
        path = f"/api/v1/decks/{deck.id}/labels"
        answer = deck.platform.call("GET", path, query={**query, **token})
        assert answer.status == 200, answer.text
        found += answer.json["labels"]
        if answer.json["nextToken"] is None:
            return found
        token = {"nextToken": answer.json["nextToken"]}


def test_what_is_exported_gives_the_same_truth_to_another_grader(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=12)
    ids = list(deck.samples)
    deck.label({id_: place % 4 for place, id_ in enumerate(ids)}, explanation="so", probability=0.5)
    deck.label({id_: place % 4 for place, id_ in enumerate(ids[:6])}, "bob")
    deck.label({ids[0]: 3, ids[6]: None}, "cyd")
    deck.label({ids[7]: 3}, "dan", selection="chosen")
    # What was said when the result was known is marked wherever it goes.
    deck.upload([{"sampleId": ids[8], "rater": "dan", "score": -3, "sawResult": True}])

    labels = exported(deck, limit=5)
    assert labels == exported(deck), "pages leave nothing out, and nothing comes twice"
    assert [one["sampleId"] for one in labels] == sorted(ids)
    by_sample = {one["sampleId"]: one for one in labels}
    assert by_sample[ids[6]]["truth"]["state"] == "to_adjudicate"
    assert by_sample[ids[6]]["truth"]["score"] is None
    assert [one["rater"] for one in by_sample[ids[6]]["ratings"]] == ["ada", "cyd"]
    (seen,) = [one for one in by_sample[ids[8]]["ratings"] if one["rater"] == "dan"]
    assert seen["sawResult"]
    assert all((one["result"], one["resultWithheld"]) == (None, False) for one in labels)

    other = new_deck_grader(platform, deck.id, name="another")["id"]
    lines = [json.dumps(rating) for one in labels for rating in one["ratings"]]
    # One line for each sample and rater, as they stand.
    path = f"/api/v1/decks/{deck.id}/graders/{other}/feedback/bulk"
    answer = platform.call("POST", path, raw="\n".join(lines).encode())
    assert (answer.json["accepted"], answer.json["rejected"]) == (len(lines), []), answer.text
    again = exported(deck, graderId=other)
    assert [one["ratings"] for one in again] == [one["ratings"] for one in labels]
    kept = ("state", "score", "selection", "raters", "source", "doesNotApply")
    for one, before in zip(again, labels, strict=True):
        assert [one["truth"][name] for name in kept] == [before["truth"][name] for name in kept]
    assert len(exported(deck)) == 2 * len(ids)
    unknown = platform.call(
        "GET", f"/api/v1/decks/{deck.id}/labels", query={"graderId": "grd_" + "0" * 26}
    )
    assert unknown.status == 404


def test_results_are_withheld_where_lists_withhold_them(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=40)
    ids = list(deck.samples)
    deck.label(dict.fromkeys(ids, 1))
    deck.judged(dict.fromkeys(ids, 2))
    deck.get("agreement")
    rubric = deck.platform.call("GET", deck.path).json["grader"]["rubric"]
    body = {"rubric": {**rubric, "criteria": "Is it kind?"}}
    assert platform.call("POST", f"{deck.path}/versions", body).status == 201
    deck.judged(dict.fromkeys(ids, 0), version=2)
    labels = exported(deck, include="results")
    assert {one["split"] for one in labels if one["resultWithheld"]} == {"holdout"}
    assert {one["split"] for one in labels if one["result"]} == {"development"}
    assert {one["result"]["score"] for one in labels if one["result"]} == {0}
    deck.get("agreement")
    labels = exported(deck, include="results")
    assert {(one["result"]["score"], one["resultWithheld"]) for one in labels} == {(0, False)}
    # Who exported has seen it.
    answer = deck.upload([{"sampleId": ids[0], "rater": "bob", "score": 0}])
    assert answer.json["notBlind"] == 1


def test_a_page_of_long_texts_is_short_and_loses_nothing(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=30)
    long = "é" * 10_000
    for rater in ("ada", "bob", "cyd"):
        deck.label(dict.fromkeys(deck.samples, 1), rater, explanation=long)
    path = f"/api/v1/decks/{deck.id}/labels"
    first = platform.call("GET", path, query={"limit": 100})
    assert 1 <= len(first.json["labels"]) < 30
    assert len(first.text) < 3_000_000
    assert [one["sampleId"] for one in exported(deck, limit=100)] == sorted(deck.samples)
