"""What a person is offered next: the first in an order by chance, by few reads."""

import pytest

from autotune_platform.decks.labels import inbox as inbox_module
from autotune_platform.judging.human.models import draw
from tests.support.deck_labels import LabelledDeck
from tests.support.item_reads import counted_item_reads
from tests.support.platform import Platform


@pytest.fixture
def anna(platform: Platform) -> str:
    return platform.new_key("reviewer", principal_id="anna")


def in_order(deck: LabelledDeck) -> list[str]:
    """All samples in the order of the grader."""
    return sorted(
        deck.samples, key=lambda id_: (deck.samples[id_] != "holdout", draw(deck.grader_id, id_))
    )


def offered(deck: LabelledDeck, key: str) -> str:
    found: str = deck.get("feedback/next", api_key=key)["next"]["sample"]["id"]
    return found


def rate_next(deck: LabelledDeck, key: str) -> str:
    sample_id = offered(deck, key)
    assert deck.rate(sample_id, 1, api_key=key).status == 200
    return sample_id


@pytest.mark.parametrize("samples", [200, 800])
def test_rating_one_after_the_other_reads_as_much_of_a_large_deck_as_of_a_small_one(
    platform: Platform, anna: str, samples: int
) -> None:
    deck = LabelledDeck(platform, samples=samples, holdoutShare=1)
    order = in_order(deck)
    with counted_item_reads() as dealing:
        assert rate_next(deck, anna) == order[0]
    assert dealing["items"] > samples
    for place in range(1, 60):
        with counted_item_reads() as reads:
            assert rate_next(deck, anna) == order[place]
        # Of these, up to fifty are ratings of samples that come first, and 25 trim the hand.
        assert reads["items"] <= 85, (place, reads)
        assert reads["calls"] <= 40, (place, reads)


def test_what_comes_since_takes_its_place_among_the_rest(
    platform: Platform, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_platform.decks.labels.hands.MOST", 20)
    monkeypatch.setattr(inbox_module, "MOST_NEW", 30)
    deck = LabelledDeck(platform, samples=60)
    said = [rate_next(deck, anna) for _ in range(5)]
    deck.add(*(f"later {place}" for place in range(20)))
    while (found := deck.get("feedback/next", api_key=anna))["next"] is not None:
        left = len(deck.samples) - len(said)
        assert found["left"] == left
        of_half = deck.of(deck.samples[found["next"]["sample"]["id"]])
        unrated = len(set(of_half) - set(said))
        assert found["next"]["probability"] == 1 / unrated
        said.append(rate_next(deck, anna))
        if len(said) == 40:
            deck.add(*(f"many {place}" for place in range(40)))
    assert sorted(said) == sorted(deck.samples), "each once"
    assert said[:5] == [one for one in in_order(deck) if one in said[:5]]
    last = [one for one in in_order(deck) if one in said[40:]]
    assert said[40:] == last


def test_what_others_rated_meanwhile_is_not_offered_and_is_counted_later(
    platform: Platform, anna: str
) -> None:
    deck = LabelledDeck(platform, samples=120, holdoutShare=1, name="shared")
    assert platform.call("PATCH", deck.path, {"sharedShare": 0}).status == 200
    order = in_order(deck)
    assert rate_next(deck, anna) == order[0]
    deck.label(dict.fromkeys(order[1:100], 1), rater="bob")
    assert offered(deck, anna) == order[100]
    deck.platform.call("DELETE", f"/api/v1/decks/{deck.id}/samples/{order[100]}")
    assert offered(deck, anna) == order[101]
    assert platform.call("PATCH", deck.path, {"sharedShare": 1, "sharedRaters": 3}).status == 200
    found = deck.get("feedback/next", api_key=anna)
    assert found["next"]["sample"]["id"] == order[101], "what she holds"
    assert found["left"] == 118, "dealt anew: all but her own, and the deleted one"


def test_where_nothing_is_left_little_is_read_and_what_comes_is_offered(
    platform: Platform, anna: str
) -> None:
    deck = LabelledDeck(platform, samples=3, holdoutShare=1)
    for _ in range(3):
        rate_next(deck, anna)
    assert deck.get("feedback/next", api_key=anna) == {"next": None, "left": 0}
    with counted_item_reads() as reads:
        deck.get("feedback/next", api_key=anna)
    assert reads["items"] < 20
    (new,) = deck.add("one more")
    assert offered(deck, anna) == new
