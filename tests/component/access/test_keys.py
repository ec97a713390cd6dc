"""Keys are made, listed and revoked, within one organisation and by admins only."""

import json
import re
from pathlib import Path

import pytest

from tests.support.lambdas import handler
from tests.support.platform import Platform


def test_a_new_key_works_and_its_secret_is_shown_once(platform: Platform) -> None:
    created = platform.call("POST", "/api/v1/keys", {"name": "ci", "role": "training_operator"})
    assert created.status == 201
    api_key = created.json["apiKey"]
    me = platform.me(api_key)
    assert {**me, "lastUsedAt": None} == created.json["key"]
    assert me["lastUsedAt"] is not None
    assert api_key.split(".")[1] not in platform.call("GET", "/api/v1/keys").text


def test_a_revoked_key_no_longer_works(platform: Platform) -> None:
    created = platform.call("POST", "/api/v1/keys", {"name": "ci", "role": "admin"}).json
    key_id = created["key"]["id"]
    revoked = platform.call("DELETE", f"/api/v1/keys/{key_id}")
    assert revoked.json["key"]["status"] == "revoked"
    answer = platform.call("GET", "/api/v1/keys/me", api_key=created["apiKey"])
    assert (answer.status, answer.json["code"]) == (401, "unauthenticated")


def test_keys_are_listed_in_pages_oldest_first(platform: Platform) -> None:
    for n in range(4):
        platform.call("POST", "/api/v1/keys", {"name": str(n), "role": "reviewer"})
    names: list[str] = []
    query: dict[str, object] = {"limit": 2}
    while True:
        page = platform.call("GET", "/api/v1/keys", query=query).json
        names += [key["name"] for key in page["keys"]]
        if not page.get("nextToken"):
            break
        query["nextToken"] = page["nextToken"]
    assert names == ["first admin key", "0", "1", "2", "3"]


@pytest.mark.parametrize(
    "token", ["nonsense", "WyJhIiwiYiJd", "W10", "%%%", "WyIiXQ", "W1tb" * 8_000]
)
def test_a_made_up_cursor_is_refused(platform: Platform, token: str) -> None:
    answer = platform.call("GET", "/api/v1/keys", query={"nextToken": token})
    assert answer.status == 422
    assert "nextToken" in answer.fields


def test_another_organisations_key_is_not_there(platform: Platform) -> None:
    other = platform.new_organization("second")
    other_id = other.split(".")[0]
    assert platform.call("DELETE", f"/api/v1/keys/{other_id}").status == 404
    assert other_id not in platform.call("GET", "/api/v1/keys").text
    assert platform.call("GET", "/api/v1/keys/me", api_key=other).status == 200


@pytest.mark.parametrize("role", ["training_operator", "grader_owner", "reviewer"])
def test_only_admins_manage_keys(platform: Platform, role: str) -> None:
    key = platform.new_key(role)
    for method, path, body in [
        ("GET", "/api/v1/keys", None),
        ("POST", "/api/v1/keys", {"name": "x", "role": "admin"}),
        ("DELETE", "/api/v1/keys/key_x", None),
    ]:
        answer = platform.call(method, path, body, api_key=key)
        assert (answer.status, answer.json["code"]) == (403, "forbidden")


def test_missing_and_wrong_fields_are_named(platform: Platform) -> None:
    answer = platform.call("POST", "/api/v1/keys", {"role": "boss", "colour": "red"})
    assert answer.status == 422
    assert set(answer.fields) == {"name", "role", "colour"}


@pytest.mark.parametrize("event", [{}, {"name": ""}, {"name": 3}, {"name": "x", "role": "admin"}])
def test_an_organisation_needs_a_name(platform: Platform, event: dict) -> None:
    with pytest.raises(ValueError, match="expected"):
        handler("functions.operations.create_organization")(event, None)


def test_who_may_not_send_a_body_learns_nothing_of_its_fields(platform: Platform) -> None:
    described = json.loads(Path("docs/openapi.json").read_text())["paths"]
    routes = [
        (method.upper(), path)
        for path, operations in described.items()
        for method, operation in operations.items()
        # Every role may make a session, and whoever has its code exchange it.
        if "requestBody" in operation
        and not path.startswith("/api/v1/sessions")
        # Lines of JSON, of which each wrong one is named.
        and not path.endswith(("/bulk", "/examples"))
    ]
    assert ("POST", "/api/v1/completions/batch") in routes
    reviewer, owner = platform.new_key("reviewer"), platform.new_key("grader_owner")
    for method, path in routes:
        is_for_reviewers = any(part in path for part in ("/api/v1/reviews", "/feedback", "/truth/"))
        key = owner if is_for_reviewers else reviewer
        answer = platform.call(method, re.sub("{.*?}", "x", path), {"wrong": 1}, api_key=key)
        assert (answer.status, answer.json["code"]) == (403, "forbidden"), (method, path)
        answer = platform.call(method, re.sub("{.*?}", "x", path), {"wrong": 1})
        assert answer.status == 422, (method, path)
