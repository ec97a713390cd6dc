"""Versions are promoted by their evidence, and by nothing else."""

from typing import Any

import pytest

from autotune_platform.apprentice.evidence import Evidence, Rules, folded
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.apprentice.versions.repository import VersionRepository
from autotune_platform.storage.table import Table
from tests.support.model_servers import ModelServer
from tests.support.platform import Platform
from tests.support.versions import RULES, TASK, VERSIONS, changed_task, promote, registered, stored


def evidence_of(*scores: float) -> Evidence:
    pairs = (
        Pair(sequence=place, score=score, is_drawn=True, at=0.0)
        for place, score in enumerate(scores, 1)
    )
    return folded(pairs, RULES)


GRADUATED = evidence_of(*[1.0] * 60)


def test_a_version_that_graduated_is_promoted(
    platform: Platform, task: dict[str, Any], table: Table
) -> None:
    registered(platform)
    assert GRADUATED.graduated_at is not None
    stored(table, task["id"], GRADUATED)
    promoted = promote(platform).json["version"]

    assert promoted["canaryAt"] == 60
    assert promoted["promotedBy"] == platform.me()["principalId"]
    assert promote(platform).json["version"] == promoted
    assert platform.call("GET", f"{VERSIONS}/1").json["version"] == promoted


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        (None, "version 1 has no pairs yet, so no evidence"),
        (evidence_of(*[1.0] * 5), "version 1 has not graduated after 5 drawn pairs"),
        (evidence_of(*[1.0] * 60, *[0.0] * 60), "raised an emergency"),
    ],
)
def test_a_version_that_did_not_graduate_is_not_promoted(
    platform: Platform, task: dict[str, Any], table: Table, evidence: Evidence | None, said: str
) -> None:
    registered(platform)
    if evidence is not None:
        stored(table, task["id"], evidence)
    answer = promote(platform)

    assert (answer.status, answer.json["code"]) == (409, "conflict")
    assert said in answer.json["detail"]
    assert platform.call("GET", f"{VERSIONS}/1").json["version"]["canaryAt"] is None


def test_a_version_of_another_definition_is_not_promoted(
    platform: Platform, task: dict[str, Any], table: Table
) -> None:
    registered(platform)
    stored(table, task["id"], GRADUATED)
    changed_task(platform, systemPrompt="Another prompt.")
    answer = promote(platform)

    assert (answer.status, "another definition" in answer.json["detail"]) == (409, True)


def test_evidence_of_other_rules_promotes_nobody(
    platform: Platform, task: dict[str, Any], table: Table
) -> None:
    registered(platform)
    stored(table, task["id"], GRADUATED)
    thresholds = platform.call("GET", TASK).json["task"]["configuration"]["thresholds"]
    changed_task(platform, thresholds={**thresholds, "phase2ToPhase3": 0.95})

    assert promote(platform).status == 503


def test_a_later_version_has_to_show_more(
    platform: Platform, task: dict[str, Any], table: Table, server: ModelServer
) -> None:
    for server.weights in (1, 2):
        registered(platform)
    # By the rules of a first version, which are not those of a second one.
    stored(table, task["id"], GRADUATED, version=2)
    assert promote(platform, 2).status == 503

    rules = Rules(graduation=0.9, coaching=0.8, emergency=0.6, attempt=2)
    pairs = [Pair(sequence=place, score=1.0, is_drawn=True, at=0.0) for place in range(1, 81)]
    stored(table, task["id"], folded(pairs, rules), rules, version=2)
    assert promote(platform, 2).json["version"]["canaryAt"] == 80


def test_a_canary_is_passed_again_after_an_alarm(
    platform: Platform, task: dict[str, Any], table: Table
) -> None:
    registered(platform)
    stored(table, task["id"], GRADUATED)
    promote(platform)
    again = evidence_of(*[1.0] * 60, *[0.7] * 30)
    assert (again.alarms, again.graduated_at, again.emergency_at) == (1, None, None)
    stored(table, task["id"], again)
    assert promote(platform).status == 409
    once_more = evidence_of(*[1.0] * 60, *[0.7] * 30, *[1.0] * 120)
    assert once_more.graduated_at is not None
    stored(table, task["id"], once_more)

    assert promote(platform).json["version"]["canaryAt"] == 210


def test_evidence_that_changes_meanwhile_is_looked_at_again(
    platform: Platform,
    task: dict[str, Any],
    table: Table,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registered(platform)
    stored(table, task["id"], GRADUATED)
    read = VersionRepository.evidence
    alarmed = evidence_of(*[1.0] * 60, *[0.7] * 30)
    later = iter([alarmed])

    def overtaken(repository: VersionRepository, task_id: str, number: int) -> Any:
        item = read(repository, task_id, number)
        for evidence in later:
            stored(table, task_id, evidence)
        return item

    monkeypatch.setattr(VersionRepository, "evidence", overtaken)

    assert promote(platform).status == 409
    assert platform.call("GET", f"{VERSIONS}/1").json["version"]["canaryAt"] is None


def test_what_is_done_with_versions_is_in_the_audit_log(
    platform: Platform, task: dict[str, Any], table: Table
) -> None:
    registered(platform)
    stored(table, task["id"], GRADUATED)
    promote(platform)
    platform.call("POST", f"{VERSIONS}/1/retire")

    entries = platform.call("GET", "/api/v1/audit", query={"limit": "200"}).json["entries"]
    actions = {one["action"]: one for one in entries if "version" in one.get("action", "")}
    assert set(actions) == {
        "register_apprentice_version",
        "promote_apprentice_version",
        "retire_apprentice_version",
    }
