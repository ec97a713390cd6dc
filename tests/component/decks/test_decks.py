"""A deck is a system prompt in versions that never change."""

from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_DECK_PLACEHOLDERS, MAX_DECK_PROMPT_CHARACTERS
from autotune_platform.decks import repository, service
from autotune_platform.decks.models import Deck
from tests.support.decks import PROMPT, new_deck
from tests.support.platform import Platform

DECKS = "/api/v1/decks"


def test_a_deck_is_made_read_listed_and_changed(platform: Platform) -> None:
    made = new_deck(platform, description="of news", holdoutShare=0.25)
    expected = {
        "name": "summaries",
        "description": "of news",
        "status": "draft",
        "version": 1,
        "systemPrompt": PROMPT,
        "holdoutShare": 0.25,
        "samples": 0,
        "graders": 0,
        "createdBy": platform.me()["principalId"],
    }
    assert made.items() >= expected.items()
    assert platform.call("GET", f"{DECKS}/{made['id']}").json["deck"] == made
    (listed,) = platform.call("GET", DECKS).json["decks"]
    assert listed == {**made, "systemPrompt": None}
    changes = {"name": "news", "status": "active"}
    changed = platform.call("PATCH", f"{DECKS}/{made['id']}", changes).json["deck"]
    assert changed == {**made, **changes, "updatedAt": changed["updatedAt"]}
    assert changed["updatedAt"] > made["updatedAt"]


def test_a_prompt_has_versions_and_an_earlier_one_can_be_the_current_one_again(
    platform: Platform,
) -> None:
    deck = new_deck(platform)
    path = f"{DECKS}/{deck['id']}"
    body = {"systemPrompt": "Summarise {{document}}.", "note": "shorter", "parent": 1}
    second = platform.call("POST", f"{path}/versions", body)
    assert second.status == 201
    version = second.json["version"]
    assert (version["version"], version["parent"], version["note"]) == (2, 1, "shorter")
    assert version["placeholders"] == ["document"]
    assert platform.call("GET", path).json["deck"]["systemPrompt"] == body["systemPrompt"]

    late = platform.call("POST", f"{path}/versions", {**body, "systemPrompt": "x"})
    assert late.status == 409
    assert "version 1 is not the current one" in late.json["detail"]
    assert platform.call("POST", f"{path}/versions", body).json == second.json, "a repeat"

    back = platform.call("PATCH", path, {"version": 1}).json["deck"]
    assert (back["version"], back["systemPrompt"]) == (1, PROMPT)
    third = platform.call("POST", f"{path}/versions", {"systemPrompt": "Third."}).json["version"]
    assert (third["version"], third["parent"]) == (3, 1)
    assert list(platform.call("PATCH", path, {"version": 4}).fields) == ["version"]

    first = platform.call("GET", f"{path}/versions", query={"limit": 2})
    rest = platform.call("GET", f"{path}/versions", query={"nextToken": first.json["nextToken"]})
    assert [one["version"] for one in first.json["versions"]] == [3, 2]
    assert [one["version"] for one in rest.json["versions"]] == [1]
    read = platform.call("GET", f"{path}/versions/2").json["version"]
    assert read == version
    assert platform.call("GET", f"{path}/versions/9").status == 404


def test_a_prompts_hash_is_of_its_normal_form_and_its_organisation(platform: Platform) -> None:
    def hash_of(prompt: str, api_key: str | None = None) -> str:
        deck = new_deck(platform, systemPrompt=prompt, api_key=api_key)
        path = f"{DECKS}/{deck['id']}/versions/1"
        found: str = platform.call("GET", path, api_key=api_key).json["version"]["promptHash"]
        return found

    usual = hash_of("Caf\u00e9:\n\n  two  spaces")
    for same in ("Cafe\u0301:\r\n\r\n  two  spaces", "\n\nCaf\u00e9:  \n\t\n  two  spaces \n\n"):
        assert hash_of(same) == usual
    for other in ("caf\u00e9:\n\n  two  spaces", "Caf\u00e9:\n\n  two spaces"):
        assert hash_of(other) != usual
    assert hash_of("Caf\u00e9:\n\n  two  spaces", platform.new_organization("second")) != usual


def test_what_is_wrong_with_a_deck_is_named(platform: Platform) -> None:
    many = " ".join(f"{{{{p{place}}}}}" for place in range(MAX_DECK_PLACEHOLDERS + 1))
    for prompt in (" \n", many, "x" * (MAX_DECK_PROMPT_CHARACTERS + 1)):
        answer = platform.call("POST", DECKS, {"name": "n", "systemPrompt": prompt})
        assert (answer.status, list(answer.fields)) == (422, ["systemPrompt"])
    answer = platform.call("POST", DECKS, {"name": "", "systemPrompt": "x", "holdoutShare": 2})
    assert set(answer.fields) == {"name", "holdoutShare"}
    deck = new_deck(platform)
    answer = platform.call("PATCH", f"{DECKS}/{deck['id']}", {"holdoutShare": 0.1})
    assert list(answer.fields) == ["holdoutShare"]


def test_an_organisation_has_only_so_many_decks_and_a_deck_only_so_many_versions(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "MAX_DECKS", 2)
    monkeypatch.setattr(service, "MAX_DECK_VERSIONS", 2)
    new_deck(platform)
    deck = new_deck(platform)
    refused = platform.call("POST", DECKS, {"name": "n", "systemPrompt": "x"})
    assert (refused.status, refused.json["code"]) == (409, "limit_reached")
    path = f"{DECKS}/{deck['id']}/versions"
    assert platform.call("POST", path, {"systemPrompt": "2"}).status == 201
    refused = platform.call("POST", path, {"systemPrompt": "3"})
    assert (refused.status, refused.json["limit"]["maximum"]) == (409, 2)


def test_another_organisations_deck_is_not_there(platform: Platform) -> None:
    deck = new_deck(platform)
    other = platform.new_organization("second")
    for method, rest, body in [
        ("GET", "", None),
        ("PATCH", "", {"name": "x"}),
        ("GET", "/versions", None),
        ("POST", "/versions", {"systemPrompt": "x"}),
        ("GET", "/versions/1", None),
        ("GET", "/graders", None),
    ]:
        answer = platform.call(method, f"{DECKS}/{deck['id']}{rest}", body, api_key=other)
        unknown = platform.call(method, f"{DECKS}/{new_id('dck')}{rest}", body, api_key=other)
        assert answer.status == unknown.status == 404
    assert platform.call("GET", DECKS, api_key=other).json["decks"] == []


def test_of_two_changes_at_once_one_counts(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{DECKS}/{new_deck(platform)['id']}"
    change = repository.DeckRepository.change

    def late(self: repository.DeckRepository, before: Deck, after: Deck, **named: Any) -> bool:
        first = {"name": "first", "revision": before.revision + 1}
        assert change(self, before, before.model_copy(update=first))
        return change(self, before, after, **named)

    monkeypatch.setattr(repository.DeckRepository, "change", late)
    assert platform.call("POST", f"{path}/versions", {"systemPrompt": "second"}).status == 409
    read = platform.call("GET", path).json["deck"]
    assert (read["name"], read["systemPrompt"], read["version"]) == ("first", PROMPT, 1)
    assert len(platform.call("GET", f"{path}/versions").json["versions"]) == 1
