"""Samples without a deck find theirs; a prompt that no deck has becomes one, or is dismissed."""

import json
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from tests.support.decks import chat, new_deck
from tests.support.killing import Killed, Killer
from tests.support.lambdas import Answer
from tests.support.platform import Platform
from tests.support.tables import items_of_tables

UNMATCHED = "/api/v1/unmatched-prompts"


def upload(platform: Platform, *lines: Any, key: str | None = None, **query: Any) -> Answer:
    body = b"\n".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines
    )
    headers = {} if key is None else {"Idempotency-Key": key}
    return platform.call("POST", "/api/v1/samples", raw=body, headers=headers, query=query)


def listed(platform: Platform) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = platform.call("GET", UNMATCHED).json["prompts"]
    return found


def samples(platform: Platform, deck_id: str) -> list[dict[str, Any]]:
    path = f"/api/v1/decks/{deck_id}/samples"
    found: list[dict[str, Any]] = platform.call("GET", path).json["samples"]
    return found


def test_each_line_finds_its_deck_or_is_counted_or_named(platform: Platform) -> None:
    one = new_deck(platform, systemPrompt="One.")["id"]
    two = new_deck(platform, systemPrompt="Two for {{whom}}.")["id"]
    answer = upload(
        platform,
        chat("q", output="a", system="Two for me.", groupKey="g", provider="p"),
        chat("q", output="b", system="Nobody's."),
        b"",
        {"input": "q", "output": "a"},
        chat("q", output="c", system="One."),
        b"no JSON",
        chat("q", output="d", system="One.", deckVersion=1),
        chat(output="e", system="One."),
    )
    assert answer.status == 201, answer.text
    first, last = answer.json["samples"]
    assert (first["line"], first["deckId"]) == (1, two)
    assert (last["line"], last["deckId"]) == (5, one)
    assert answer.json["accepted"] == 2
    (counted,) = answer.json["unmatched"]
    assert counted == {"line": 2, "unmatchedId": listed(platform)[0]["id"]}
    assert {line["line"]: line["field"] for line in answer.json["rejected"]} == {
        4: "request.messages",
        6: "line",
        7: "deckVersion",
        8: "request.messages",
    }
    (sample,) = samples(platform, two)
    assert (sample["id"], sample["collection"]) == (first["sampleId"], "manual")
    assert sample["provider"] == "p"
    upload(platform, chat("q", output="x", system="One."), collection="telemetry")
    assert samples(platform, one)[0]["collection"] == "telemetry"


def test_requests_are_bounded_and_known_again(platform: Platform) -> None:
    deck = new_deck(platform, systemPrompt="One.")["id"]
    line = chat("q", output="a", system="One.")
    none = chat("q", output="a", system="None.")
    assert upload(platform, b"\n \n").status == 422
    many = upload(platform, *([line] * 101))
    assert (many.status, many.json["limit"]["maximum"]) == (413, 100)
    assert upload(platform, line, collection="other").status == 422
    assert upload(platform, line, colection="manual").status == 422
    assert samples(platform, deck) == []
    first = upload(platform, line, none, key="k")
    again = upload(platform, line, none, key="k")
    assert first.json == again.json
    assert upload(platform, none, line, key="k").json["code"] == "idempotency_key_reused"
    assert len(samples(platform, deck)) == 1
    assert listed(platform)[0]["calls"] == 1


def test_a_prompt_becomes_a_deck_that_begins_with_its_calls(platform: Platform) -> None:
    upload(
        platform,
        *(chat(f"q{n}", output="a", system="You help {{x}}.\nWell.", model="m") for n in range(3)),
    )
    (prompt,) = listed(platform)
    assert (prompt["calls"], prompt["excerpt"]) == (3, "You help {{x}}.\nWell.")
    assert prompt["tiedDeckIds"] == []
    assert prompt["systemPrompt"] is None
    path = f"{UNMATCHED}/{prompt['id']}"
    read = platform.call("GET", path).json["prompt"]
    assert read["systemPrompt"] == "You help {{x}}.\nWell."
    asked = [one["request"]["messages"][1]["content"] for one in read["examples"]]
    assert sorted(asked) == ["q0", "q1", "q2"]

    body = {"name": "made", "description": "d", "holdoutShare": 0}
    made = platform.call("POST", f"{path}/deck", body)
    assert made.status == 201, made.text
    deck = made.json["deck"]
    assert (deck["name"], deck["samples"], deck["holdoutShare"]) == ("made", 3, 0)
    assert deck["systemPrompt"] == "You help {{x}}.\nWell."
    taken = samples(platform, deck["id"])
    assert {one["id"] for one in taken} == set(made.json["sampleIds"])
    assert {(one["collection"], one["model"]) for one in taken} == {("manual", "m")}
    again = platform.call("POST", f"{path}/deck", {"name": "other"})
    assert (again.status, again.json["deck"]["id"]) == (201, deck["id"])
    assert len(samples(platform, deck["id"])) == 3
    assert listed(platform) == []
    assert platform.call("GET", path).status == 404
    late = upload(platform, chat("q9", output="a", system="You help Ada.\nWell."))
    assert late.json["samples"][0]["deckId"] == deck["id"]


