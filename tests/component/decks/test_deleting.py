"""A deleted deck is gone at once, and all that belongs to it soon."""

from datetime import timedelta
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.decks import erasing
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from functions.decks import erase_decks
from tests.support.clock import TurnedClock
from tests.support.decks import chat, new_deck, new_deck_grader, new_samples
from tests.support.kept import kept
from tests.support.lambdas import LambdaContext, handler
from tests.support.platform import Platform

LARGE = "".join(chr(256 + n * 7919 % 40_000) for n in range(300_000))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> TurnedClock:
    """The clock of all erasures."""
    made = TurnedClock()
    original = erasing.DeckErasure.erase

    def erase_by_it(self: erasing.DeckErasure, **named: Any) -> int:
        self.clock = made
        return original(self, **named)

    monkeypatch.setattr(erasing.DeckErasure, "erase", erase_by_it)
    return made


def filled(platform: Platform) -> tuple[str, str]:
    """Return a deck with something of every kind, and its grader."""
    deck_id = new_deck(platform)["id"]
    grader_id = new_deck_grader(platform, deck_id)["id"]
    new_samples(platform, deck_id, chat("q", output="a"), {"input": LARGE, "output": "o"})
    path = f"/api/v1/decks/{deck_id}/samples"
    body = {"samples": [{"input": "i", "output": "o", "externalId": "row-1"}]}
    platform.call("POST", path, body, headers={"Idempotency-Key": "k"})
    said_of(grader_id, platform)
    return deck_id, grader_id


def said_of(grader_id: str, platform: Platform) -> None:
    """Store what a run says of a sample, in the partition of its grader."""
    item = {"pk": grader_id, "sk": "result#000001#smp_x", "explanation": "SECRET"}
    item["organization_id"] = platform.me()["organizationId"]
    Table("decks", clients.dynamodb()).put(item)


def left(*ids: str) -> list[str]:
    """Return where something is kept that names one of these ids, but in the audit log."""
    return sorted(
        f"{one.place}: {one.key}"
        for one in kept()
        if "audit" not in one.place and any(id_ in one.key + str(one.item) for id_ in ids)
    )


def erase(*, seconds: float = 300) -> int:
    answer = handler("functions.decks.erase_decks")({}, LambdaContext(seconds))
    return int(answer["decks"])


def test_a_deleted_deck_is_gone_at_once_and_erased_soon(
    platform: Platform, clock: TurnedClock
) -> None:
    other, other_grader = filled(platform)
    before = left(other, other_grader)
    deck_id, grader_id = filled(platform)
    path = f"/api/v1/decks/{deck_id}"
    assert len(left(deck_id, grader_id)) > 8
    assert platform.call("DELETE", path).status == 204
    for method, below, body in [
        ("GET", "", None),
        ("DELETE", "", None),
        ("POST", "/samples", {"samples": [{"input": "i", "output": "o"}]}),
        ("GET", f"/graders/{grader_id}", None),
    ]:
        assert platform.call(method, path + below, body).status == 404
    assert [one["id"] for one in platform.call("GET", "/api/v1/decks").json["decks"]] == [other]

    assert erase(seconds=10) == 0, "there is no time for any of it"
    assert erase() == 1
    assert left(deck_id, grader_id) == [f"table decks: {deck_id} / deck"]
    said_of(grader_id, platform)  # a run that was under way
    clock.ahead = timedelta(hours=1, seconds=1)
    assert erase() == 1
    assert left(deck_id, grader_id) == []
    assert erase() == 0
    assert left(other, other_grader) == before


def test_an_erasure_that_is_killed_anywhere_is_done_again(
    platform: Platform, clock: TurnedClock
) -> None:
    deck_id, grader_id = filled(platform)
    assert platform.call("DELETE", f"/api/v1/decks/{deck_id}").status == 204
    parts = erase_decks.parts()
    for calls in range(1, 40):
        answered = iter([True] * calls)
        parts.deck_erasure.erase(has_time=lambda answered=answered: next(answered, False))
        if left(deck_id, grader_id) == [f"table decks: {deck_id} / deck"]:
            break
        assert f"table decks: {deck_id} / deck" in left(deck_id), "what names it goes last"
    else:
        pytest.fail("it never ends")
    assert calls > 3


def test_a_deck_that_changes_while_it_is_deleted_stays(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autotune_platform.decks.repository import DeckRepository

    deck_id = new_deck(platform)["id"]
    grader_ids = DeckRepository.grader_ids

    def late(self: DeckRepository, of: str) -> Any:
        deck = self.get_of(platform.me()["organizationId"], of)
        after = deck.model_copy(update={"revision": deck.revision + 1, "name": "kept"})
        assert self.change(deck, after)
        return grader_ids(self, of)

    organization = platform.me()
    monkeypatch.setattr(platform, "me", lambda: organization)
    monkeypatch.setattr(DeckRepository, "grader_ids", late)
    assert platform.call("DELETE", f"/api/v1/decks/{deck_id}").status == 409
    assert platform.call("GET", f"/api/v1/decks/{deck_id}").json["deck"]["name"] == "kept"
    assert platform.call("DELETE", f"/api/v1/decks/{new_id('dck')}").status == 404
