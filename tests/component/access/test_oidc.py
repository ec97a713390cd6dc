"""Signing in to the console by OpenID Connect: who gets a session, and what it may do."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.access import oidc_api
from tests.support.aws import API_URL
from tests.support.lambdas import Answer, forget_processes, handler
from tests.support.oidc import CLIENT_ID, Person, Provider, serve_provider, sign_in_at
from tests.support.platform import Platform

PATH = "/api/v1/sessions/oidc"


@pytest.fixture
def provider(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with serve_provider(f"{API_URL}/console") as running:
        sign_in_at(monkeypatch, running.url, platform.me()["organizationId"])
        yield running


def send(platform: Platform, body: dict[str, Any]) -> Answer:
    return platform.call("POST", PATH, body, signed={})


def sign_in(platform: Platform, person: Person) -> tuple[dict[str, Any], str]:
    """Return a new session, and what signs in it, as a key is written."""
    answer = send(platform, person.body())
    assert answer.status == 200, answer.text
    session = answer.json["session"]
    return session, f"{session['id']}.{answer.json['secret']}"


def test_where_there_is_no_provider_the_page_is_told_so(platform: Platform) -> None:
    answer = platform.call("GET", PATH, signed={})
    assert (answer.status, answer.json) == (200, {"oidc": None})


def test_the_page_is_told_where_to_begin_and_the_provider_is_asked_once(
    platform: Platform, provider: Provider
) -> None:
    for _ in range(2):
        answer = platform.call("GET", PATH, signed={})
        assert answer.json["oidc"] == {
            "issuer": provider.url,
            "clientId": CLIENT_ID,
            "authorizationEndpoint": f"{provider.url}/authorize",
            "redirectUri": f"{API_URL}/console",
            "scope": "openid email",
        }
    assert provider.asked == ["GET /.well-known/openid-configuration"]


@pytest.mark.parametrize("role", ["training_operator", "grader_owner", "reviewer", "admin"])
def test_a_person_has_a_session_of_their_role_until_it_is_revoked(
    platform: Platform, provider: Provider, role: str
) -> None:
    session, signs = sign_in(platform, provider.authorize(roles=[role]))
    assert (session["role"], session["status"], session["keyId"]) == (role, "active", None)
    assert (session["issuer"], session["name"]) == (provider.url, "anna@example.com")
    assert session["principalId"].startswith("oidc_")
    lasts = datetime.fromisoformat(session["expiresAt"]) - datetime.fromisoformat(
        session["createdAt"]
    )
    assert lasts == timedelta(hours=1)
    key = platform.new_key(role)
    for path in ("/api/v1/tasks", "/api/v1/keys", "/api/v1/reviews", "/api/v1/graders"):
        by_key = platform.call("GET", path, api_key=key)
        in_session = platform.call("GET", path, api_key=signs)
        assert (in_session.status, in_session.json.get("code")) == (
            by_key.status,
            by_key.json.get("code"),
        )
    own = platform.call("GET", "/api/v1/sessions/me", api_key=signs).json["session"]
    assert (own["id"], own["issuer"]) == (session["id"], provider.url)
    assert own["lastUsedAt"] is not None
    assert platform.call("GET", "/api/v1/keys/me", api_key=signs).status == 404
    refused = platform.call("POST", "/api/v1/sessions", {}, api_key=signs)
    assert (refused.status, refused.json["code"]) == (403, "forbidden")
    (listed,) = platform.call("GET", "/api/v1/sessions").json["sessions"]
    assert (listed["id"], listed["keyId"], listed["lastUsedAt"]) == (
        session["id"],
        None,
        own["lastUsedAt"],
    )
    assert platform.call("DELETE", f"/api/v1/sessions/{session['id']}").status == 200
    assert platform.call("GET", "/api/v1/sessions/me", api_key=signs).status == 401


def test_what_is_made_in_it_names_the_session_and_the_log_names_person_and_provider_call(
    platform: Platform, provider: Provider
) -> None:
    session, signs = sign_in(platform, provider.authorize())
    body = {"name": "k", "role": "reviewer"}
    made = platform.call("POST", "/api/v1/keys", body, api_key=signs)
    assert made.json["key"]["createdBy"] == session["id"]
    entries = platform.call("GET", "/api/v1/audit", query={"limit": 10}).json["entries"]
    by_action = {entry["action"]: entry for entry in entries}
    entry = by_action["sign_in"]
    assert (entry["ids"], entry["status"]) == ({"session_id": session["id"]}, 200)
    assert entry["principalId"] == session["principalId"]
    entry = by_action["create_key"]
    assert (entry["keyId"], entry["sessionId"]) == (None, session["id"])
    assert entry["principalId"] == session["principalId"]
    # Where a session was just seen, what opens doors still reads it anew.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autotune_platform.access.signers.Signers.forget", lambda *_: None)
        assert platform.call("DELETE", f"/api/v1/sessions/{session['id']}").status == 200
        assert platform.call("POST", "/api/v1/keys", body, api_key=signs).status == 401


def test_who_somebody_is_follows_from_provider_and_subject_alone(
    platform: Platform, provider: Provider
) -> None:
    first, _ = sign_in(platform, provider.authorize())
    again, _ = sign_in(platform, provider.authorize(email="new@example.com", roles=["reviewer"]))
    other, _ = sign_in(platform, provider.authorize(sub="an/other subject"))
    assert first["principalId"] == again["principalId"] != other["principalId"]
    assert first["id"] != again["id"]
    nameless = sign_in(platform, provider.authorize(email=None, name="\n"))[0]
    assert nameless["name"] == "OpenID Connect"


def test_somebody_without_a_role_is_told_which_claim_was_looked_at(
    platform: Platform, provider: Provider
) -> None:
    for roles in (None, [], ["owner"], "Admin", {"admin": True}, [["admin"]]):
        answer = send(platform, provider.authorize(roles=roles).body())
        assert (answer.status, answer.json["code"]) == (403, "forbidden"), roles
        assert "the claim roles of your ID token names none" in answer.json["detail"]
    assert platform.call("GET", "/api/v1/sessions").json["sessions"] == []
    entries = platform.call("GET", "/api/v1/audit", query={"action": "sign_in"}).json["entries"]
    assert {entry["status"] for entry in entries} == {403}, "admins see who was refused"


@pytest.mark.parametrize(
    ("claim", "roles", "claims", "expected"),
    [
        ("role", {}, {"role": "grader_owner"}, "grader_owner"),
        ("roles", {}, {"roles": ["reviewer", "training_operator"]}, "training_operator"),
        ("realm_access.roles", {}, {"realm_access": {"roles": ["reviewer"]}}, "reviewer"),
        ("https://a.example/r.x", {}, {"https://a.example/r.x": "reviewer"}, "reviewer"),
        ("groups", {"ml": "reviewer", "ops": "admin"}, {"groups": ["ops", "ml"]}, "reviewer"),
        ("groups", {"ops": "admin"}, {"groups": "ops"}, "admin"),
        ("groups", {"ops": "reviewer"}, {"groups": ["admin"]}, None),
    ],
)
def test_the_role_is_what_a_claim_says(
    platform: Platform,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    claim: str,
    roles: dict[str, str],
    claims: dict[str, Any],
    expected: str | None,
) -> None:
    monkeypatch.setenv("OIDC_ROLE_CLAIM", claim)
    monkeypatch.setenv("OIDC_ROLES", json.dumps(roles))
    answer = send(platform, provider.authorize(**{"roles": None, **claims}).body())
    if expected is None:
        assert answer.status == 403
    else:
        assert answer.json["session"]["role"] == expected


def test_a_code_begins_one_session_even_where_the_provider_takes_it_twice(
    platform: Platform, provider: Provider
) -> None:
    person = provider.authorize()
    kept = dict(provider.codes)
    sign_in(platform, person)
    assert send(platform, person.body()).json["detail"].endswith("sign-in: invalid_grant")
    provider.codes.update(kept)
    again = send(platform, person.body())
    assert (again.status, again.json["detail"]) == (
        401,
        "this sign-in was used before; begin another",
    )
    assert len(platform.call("GET", "/api/v1/sessions").json["sessions"]) == 1


def test_a_suspended_organisation_and_one_that_has_its_sessions_begin_none(
    platform: Platform, provider: Provider
) -> None:
    organization_id = platform.me()["organizationId"]
    manage = handler("functions.operations.manage_organizations")
    manage({"action": "limit", "organizationId": organization_id, "limits": {"sessions": 1}}, None)
    sign_in(platform, provider.authorize())
    full = send(platform, provider.authorize().body())
    assert (full.status, full.json["limit"]["name"]) == (409, "sessions")
    manage({"action": "suspend", "organizationId": organization_id}, None)
    forget_processes()
    refused = send(platform, provider.authorize().body())
    assert (refused.status, refused.json["code"]) == (403, "organization_suspended")


@pytest.mark.parametrize(
    ("field", "value"),
    [("code", ""), ("code", "a b"), ("codeVerifier", "short"), ("nonce", "no"), ("nonce", None)],
)
def test_what_no_browser_sends_is_refused_before_the_provider_is_asked(
    platform: Platform, provider: Provider, field: str, value: str | None
) -> None:
    answer = send(platform, provider.authorize().body(**{field: value}))
    assert (answer.status, answer.fields.keys()) == (422, {field})
    assert provider.asked == []


def test_the_settings_are_read_once_and_the_library_is_loaded_by_the_first_token(
    platform: Platform, provider: Provider
) -> None:
    assert oidc_api.parts() is oidc_api.parts()
    sign_in(platform, provider.authorize())
    asked = list(provider.asked)
    sign_in(platform, provider.authorize())
    assert provider.asked[len(asked) :] == ["POST /token"]
