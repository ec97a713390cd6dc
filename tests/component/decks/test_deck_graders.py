"""Graders of decks are rubrics in versions that never change; nothing grades unasked."""

from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune.protocol.limits import MAX_LEVELS_RUBRIC_BYTES
from autotune_platform.decks import grader_repository
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from tests.support.decks import LEVELS, RUBRIC, new_deck, new_deck_grader, new_samples
from tests.support.platform import Platform


@pytest.fixture
def graders(platform: Platform) -> str:
    """The path of a deck's graders."""
    return f"/api/v1/decks/{new_deck(platform)['id']}/graders"


def test_a_grader_is_made_activated_changed_and_rolled_back(
    platform: Platform, graders: str, judge: dict[str, Any]
) -> None:
    deck_id = graders.split("/")[4]
    made = new_deck_grader(platform, deck_id)
    assert made["rubric"]["levels"] == LEVELS
    assert made["rubric"]["examples"][0]["level"] == 3
    assert (made["status"], made["origin"], made["version"]) == ("proposed", "person", 1)
    path = f"{graders}/{made['id']}"
    assert platform.call("GET", path).json["grader"] == made
    assert platform.call("GET", graders).json["graders"] == [made]
    assert platform.call("GET", f"/api/v1/decks/{deck_id}").json["deck"]["graders"] == 1

    refused = platform.call("PATCH", path, {"status": "active"})
    assert (refused.status, list(refused.fields)) == (422, ["status"])
    assert "judge" in refused.json["detail"]
    second = platform.call("POST", f"{path}/versions", {"rubric": RUBRIC, "judge": judge})
    version = second.json["version"]
    assert (second.status, version["version"], version["parent"]) == (201, 2, 1)
    assert version["digest"] != made["digest"]
    of_deck = f"/api/v1/decks/{deck_id}"
    assert platform.call("GET", of_deck).json["deck"]["status"] == "draft"
    active = platform.call("PATCH", path, {"status": "active", "name": "f"}).json["grader"]
    assert platform.call("GET", of_deck).json["deck"]["status"] == "active"
    assert (active["status"], active["name"], active["version"]) == ("active", "f", 2)
    assert active["judge"]["params"]["maxTokens"] == 400

    assert (made["lint"], version["lint"], active["lint"]) == ([], [], [])

    third = {**RUBRIC, "criteria": "Is it faithful?"}
    body = {"rubric": third, "note": "clearer", "editId": new_id("edt"), "parent": 2}
    version = platform.call("POST", f"{path}/versions", body).json["version"]
    assert version["judge"] == active["judge"], "it is taken over"
    assert (version["note"], version["editId"]) == ("clearer", body["editId"])
    repeated = platform.call("POST", f"{path}/versions", body)
    assert repeated.json["version"] == version
    late = platform.call("POST", f"{path}/versions", {**body, "rubric": RUBRIC})
    assert late.status == 409, "2 is not the current one"

    back = platform.call("PATCH", path, {"version": 2}).json["grader"]
    assert (back["version"], back["digest"]) == (2, active["digest"])
    refused = platform.call("PATCH", path, {"version": 1})
    assert refused.status == 422, "an active grader has a judge"
    listed = platform.call("GET", f"{path}/versions").json["versions"]
    assert [one["version"] for one in listed] == [3, 2, 1]
    assert platform.call("GET", f"{path}/versions/3").json["version"] == listed[0]
    assert platform.call("GET", f"{path}/versions/4").status == 404
    assert platform.call("DELETE", path).status == 409, "it graded"
    assert platform.call("PATCH", path, {"status": "retired"}).json["grader"]["status"] == "retired"


def test_what_is_proposed_can_be_deleted_and_makes_room(
    platform: Platform, graders: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grader_repository, "MAX_DECK_GRADERS", 1)
    deck_id = graders.split("/")[4]
    made = new_deck_grader(platform, deck_id)
    body = {"name": "n", "rubric": RUBRIC}
    refused = platform.call("POST", graders, body)
    assert (refused.status, refused.json["limit"]["unit"]) == (409, "graders")
    assert platform.call("DELETE", f"{graders}/{made['id']}").status == 204
    assert platform.call("DELETE", f"{graders}/{made['id']}").status == 404
    assert platform.call("GET", f"{graders}/{made['id']}/versions").status == 404
    assert platform.call("POST", graders, body).status == 201


def test_levels_that_cannot_be_told_apart_cannot_be_active(
    platform: Platform, graders: str, judge: dict[str, Any]
) -> None:
    for levels in (["", *LEVELS[1:]], [*LEVELS[:6], f" {LEVELS[0].upper()} "]):
        rubric = {**RUBRIC, "levels": levels}
        made = new_deck_grader(platform, graders.split("/")[4], rubric=rubric, judge=judge)
        refused = platform.call("PATCH", f"{graders}/{made['id']}", {"status": "active"})
        assert (refused.status, list(refused.fields)) == (422, ["status"])


