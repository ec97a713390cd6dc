"""Figures of decks in lists: what runs cost, and how far graders agreed when that was last read."""

from typing import Any

import pytest

from autotune_platform.access.models import Caller
from autotune_platform.storage.table import Table
from functions.decks import api
from tests.support.deck_labels import LabelledDeck
from tests.support.deck_runs import DeckRuns, verdict
from tests.support.ledger import Ledger
from tests.support.platform import Platform


def listed(platform: Platform) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = platform.call("GET", "/api/v1/decks").json["decks"]
    return found


def test_what_runs_cost_is_added_when_they_end(ledger: Ledger) -> None:
    runs = DeckRuns(ledger)
    runs.judging(lambda _: verdict(1))
    runs.add_grader()
    runs.add_samples("alpha", "beta")
    (deck,) = listed(ledger.platform)
    assert (deck["spentNanoUsd"], deck["agreement"]) == (0, [])
    first = runs.finish(runs.start())
    second = runs.finish(runs.start(repeat=True))
    assert first["costNanoUsd"] > 0
    (deck,) = listed(ledger.platform)
    assert deck["spentNanoUsd"] == first["costNanoUsd"] + second["costNanoUsd"]
    assert ledger.platform.call("GET", runs.path).json["deck"]["agreement"] == []


def test_agreement_is_as_it_was_last_read_of_the_current_version(platform: Platform) -> None:
    deck = LabelledDeck(platform, samples=140)
    levels = {id_: place % 7 - 3 for place, id_ in enumerate(deck.samples)}
    deck.judged({id_: min(3, level + (level % 2)) for id_, level in levels.items()})
    deck.label(levels)
    assert listed(platform)[0]["agreement"] == [], "nobody has read it"
    found = deck.get("agreement")["agreement"]
    (figures,) = listed(platform)[0]["agreement"]
    assert figures["graderId"] == deck.grader_id
    assert (figures["kappa"], figures["low"], figures["high"]) == tuple(
        found["kappa"][name] for name in ("value", "low", "high")
    )
    names = ("version", "n", "labels", "sufficient")
    assert [figures[name] for name in names] == [found[name] for name in names]
    deck.get("agreement")
    assert len(listed(platform)[0]["agreement"]) == 1
    assert (
        platform.call("GET", f"/api/v1/decks/{deck.id}").json["deck"]["agreement"][0]
        == (listed(platform)[0]["agreement"][0])
    )


@pytest.mark.parametrize("decks", [1, 6])
def test_a_list_reads_as_often_however_many_decks_there_are(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, decks: int
) -> None:
    for _ in range(decks):
        deck = LabelledDeck(platform)
        deck.get("agreement")
    calls: list[str] = []
    for name in ("get", "get_many", "query", "items"):
        method = getattr(Table, name)

        def called(self: Table, *args: Any, _method: Any = method, **more: Any) -> Any:
            calls.append(_method.__name__)
            return _method(self, *args, **more)

        monkeypatch.setattr(Table, name, called)
    service = api.parts().decks
    caller = Caller(
        key_id="key",
        organization_id=deck.organization_id,
        principal_id="key",
        role="admin",
        request_id="req",
    )
    assert len(service.list(caller, limit=50, next_token=None)[0]) == decks
    assert sorted(calls) == ["get_many", "get_many", "query"]