def test_a_deck_that_has_the_prompt_by_now_gets_the_calls(platform: Platform) -> None:
    upload(platform, chat("q", output="a", system="Mine."))
    (prompt,) = listed(platform)
    deck = new_deck(platform, systemPrompt="Mine.\n")["id"]
    path = f"{UNMATCHED}/{prompt['id']}/deck"
    second = new_deck(platform, systemPrompt="Mine.")["id"]
    tied = platform.call("POST", path, {"name": "n"})
    assert (tied.status, tied.json["code"]) == (409, "conflict")
    assert len(listed(platform)) == 1
    platform.call("PATCH", f"/api/v1/decks/{second}", {"status": "archived"})
    assert platform.call("POST", path, {"name": "n"}).json["deck"]["id"] == deck
    assert len(samples(platform, deck)) == 1


def test_ties_name_the_decks(platform: Platform) -> None:
    decks = [new_deck(platform, systemPrompt="Same.")["id"] for _ in range(2)]
    upload(platform, chat("q", output="a", system="Same."))
    assert sorted(listed(platform)[0]["tiedDeckIds"]) == sorted(decks)


def test_what_is_dismissed_is_erased_and_not_listed_again(platform: Platform) -> None:
    upload(platform, chat("SECRET", output="a", system="HIDDEN"))
    (prompt,) = listed(platform)
    path = f"{UNMATCHED}/{prompt['id']}"
    for _ in range(2):
        assert platform.call("DELETE", path).status == 204
    assert listed(platform) == []
    upload(platform, chat("SECRET", output="a", system="HIDDEN"))
    assert listed(platform) == []
    assert platform.call("GET", path).status == 404
    assert platform.call("POST", f"{path}/deck", {"name": "n"}).status == 404
    kept = [one for one in items_of_tables()["decks"] if prompt["id"] in one["pk"]["S"]]
    assert {one["sk"]["S"] for one in kept} == {"prompt", "expiry"}
    for missing in (new_id("ump"), "nonsense"):
        assert platform.call("DELETE", f"{UNMATCHED}/{missing}").status == 404


def test_a_deck_that_was_deleted_leaves_its_prompt_unmatched_again(platform: Platform) -> None:
    upload(platform, chat("q", output="a", system="Again."))
    path = f"{UNMATCHED}/{listed(platform)[0]['id']}/deck"
    deck = platform.call("POST", path, {"name": "n"}).json["deck"]["id"]
    platform.call("DELETE", f"/api/v1/decks/{deck}")
    assert platform.call("POST", path, {"name": "n"}).status == 404
    upload(platform, chat("q2", output="a", system="Again."))
    (prompt,) = listed(platform)
    assert prompt["calls"] == 1
    made = platform.call("POST", path, {"name": "n"}).json
    assert made["deck"]["id"] != deck
    assert len(made["sampleIds"]) == 1


@pytest.mark.parametrize("moment", ["before-call", "after-call"])
def test_who_is_killed_while_a_deck_is_made_makes_the_same_one(
    platform: Platform, moment: str
) -> None:
    killer = Killer()
    decks: set[str] = set()
    for after in range(2, 80, 3):
        upload(platform, *(chat(f"q{n}", output="a", system=f"P{after}") for n in range(2)))
        path = f"{UNMATCHED}/{listed(platform)[0]['id']}/deck"
        killer.kill(moment, after=after)
        try:
            answer = platform.call("POST", path, {"name": "n"})
            whole = answer.status == 201
        except Killed:
            whole = False
        killer.spare()
        made = platform.call("POST", path, {"name": "n"}).json["deck"]
        assert made["samples"] == 2
        decks.add(made["id"])
        assert listed(platform) == []
        if whole:
            break
    all_decks = platform.call("GET", "/api/v1/decks", query={"limit": 200}).json["decks"]
    assert {one["id"] for one in all_decks} == decks
    assert len(decks) > 3