def test_what_is_wrong_with_a_grader_is_named(
    platform: Platform, graders: str, judge: dict[str, Any]
) -> None:
    example = {"input": "i", "output": "o", "level": 4}
    long = {"input": "i" * 9_000, "output": "o" * 9_000, "level": 0}
    for rubric, field in [
        ({**RUBRIC, "levels": LEVELS[:6]}, "rubric.levels"),
        ({**RUBRIC, "levels": [*LEVELS, "x"]}, "rubric.levels"),
        ({**RUBRIC, "criteria": ""}, "rubric.criteria"),
        ({**RUBRIC, "examples": [example]}, "rubric.examples[0].level"),
        ({**RUBRIC, "examples": [{**example, "level": 1.5}]}, "rubric.examples[0].level"),
        ({**RUBRIC, "more": 1}, "rubric.more"),
        ({**RUBRIC, "examples": [long] * 20}, "rubric"),
    ]:
        answer = platform.call("POST", graders, {"name": "n", "rubric": rubric})
        assert (answer.status, list(answer.fields)) == (422, [field])
    assert str(MAX_LEVELS_RUBRIC_BYTES) in answer.text
    for wrong, field in [
        ({**judge, "connectionId": new_id("llc")}, "judge.connectionId"),
        (
            {**judge, "params": {"maxTokens": 9, "responseFormat": {"type": "json_object"}}},
            "judge.params",
        ),
    ]:
        body = {"name": "n", "rubric": RUBRIC, "judge": wrong}
        answer = platform.call("POST", graders, body)
        assert (answer.status, list(answer.fields)) == (422, [field])


def test_a_grader_is_found_in_its_own_deck_alone(platform: Platform, graders: str) -> None:
    made = new_deck_grader(platform, graders.split("/")[4])
    other = new_deck(platform)
    path = f"/api/v1/decks/{other['id']}/graders/{made['id']}"
    for method, rest, body in [
        ("GET", "", None),
        ("PATCH", "", {"name": "x"}),
        ("DELETE", "", None),
        ("GET", "/versions", None),
        ("GET", "/versions/1", None),
        ("POST", "/versions", {"rubric": RUBRIC}),
    ]:
        assert platform.call(method, path + rest, body).status == 404


def test_no_example_is_a_sample_that_is_held_out(platform: Platform, graders: str) -> None:
    deck_id = graders.split("/")[4]
    texts = [{"input": f"Question {place}", "output": "Words."} for place in range(12)]
    added = new_samples(platform, deck_id, *texts)
    halves = {one["split"]: one["id"] for one in added}
    assert set(halves) == {"development", "holdout"}

    def rubric(sample_id: str) -> dict[str, Any]:
        cited = {**RUBRIC["examples"][0], "sampleId": sample_id}
        return {**RUBRIC, "examples": [*RUBRIC["examples"], cited]}

    kept = platform.call("POST", graders, {"name": "n", "rubric": rubric(halves["development"])})
    assert kept.status == 201, kept.text
    versions = f"{graders}/{kept.json['grader']['id']}/versions"
    held = rubric(halves["holdout"])
    for path, body in (
        (graders, {"name": "m", "rubric": held, "origin": "import"}),
        (versions, {"rubric": held}),
    ):
        refused = platform.call("POST", path, body)
        assert refused.status == 422, refused.text
        assert refused.fields == {"rubric.examples[1].sampleId": "a sample of the development half"}
        assert f"sample {halves['holdout']} is held out" in refused.json["detail"]
    elsewhere = platform.call("POST", versions, {"rubric": rubric(new_id("smp"))})
    assert elsewhere.status == 201, "a sample that this deck does not have"


def test_versions_of_edits_that_are_not_accepted_are_found_apart_however_old(
    platform: Platform, graders: str
) -> None:
    made = new_deck_grader(platform, graders.split("/")[4])
    path = f"{graders}/{made['id']}/versions"
    for number in range(2, 8):
        body = {"rubric": {**RUBRIC, "criteria": f"Is it {number}?"}}
        assert platform.call("POST", path, body).status == 201
    table = Table("decks", clients.dynamodb())
    (_, *items) = table.items(graders.split("/")[4], starting=f"rubric#{made['id']}#")
    for item in items[:4]:
        table.put({**item, "candidate": item["version"] % 2 == 0})

    def found(**query: Any) -> list[int]:
        numbers: list[int] = []
        token = None
        while True:
            asked = {**query, "limit": 1, **({"nextToken": token} if token else {})}
            answer = platform.call("GET", path, query=asked)
            assert answer.status == 200, answer.text
            numbers += [one["version"] for one in answer.json["versions"]]
            token = answer.json["nextToken"]
            if token is None:
                return numbers

    assert found(candidate="true") == [4, 2]
    assert found(candidate="false") == [7, 6, 5, 3, 1]
    assert found() == [7, 6, 5, 4, 3, 2, 1]
    refused = platform.call("GET", path, query={"candidate": "some"})
    assert (refused.status, list(refused.fields)) == (422, ["candidate"])
