"""Ingest URLs take samples and decks from whoever knows them, until they are revoked."""

import json
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from tests.support.decks import chat, new_deck
from tests.support.lambdas import Answer
from tests.support.platform import Platform
from tests.support.tables import items_of_tables

URLS = "/api/v1/ingest-urls"


def new_url(platform: Platform, **fields: Any) -> dict[str, Any]:
    answer = platform.call("POST", URLS, {"name": "curl", **fields})
    assert answer.status == 201, answer.text
    made: dict[str, Any] = answer.json
    return made


def path_of(made: dict[str, Any]) -> str:
    return "/i/" + str(made["url"]).rpartition("/i/")[2]


def send(
    platform: Platform,
    path: str,
    body: bytes | Any,
    *,
    query: str = "",
    media_type: str = "application/json",
    **headers: str,
) -> Answer:
    """Send a request that nobody signed, as curl does."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return platform.pass_on("POST", path, query, {"content-type": media_type, **named}, sent)


def samples(platform: Platform, deck_id: str) -> list[dict[str, Any]]:
    path = f"/api/v1/decks/{deck_id}/samples"
    found: list[dict[str, Any]] = platform.call("GET", path).json["samples"]
    return found


def test_samples_come_in_any_form_and_find_their_deck(platform: Platform) -> None:
    deck = new_deck(platform, systemPrompt="Mine.")["id"]
    made = new_url(platform)
    path = f"{path_of(made)}/samples"
    ones = [chat(f"q{n}", output="a", system="Mine.") for n in range(3)]
    forms = {
        "one": json.dumps(ones[0], indent=2).encode(),
        "list": json.dumps(ones, indent=2).encode(),
        "object": json.dumps({"samples": ones}).encode(),
        "lines": b"\n".join(json.dumps(one).encode() for one in ones) + b"\n",
    }
    expected = {"one": 1, "list": 3, "object": 3, "lines": 3}
    for form, body in forms.items():
        answer = send(platform, path, body, media_type="application/x-ndjson")
        assert (answer.status, answer.json["accepted"]) == (201, expected[form]), form
    assert {one["collection"] for one in samples(platform, deck)} == {"telemetry"}
    mixed = send(platform, path, [chat("q", output="a", system="No one's."), {"input": "x"}])
    assert len(mixed.json["unmatched"]) == 1
    assert mixed.json["rejected"][0]["line"] == 2
    for wrong in (b"", b"{", b"[]", b"[" * 100_000):
        answer = send(platform, path, wrong)
        assert answer.status == 422 or answer.json["rejected"], answer.text
    assert len(samples(platform, deck)) == 10


def test_what_a_url_may_and_may_not_do(platform: Platform) -> None:
    deck = new_deck(platform, systemPrompt="Mine.")["id"]
    bound = new_url(platform, deckId=deck, collection="manual")
    assert bound["ingestUrl"]["deckId"] == deck
    answer = send(platform, f"{path_of(bound)}/samples", {"input": "q", "output": "a"})
    assert answer.json["samples"][0]["deckId"] == deck
    assert samples(platform, deck)[0]["collection"] == "manual"
    body = {"name": "n", "systemPrompt": "s"}
    assert send(platform, f"{path_of(bound)}/decks", body).status == 403
    platform.call("PATCH", f"/api/v1/decks/{deck}", {"status": "archived"})
    gone = send(platform, f"{path_of(bound)}/samples", {"input": "q", "output": "a"})
    assert (gone.status, gone.json["code"]) == (409, "conflict")
    for fields, field in (
        ({"deckId": new_id("dck")}, "deckId"),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, "expiresAt"),
        ({"collection": "other"}, "collection"),
    ):
        refused = platform.call("POST", URLS, {"name": "n", **fields})
        assert (refused.status, list(refused.fields)) == (422, [field])


def test_decks_are_made_of_json_and_of_prompts_once(platform: Platform) -> None:
    path = f"{path_of(new_url(platform))}/decks"
    body = {"name": "json", "systemPrompt": "Be brief."}
    first = send(platform, path, body, idempotency_key="k")
    assert first.status == 201, first.text
    assert first.json["deck"]["systemPrompt"] == "Be brief."
    again = send(platform, path, body, idempotency_key="k")
    assert again.json["deck"] == first.json["deck"]
    other = send(platform, path, {**body, "name": "x"}, idempotency_key="k")
    assert other.json["code"] == "idempotency_key_reused"
    text = send(platform, path, b"# You\n\nhelp.\n", query="name=mine", media_type="text/markdown")
    assert text.json["deck"]["name"] == "mine"
    assert text.json["deck"]["systemPrompt"] == "# You\n\nhelp."
    for wrong, query, media_type in (
        (b"# You", "", "text/markdown"),
        (b"+++\nname = 'x'\n+++\n", "name=x", "text/markdown"),
        (b"\xff", "name=x", "text/plain"),
        (b"  \n", "name=x", "text/plain"),
        (b"{", "", "application/json"),
        (b'{"name": "x"}', "", "application/json"),
        (b"[]", "", "application/json"),
    ):
        answer = send(platform, path, wrong, query=query, media_type=media_type)
        assert answer.status in (400, 422), answer.text
    decks = platform.call("GET", "/api/v1/decks").json["decks"]
    assert sorted(one["name"] for one in decks) == ["json", "mine"]


def test_a_secret_is_shown_once_and_lets_in_until_it_is_revoked(platform: Platform) -> None:
    made = new_url(platform)
    url_id = made["ingestUrl"]["id"]
    token = path_of(made).removeprefix("/i/")
    secret = token.rpartition("-")[2]
    assert made["ingestUrl"]["endsWith"] == secret[-4:]
    assert secret not in str(items_of_tables())
    (listed,) = platform.call("GET", URLS).json["ingestUrls"]
    assert listed == made["ingestUrl"]
    assert platform.call("GET", f"{URLS}/{url_id}").json["ingestUrl"] == listed
    line = chat("q", output="a", system="None.")
    assert send(platform, f"/i/{token}/samples", line).status == 201
    wrong = f"{url_id}-{'0' * 64}"
    unknown = f"{new_id('igu')}-{secret}"
    revoked = platform.call("DELETE", f"{URLS}/{url_id}").json["ingestUrl"]
    assert revoked["state"] == "revoked"
    answers = [
        send(platform, f"/i/{one}/{what}", line)
        for one in (token, wrong, unknown, "nonsense")
        for what in ("samples", "decks")
    ]
    assert {one.status for one in answers} == {404}
    assert len({one.json["detail"] for one in answers}) == 1
    assert all(secret not in one.text for one in answers)
    assert platform.call("DELETE", f"{URLS}/{url_id}").status == 200


def test_a_url_has_a_rate_of_its_own(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{path_of(new_url(platform))}/samples"
    other = f"{path_of(new_url(platform))}/samples"
    line = chat("q", output="a", system="None.")
    monkeypatch.setattr("autotune_platform.access.rates.SYSTEM_CLOCK.unix", lambda: 1_700_000_000.0)
    statuses = [send(platform, path, line).status for _ in range(101)]
    assert statuses[:100] == [201] * 100
    assert statuses[100] == 429
    assert send(platform, other, line).status == 201
