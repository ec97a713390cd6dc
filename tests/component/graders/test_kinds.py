"""Graders without an endpoint: they register whole, are verified at once, and are left alone."""

import json
from typing import Any

import pytest

from tests.support.platform import Platform

EXACT = {"type": "exact_match", "reference": "{{ item.answer }}"}
OPENAI = {
    "type": "string_check",
    "name": "capital",
    "operation": "ilike",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
}
ASKING = {
    "type": "score_model",
    "name": "closeness",
    "model": "small",
    "input": [{"role": "user", "content": "How good is {{ sample.output_text }}?"}],
}
NOWHERE = "llc_00000000000000000000000000"
PATH = "/api/v1/graders"


def register(platform: Platform, **body: Any) -> Any:
    answer = platform.call("POST", PATH, {"name": "g", **body})
    assert answer.status == 201, answer.text
    return answer.json


def test_a_builtin_grader_is_usable_at_once_and_has_no_secret(platform: Platform) -> None:
    registered = register(platform, kind="builtin", builtin=EXACT)
    grader = registered["grader"]
    assert "credentials" not in registered or registered["credentials"] is None
    assert (grader["kind"], grader["status"], grader.get("endpoint")) == ("builtin", "active", None)
    assert grader["builtin"]["reference"] == "{{ item.answer }}"
    assert len(grader["version"]) == 12
    assert grader["verifiedAt"]
    assert platform.call("GET", f"{PATH}/{grader['id']}").json["grader"] == grader
    assert platform.new_task(grader["id"])


def test_a_builtin_grader_is_verified_without_a_check_and_never_probed(platform: Platform) -> None:
    grader = register(platform, kind="builtin", builtin=EXACT)["grader"]
    verified = platform.call("POST", f"{PATH}/{grader['id']}/verify").json
    assert (verified["verified"], verified["checks"]) == (True, [])
    assert verified["grader"] == grader
    assert platform.probe_graders() == {"probed": 0, "changed": 0, "left": 0}
    health = platform.call("GET", f"{PATH}/{grader['id']}/health").json["health"]
    assert (health["status"], health["probed"]) == ("active", False)


def test_another_configuration_is_another_version_at_once(platform: Platform) -> None:
    before = register(platform, kind="builtin", builtin=EXACT)["grader"]
    path = f"{PATH}/{before['id']}"
    renamed = platform.call("PATCH", path, {"name": "other"}).json["grader"]
    assert renamed["version"] == before["version"]
    changed = platform.call("PATCH", path, {"openai": OPENAI}).json["grader"]
    assert changed["version"] != before["version"]
    assert changed["status"] == "active"
    assert changed["builtin"]["type"] == "string_check"
    back = platform.call("PATCH", path, {"builtin": EXACT}).json["grader"]
    assert back["version"] == before["version"]
    assert platform.call("DELETE", path).status == 204
    assert platform.call("GET", path).status == 404


def test_a_schema_is_stored_digit_by_digit(platform: Platform) -> None:
    schema = {"": True, "const": [1.0000000000000000001e-200, 123456789012345678901234567890]}
    configuration = {"type": "json_schema", "schema": schema}
    grader = register(platform, kind="builtin", builtin=configuration)["grader"]
    read = platform.call("GET", f"{PATH}/{grader['id']}").json["grader"]["builtin"]["schema"]
    assert json.dumps(read) == json.dumps(schema)


def test_others_see_a_public_builtin_grader_without_its_configuration(platform: Platform) -> None:
    grader = register(platform, kind="builtin", builtin=EXACT, visibility="public")["grader"]
    other = platform.new_organization("second")
    seen = platform.call("GET", f"{PATH}/{grader['id']}", api_key=other).json["grader"]
    assert (seen["kind"], seen.get("builtin")) == ("builtin", None)


def test_a_human_grader_is_people(platform: Platform) -> None:
    registered = register(platform, kind="human", shareReasoning=True)
    grader = registered["grader"]
    assert registered.get("credentials") is None
    assert (grader["kind"], grader["status"], grader["version"]) == ("human", "active", "1")
    path = f"{PATH}/{grader['id']}"
    assert platform.call("POST", f"{path}/verify").json["verified"] is True
    assert platform.call("PATCH", path, {"description": "d"}).status == 200
    assert platform.call("PATCH", path, {"builtin": EXACT}).fields.keys() == {"builtin"}
    assert platform.call("DELETE", path).status == 204


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "endpoint"),
        ({"kind": "http"}, "endpoint"),
        ({"endpoint": "http://127.0.0.1:1", "builtin": EXACT}, "builtin"),
        ({"endpoint": "http://127.0.0.1:1", "openai": OPENAI}, "openai"),
        ({"kind": "builtin"}, "builtin"),
        ({"kind": "builtin", "builtin": EXACT, "openai": OPENAI}, "openai"),
        ({"kind": "builtin", "builtin": EXACT, "endpoint": "http://127.0.0.1:1"}, "endpoint"),
        ({"kind": "builtin", "builtin": EXACT, "limits": {"maxConcurrency": 1}}, "limits"),
        ({"kind": "builtin", "builtin": EXACT, "capabilities": {}}, "capabilities"),
        ({"kind": "builtin", "builtin": EXACT, "shareReasoning": True}, "shareReasoning"),
        (
            {"kind": "builtin", "builtin": EXACT, "certificateSha256": ["0" * 64]},
            "certificateSha256",
        ),
        ({"kind": "builtin", "builtin": {"type": "exact_match"}}, "builtin.exact_match.reference"),
        ({"kind": "builtin", "builtin": {**EXACT, "reference": "{{ x }}"}}, "builtin.reference"),
        ({"kind": "builtin", "openai": {"type": "score_model"}}, "openai.type"),
        ({"kind": "builtin", "builtin": EXACT, "connectionId": NOWHERE}, "connectionId"),
        ({"kind": "rubric"}, "rubric"),
        ({"kind": "rubric", "builtin": EXACT}, "builtin"),
        ({"kind": "rubric", "openai": ASKING}, "connectionId"),
        ({"kind": "rubric", "openai": OPENAI, "connectionId": NOWHERE}, "connectionId"),
        ({"kind": "rubric", "openai": ASKING, "connectionId": NOWHERE}, "connectionId"),
        ({"kind": "rubric", "limits": {"maxConcurrency": 1}}, "limits"),
        ({"kind": "human", "endpoint": "http://127.0.0.1:1"}, "endpoint"),
        ({"kind": "human", "openai": OPENAI}, "openai"),
        ({"kind": "robot"}, "kind"),
    ],
)
def test_what_makes_no_sense_for_a_kind_is_refused(
    platform: Platform, body: dict[str, Any], field: str
) -> None:
    answer = platform.call("POST", PATH, {"name": "g", **body})
    assert answer.status == 422, answer.text
    assert list(answer.fields) == [field]


def test_a_builtin_grader_gets_no_endpoint_later(platform: Platform) -> None:
    grader = register(platform, kind="builtin", builtin=EXACT)["grader"]
    answer = platform.call("PATCH", f"{PATH}/{grader['id']}", {"endpoint": "http://127.0.0.1:1"})
    assert (answer.status, list(answer.fields)) == (422, ["endpoint"])
