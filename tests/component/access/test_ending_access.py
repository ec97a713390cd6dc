"""Access ends: keys expire, are revoked with what they made, and show when they were used."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from autotune_platform.access import service
from autotune_platform.access.repository import AccessRepository
from autotune_platform.access.signers import Signers
from functions.access import api
from tests.support.clock import StandingClock
from tests.support.platform import Platform


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> StandingClock:
    made = StandingClock()
    monkeypatch.setattr(service, "SYSTEM_CLOCK", made)
    return made


def new_key(platform: Platform, **fields: Any) -> tuple[dict[str, Any], str]:
    made = platform.call("POST", "/api/v1/keys", {"name": "k", "role": "admin", **fields})
    assert made.status == 201, made.text
    return made.json["key"], made.json["apiKey"]


def listed(platform: Platform) -> dict[str, Any]:
    found = platform.call("GET", "/api/v1/keys").json["keys"]
    return {key["id"]: key for key in found}


def test_a_key_works_until_it_expires(
    platform: Platform, clock: StandingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon = clock.now() + timedelta(seconds=100)
    key, credential = new_key(platform, expiresAt=soon.isoformat())
    assert (key["status"], datetime.fromisoformat(key["expiresAt"])) == ("active", soon)
    assert platform.call("GET", "/api/v1/tasks", api_key=credential).status == 200
    clock.turn(seconds=101)
    refused = platform.call("GET", "/api/v1/tasks", api_key=credential)
    assert (refused.status, refused.json["code"]) == (401, "unauthenticated")
    monkeypatch.setattr(api.parts(), "clock", clock)
    assert listed(platform)[key["id"]]["status"] == "expired"


@pytest.mark.parametrize("moment", [datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC)])
def test_a_key_is_not_made_to_have_expired(platform: Platform, moment: datetime) -> None:
    body = {"name": "k", "role": "admin", "expiresAt": moment.isoformat()}
    answer = platform.call("POST", "/api/v1/keys", body)
    assert (answer.status, answer.fields.keys()) == (422, {"expiresAt"})


def test_a_key_shows_when_it_was_last_used(platform: Platform, clock: StandingClock) -> None:
    key, credential = new_key(platform)
    assert listed(platform)[key["id"]]["lastUsedAt"] is None
    platform.call("GET", "/api/v1/keys/me", api_key=credential)
    first = listed(platform)[key["id"]]["lastUsedAt"]
    assert abs(datetime.fromisoformat(first) - clock.now()) < timedelta(seconds=2)


def test_use_is_noted_once_an_hour_and_never_fails_a_request(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, credential = new_key(platform)
    tried: list[str] = []

    def refuse(_: AccessRepository, key_id: str, __: datetime) -> None:
        tried.append(key_id)
        raise ClientError({"Error": {"Code": "ThrottlingException"}}, "PutItem")

    monkeypatch.setattr(AccessRepository, "note_use", refuse)
    for _ in range(3):
        assert platform.call("GET", "/api/v1/keys/me", api_key=credential).status == 200
    assert len(tried) == 1


def test_a_refused_request_is_no_use(platform: Platform) -> None:
    key, credential = new_key(platform)
    wrong = f"{key['id']}.{'0' * 64}"
    assert platform.call("GET", "/api/v1/keys/me", api_key=wrong).status == 401
    assert listed(platform)[key["id"]]["lastUsedAt"] is None
    assert credential != wrong


def test_a_key_is_renamed(platform: Platform) -> None:
    key, _ = new_key(platform)
    renamed = platform.call("PATCH", f"/api/v1/keys/{key['id']}", {"name": "night run"})
    assert renamed.json["key"] == {**key, "name": "night run"}
    assert listed(platform)[key["id"]]["name"] == "night run"
    wrong = platform.call("PATCH", f"/api/v1/keys/{key['id']}", {"name": ""})
    assert (wrong.status, wrong.fields.keys()) == (422, {"name"})


def test_a_renamed_key_that_was_revoked_stays_so(platform: Platform) -> None:
    key, credential = new_key(platform)
    platform.call("DELETE", f"/api/v1/keys/{key['id']}")
    renamed = platform.call("PATCH", f"/api/v1/keys/{key['id']}", {"name": "gone"})
    assert renamed.json["key"]["status"] == "revoked"
    assert platform.call("GET", "/api/v1/keys/me", api_key=credential).status == 401


def test_what_a_key_made_says_so(platform: Platform) -> None:
    key, credential = new_key(platform)
    made = platform.call(
        "POST", "/api/v1/keys", {"name": "k", "role": "reviewer"}, api_key=credential
    ).json["key"]
    assert made["createdBy"] == key["id"]
    hook = platform.call(
        "POST", "/api/v1/webhooks", {"url": "http://127.0.0.1:1/hook"}, api_key=credential
    ).json["webhook"]
    assert hook["createdBy"] == key["id"]


MINTING: dict[str, dict[str, Any]] = {
    "keys": {"name": "k", "role": "admin"},
    "graders": {"name": "g", "endpoint": "http://127.0.0.1:1"},
    "review-links": {"reviewerId": "anna"},
    "webhooks": {"url": "http://127.0.0.1:1/hook"},
}


@pytest.mark.parametrize("path", MINTING)
def test_a_revoked_key_makes_nothing_even_where_it_was_just_seen(
    platform: Platform, path: str
) -> None:
    key, credential = new_key(platform)
    seen = platform.call("POST", f"/api/v1/{path}", MINTING[path], api_key=credential)
    assert seen.status == 201, seen.text
    # As another process does: this one keeps what it has read of the key.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Signers, "forget", lambda *_: None)
        assert platform.call("DELETE", f"/api/v1/keys/{key['id']}").status == 200
        refused = platform.call("POST", f"/api/v1/{path}", MINTING[path], api_key=credential)
    assert (refused.status, refused.json["code"]) == (401, "unauthenticated")
