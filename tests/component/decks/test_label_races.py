"""People and processes at the same time: no word is lost, and none counts as blind that is not."""

from collections.abc import Callable, Sequence
from typing import Any

import boto3
import pytest

from autotune_platform.decks.labels.repository import LabelRepository
from tests.support.deck_labels import LabelledDeck
from tests.support.platform import Platform


@pytest.fixture
def deck(platform: Platform) -> LabelledDeck:
    return LabelledDeck(platform, samples=24)


def before_first_write(patch: pytest.MonkeyPatch, do: Callable[[], Any]) -> None:
    """Have something happen after all was read and before the first thing is written."""
    store = LabelRepository.store
    left = [do]

    def late(self: LabelRepository, writes: Sequence[Any]) -> bool:
        while left:
            left.pop()()
        return store(self, writes)

    patch.setattr(LabelRepository, "store", late)


def test_two_ratings_of_one_sample_at_once_both_count(
    deck: LabelledDeck, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample_id = deck.of("development")[0]
    before_first_write(monkeypatch, lambda: deck.label({sample_id: 3}, rater="bob"))
    assert deck.rate(sample_id, 3).status == 200
    (truth,) = deck.get("truth")["truths"]
    assert (truth["score"], truth["source"], truth["raters"]) == (3, "median", 2)


def test_a_file_and_a_person_at_once_both_count(
    deck: LabelledDeck, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = dict.fromkeys(deck.samples, 1)
    first = next(iter(deck.samples))
    before_first_write(monkeypatch, lambda: deck.rate(first, 2))
    deck.label(levels, rater="bob")
    truths = {one["sampleId"]: one for one in deck.get("truth")["truths"]}
    assert truths.keys() == levels.keys()
    assert truths[first]["raters"] == 2
    assert {one["raters"] for id_, one in truths.items() if id_ != first} == {1}


@pytest.mark.parametrize("by_file", [False, True])
def test_a_rating_is_not_blind_where_the_result_is_shown_meanwhile(
    deck: LabelledDeck, platform: Platform, monkeypatch: pytest.MonkeyPatch, *, by_file: bool
) -> None:
    development = deck.of("development")[0]
    deck.label({development: 0}, rater="ada")
    deck.judged({development: 3})
    me = platform.me()["principalId"]
    before_first_write(monkeypatch, lambda: deck.get("disagreements"))
    if by_file:
        deck.label({development: 3}, rater=me)
    else:
        assert deck.rate(development, 3).status == 200
    (mine,) = [one for one in deck.get("feedback")["feedback"] if one["rater"] == me]
    assert mine["sawResult"], "the list showed it before the rating was stored"
    (truth,) = deck.get("truth")["truths"]
    assert truth["score"] == 0, "a blind one is there, so that this one counts for nothing"


def test_one_sample_is_given_to_one_person_when_two_ask_at_once(
    deck: LabelledDeck, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [platform.new_key("reviewer", principal_id=name) for name in ("anna", "ben")]
    take = LabelRepository.take
    given: list[str] = []

    def late(self: LabelRepository, grader_id: str, lease: Any, *, now: int) -> bool:
        if not given:
            given.append("")
            given[0] = deck.get("feedback/next", api_key=keys[1])["next"]["sample"]["id"]
        return take(self, grader_id, lease, now=now)

    monkeypatch.setattr(LabelRepository, "take", late)
    mine = deck.get("feedback/next", api_key=keys[0])["next"]["sample"]["id"]
    assert mine != given[0]


def test_an_answer_that_got_lost_is_asked_for_again_and_is_the_same(deck: LabelledDeck) -> None:
    sample_id = deck.of("holdout")[0]
    first = deck.rate(sample_id, 1).json
    assert first["result"] is None
    deck.judged({sample_id: 2})
    again = deck.rate(sample_id, 1).json
    assert again["feedback"] == first["feedback"]
    assert again["result"]["score"] == 2
    later = deck.rate(sample_id, 2).json["feedback"]
    assert later["sawResult"], "the repeated answer showed it"
    (truth,) = deck.get("truth")["truths"]
    assert truth["score"] == 1


def test_what_was_said_goes_with_its_sample_also_what_is_said_meanwhile(
    deck: LabelledDeck, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = deck.of("development")[:2]
    deck.label({first: 3, second: 3}, explanation="it says so")
    deck.rate(first, -3)
    assert deck.adjudicate(first, 0).status == 200
    gone = f"/api/v1/decks/{deck.id}/samples/{first}"
    assert platform.call("DELETE", gone).status == 204
    assert [one["sampleId"] for one in deck.get("truth")["truths"]] == [second]
    assert {one["sampleId"] for one in deck.get("feedback")["feedback"]} == {second}

    late = f"/api/v1/decks/{deck.id}/samples/{second}"
    before_first_write(monkeypatch, lambda: platform.call("DELETE", late))
    assert deck.rate(second, 1).status == 404
    assert deck.get("truth")["truths"] == deck.get("feedback")["feedback"] == []
    left = kept_keys()
    assert not [sk for pk, sk in left if pk == deck.grader_id], "no text of it is left"


def test_who_lists_results_rates_their_samples_no_more_blind(
    deck: LabelledDeck, platform: Platform
) -> None:
    listed, beside, unseen = list(deck.samples)[:3]
    deck.judged({listed: 2})
    assert len(deck.get("results")["results"]) == 1
    deck.judged({beside: 2, unseen: 2})
    path = f"/api/v1/decks/{deck.id}/samples/{beside}/results"
    assert len(platform.call("GET", path).json["results"]) == 1
    saw = {id_: deck.rate(id_, 1).json["feedback"]["sawResult"] for id_ in (listed, beside, unseen)}
    assert saw == {listed: True, beside: True, unseen: False}


def kept_keys() -> list[tuple[str, str]]:
    items = boto3.client("dynamodb").scan(TableName="decks")["Items"]
    return [(item["pk"]["S"], item["sk"]["S"]) for item in items]
