"""Versions of small models: what a server lists is registered, and evidence says who may serve."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.versions.repository import VersionRepository
from autotune_platform.storage.table import Table
from tests.support.killing import Killed, Killer
from tests.support.ledger import Ledger
from tests.support.model_servers import LlamaCpp, ModelServer, Ollama, Vllm, replying, serving
from tests.support.platform import Platform
from tests.support.versions import TASK, VERSIONS, changed_task, configured, register, registered

SERVERS = {"vllm": Vllm, "llama_cpp": LlamaCpp, "ollama": Ollama}


def numbers(platform: Platform, **query: Any) -> list[int]:
    return [one["number"] for one in platform.call("GET", VERSIONS, query=query).json["versions"]]


@pytest.mark.parametrize("backend", list(SERVERS))
def test_a_model_that_is_served_is_registered(
    platform: Platform, ledger: Ledger, backend: str
) -> None:
    name = "intents:1" if backend == "ollama" else "intents-1"
    with serving(SERVERS[backend](model=name)) as server:
        task = configured(platform, ledger, backend, server.url)
        version = registered(platform, name)

    created_at, digest = version.pop("createdAt"), version.pop("digest")
    assert created_at
    assert digest.startswith("sha256:")
    assert version == {
        "number": 1,
        "definitionHash": task["definitionHash"],
        "isOfPresentDefinition": True,
        "backend": backend,
        "model": name,
        "state": "hosted",
        "needsGate": False,
        "wasCanary": False,
        "changes": [],
        "createdBy": platform.me()["principalId"],
        **dict.fromkeys(["gate", "canaryAt", "promotedAt", "promotedBy", "retiredAt", "retiredBy"]),
    }
    assert platform.call("GET", f"{VERSIONS}/1").json["version"]["digest"] == digest
    assert server.asked == []


def test_the_same_model_is_the_same_version(platform: Platform, task: dict[str, Any]) -> None:
    first = registered(platform)

    assert registered(platform) == first
    assert numbers(platform) == [1]


def test_a_model_that_was_replaced_is_another_version(
    platform: Platform, task: dict[str, Any], server: ModelServer
) -> None:
    first = registered(platform)
    server.weights += 1
    second = registered(platform)

    assert (first["model"], second["number"]) == (second["model"], 2)
    assert first["digest"] != second["digest"]
    assert numbers(platform) == [2, 1]


def test_a_changed_definition_has_versions_of_its_own(
    platform: Platform, task: dict[str, Any]
) -> None:
    registered(platform)
    changed_task(platform, systemPrompt="Another prompt.")
    second = registered(platform)

    assert (second["number"], second["isOfPresentDefinition"]) == (2, True)
    first = platform.call("GET", f"{VERSIONS}/1").json["version"]
    assert first["isOfPresentDefinition"] is False
    changed_task(platform, description="The same definition.")
    assert registered(platform) == second


def test_a_retired_version_is_not_taken_up_again(platform: Platform, task: dict[str, Any]) -> None:
    registered(platform)
    assert platform.call("POST", f"{VERSIONS}/1/retire").status == 200

    assert registered(platform)["number"] == 2


def test_versions_come_in_pages(
    platform: Platform, task: dict[str, Any], server: ModelServer
) -> None:
    for server.weights in (1, 2, 3):
        registered(platform)

    page = platform.call("GET", VERSIONS, query={"limit": "2"}).json
    assert [one["number"] for one in page["versions"]] == [3, 2]
    query = {"limit": "2", "nextToken": page["nextToken"]}
    assert numbers(platform, **query) == [1]
    refused = platform.call("GET", VERSIONS, query={"nextToken": "bm9uZQ"})
    assert refused.status == 422


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": "another"}, "it does not list intents-1; it lists another, base"),
        ({"listing_fault": replying(status=503)}, "at local.url: it answered 503"),
        ({"listing_fault": replying(status=500)}, "cannot be asked: it answered 500"),
        ({"listing_fault": replying(status=302)}, "it redirects (302), which is not followed"),
        ({"listing_fault": replying(body=b"<html>")}, "no JSON"),
        ({"listing_fault": replying(body=b"{}")}, "its list of models has another form"),
        ({"listing_fault": replying(drops=True)}, "it cannot be reached"),
    ],
)
def test_what_the_server_does_not_list_is_refused_with_the_field(
    platform: Platform,
    task: dict[str, Any],
    server: ModelServer,
    changes: dict[str, Any],
    said: str,
) -> None:
    for name, value in changes.items():
        setattr(server, name, value)
    answer = register(platform)

    assert answer.status == 422
    assert said in answer.json["detail"]
    (error,) = answer.json["errors"]
    assert (error["field"], "lists" in error["expected"]) == ("model", True)
    assert numbers(platform) == []


def test_a_server_that_hangs_holds_nobody_up_for_long(
    platform: Platform,
    task: dict[str, Any],
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("autotune_platform.apprentice.versions.service._LOOK_SECONDS", 0.2)
    server.listing_fault = replying(drip_seconds=0.05)
    answer = register(platform)

    assert (answer.status, "in time" in answer.json["detail"]) == (422, True)


@pytest.mark.parametrize("model", ["", "a" * 501, "a\nb", " a", "é", 5, None])
def test_a_name_that_cannot_be_is_refused(
    platform: Platform, task: dict[str, Any], server: ModelServer, model: Any
) -> None:
    answer = register(platform, model)

    assert answer.status == 422
    assert answer.json["errors"][0]["field"] == "model"
    assert server.looked == []


def test_versions_that_are_trained_are_not_registered(platform: Platform, ledger: Ledger) -> None:
    training = {"backend": "linear", "fineTuneBatchSize": 50}
    configured(platform, ledger, "linear", None, training=training)
    answer = register(platform)

    assert (answer.status, answer.json["code"]) == (409, "conflict")
    assert "local.backend is linear" in answer.json["detail"]


def test_a_task_has_so_many_versions(
    platform: Platform,
    task: dict[str, Any],
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = "autotune_platform.apprentice.versions.service.MAX_APPRENTICE_VERSIONS"
    monkeypatch.setattr(path, 2)
    for server.weights in (1, 2):
        registered(platform)
    server.weights = 3
    answer = register(platform)

    assert (answer.status, answer.json["limit"]["name"]) == (409, "versions")
    assert answer.json["limit"]["maximum"] == 2
    server.weights = 2
    assert registered(platform)["number"] == 2


def test_there_is_no_version_of_no_task(platform: Platform, task: dict[str, Any]) -> None:
    for path in (f"{VERSIONS}/1", "/api/v1/apprentice/tasks/none/versions"):
        assert platform.call("GET", path).status == 404
    for verb in ("promote", "retire"):
        assert platform.call("POST", f"{VERSIONS}/1/{verb}").status == 404
    none = platform.call("POST", "/api/v1/apprentice/tasks/none/versions", {"model": "m"})
    assert none.status == 404
    assert platform.call("GET", f"{VERSIONS}/201").status == 422


@pytest.mark.concurrent
def test_those_who_register_at_the_same_time_make_one_version(
    platform: Platform, task: dict[str, Any]
) -> None:
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: register(platform), range(4)))

    assert [one.json["version"]["number"] for one in found] == [1, 1, 1, 1]
    assert numbers(platform) == [1]


def test_a_version_is_not_stored_for_a_task_that_changed_or_went(
    platform: Platform, task: dict[str, Any], table: Table
) -> None:
    registered(platform)
    organization_id = platform.me()["organizationId"]
    tasks, versions = TaskRepository(table), VersionRepository(table)
    before = tasks.find(organization_id, "intents")
    (version,) = versions.all_of(task["id"])
    assert before is not None

    changed_task(platform, description="Another.")
    assert versions.add(before, version.model_copy(update={"number": 2})) is False
    assert platform.call("DELETE", TASK).status == 204
    assert versions.add(before, version.model_copy(update={"number": 2})) is False
    assert list(table.items(task["id"])) == []


def test_of_two_who_write_the_same_version_one_does(
    platform: Platform, task: dict[str, Any], table: Table
) -> None:
    registered(platform)
    tasks, versions = TaskRepository(table), VersionRepository(table)
    kept = tasks.find(platform.me()["organizationId"], "intents")
    (version,) = versions.all_of(task["id"])
    assert kept is not None

    assert versions.add(kept, version.model_copy(update={"model": "another"})) is False
    retired = {"state": "retired", "retired_at": version.created_at, "retired_by": "a"}
    assert versions.retire(version.model_copy(update=retired)) is True
    assert versions.retire(version.model_copy(update={**retired, "retired_by": "b"})) is False
    (after,) = versions.all_of(task["id"])
    assert (after.model, after.retired_by) == ("intents-1", "a")


def test_a_registration_that_is_killed_leaves_a_version_or_none(
    platform: Platform, task: dict[str, Any]
) -> None:
    killer = Killer()
    for moment in ("before-call", "after-call"):
        for after in range(12):
            killer.kill(moment, after=after)
            try:
                register(platform)
            except Killed:
                killer.spare()
                assert numbers(platform) in ([], [1])
                continue
            break
    killer.spare()

    assert registered(platform)["number"] == 1
    assert numbers(platform) == [1]


def test_retiring_is_for_good_and_done_once(platform: Platform, task: dict[str, Any]) -> None:
    registered(platform)
    first = platform.call("POST", f"{VERSIONS}/1/retire").json["version"]

    assert first["state"] == "retired"
    assert first["retiredBy"] == platform.me()["principalId"]
    assert platform.call("POST", f"{VERSIONS}/1/retire").json["version"] == first
    assert platform.call("GET", f"{VERSIONS}/1").json["version"] == first
    answer = platform.call("POST", f"{VERSIONS}/1/promote")
    assert (answer.status, answer.json["detail"]) == (409, "version 1 is retired")


def test_versions_go_with_their_task(
    platform: Platform, task: dict[str, Any], server: ModelServer, table: Table
) -> None:
    for server.weights in (1, 2):
        registered(platform)

    assert platform.call("DELETE", TASK).status == 204
    assert list(table.items(task["id"])) == []
