"""Tasks of the apprentice: their configurations are versions."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from autotune.protocol.limits import MAX_APPRENTICE_PROMPT_CHARACTERS
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.storage.table import Table
from tests.support.apprentice import INPUT_SCHEMA
from tests.support.apprentice_tasks import TASKS, changed, made, names, put, read
from tests.support.platform import Platform


def test_a_task_is_kept_with_all_defaults(platform: Platform, document: dict[str, Any]) -> None:
    task = made(platform, "intents", document)

    assert (task["name"], task["version"]) == ("intents", 1)
    kept = task["configuration"]
    assert kept["promptTemplate"] == document["promptTemplate"]
    assert kept["inputSchema"] == INPUT_SCHEMA
    assert kept["remote"]["primary"]["maxRetries"] == 2
    assert kept["confidence"] == {
        "windowSize": 100,
        "trendSensitivity": 0.1,
        "maxWindowAge": "7d",
        "alpha": 0.05,
        "falseAlarmPairs": 1000,
    }
    assert kept["training"]["canary"] == [0.25, 1]
    assert read(platform, "/intents").json["task"] == task
    (listed,) = read(platform, "").json["tasks"]
    assert listed == {
        name: task[name]
        for name in ("id", "name", "version", "definitionHash", "createdAt", "updatedAt")
    } | {"description": document["description"]}


def test_the_same_again_is_no_version(platform: Platform, document: dict[str, Any]) -> None:
    first = made(platform, "intents", document)

    assert made(platform, "intents", document) == first
    # With its defaults written out it is the same, too.
    assert made(platform, "intents", first["configuration"]) == first


@pytest.mark.parametrize(
    ("path", "value", "begins_anew"),
    [
        ("systemPrompt", "Another prompt.", True),
        ("promptTemplate", "Another question: {{text}}", True),
        ("outputSchema.required", ["intent", "reason"], True),
        ("evaluator", {"type": "exact_match"}, True),
        ("remote.primary.maxOutputTokens", 60, True),
        ("description", "Another description.", False),
        ("budgets.daily", "20", False),
        ("thresholds.phase2ToPhase3", 0.95, False),
        ("sampling.minFloor", 0.05, False),
        ("remote.primary.timeoutS", 30, False),
    ],
)
def test_evidence_begins_anew_where_what_it_rests_on_changes(
    platform: Platform, document: dict[str, Any], path: str, value: Any, begins_anew: bool
) -> None:
    first = made(platform, "intents", document)
    second = made(platform, "intents", changed(document, path, value))

    assert second["version"] == 2
    assert (second["definitionHash"] != first["definitionHash"]) == begins_anew
    assert (second["id"], second["createdAt"]) == (first["id"], first["createdAt"])


def test_the_order_of_keys_is_no_difference(platform: Platform, document: dict[str, Any]) -> None:
    first = made(platform, "intents", document)
    turned = dict(reversed(document.items()))
    turned["outputSchema"] = dict(reversed(document["outputSchema"].items()))

    assert made(platform, "intents", turned)["version"] == first["version"]


def test_versions_are_kept_newest_first(platform: Platform, document: dict[str, Any]) -> None:
    for daily in ("1", "2", "3"):
        made(platform, "intents", changed(document, "budgets.daily", daily))

    path = "/intents/configurations"
    page = read(platform, path, query={"limit": 2}).json
    rest = read(platform, path, query={"limit": 2, "nextToken": page["nextToken"]}).json
    found = page["configurations"] + rest["configurations"]
    assert [one["version"] for one in found] == [3, 2, 1]
    assert [one["configuration"]["budgets"]["daily"] for one in found] == ["3", "2", "1"]
    assert read(platform, f"{path}/2").json["configuration"] == found[1]
    assert read(platform, f"{path}/4").status == 404
    assert read(platform, f"{path}/0").status == 422
    assert read(platform, path, query={"nextToken": "bad"}).status == 422


@pytest.mark.parametrize("last", ["9" * 5_000, "a" * 2_000, "-1", "A"])
def test_a_token_of_no_list_is_refused(
    platform: Platform, document: dict[str, Any], last: str
) -> None:
    made(platform, "intents", document)

    for path in ("", "/intents/configurations"):
        answer = read(platform, path, query={"nextToken": encode_cursor(last)})
        assert (answer.status, answer.json["errors"][0]["field"]) == (422, "nextToken")


def test_tasks_are_listed_by_name_and_by_pages(
    platform: Platform, document: dict[str, Any]
) -> None:
    for name in ("b", "c", "a"):
        made(platform, name, document)

    page = read(platform, "", query={"limit": 2}).json
    rest = read(platform, "", query={"limit": 2, "nextToken": page["nextToken"]}).json
    assert [one["name"] for one in page["tasks"] + rest["tasks"]] == ["a", "b", "c"]


def test_the_same_name_of_others_is_another_task(
    platform: Platform, document: dict[str, Any]
) -> None:
    made(platform, "intents", document)
    other = platform.new_organization("second")

    assert read(platform, "/intents", api_key=other).status == 404
    assert read(platform, "", api_key=other).json["tasks"] == []
    answer = put(platform, "intents", document, api_key=other)
    assert (answer.status, answer.json["errors"][0]["field"]) == (
        422,
        "remote.primary.connectionId",
    )
    assert platform.call("DELETE", f"{TASKS}/intents", api_key=other).status == 404


def test_a_registered_grader_may_be_the_evaluator(
    platform: Platform, document: dict[str, Any]
) -> None:
    body = {"name": "g", "endpoint": "http://127.0.0.1:1"}
    grader_id = platform.call("POST", "/api/v1/graders", body).json["grader"]["id"]

    custom = changed(document, "evaluator", {"type": "custom", "graderId": grader_id})
    served = {"backend": "vllm", "url": "http://127.0.0.1:9"}
    registered = changed(changed(custom, "local", served), "training", None)
    assert made(platform, "t", registered)["version"] == 1


@pytest.mark.concurrent
def test_those_who_change_a_task_at_the_same_time_each_make_a_version(
    platform: Platform, document: dict[str, Any]
) -> None:
    def one(number: int) -> int:
        return int(made(platform, "t", changed(document, "budgets.daily", str(number)))["version"])

    with ThreadPoolExecutor(4) as threads:
        versions = list(threads.map(one, range(1, 9)))

    assert sorted(versions) == list(range(1, 9))
    found = read(platform, "/t/configurations").json["configurations"]
    assert [one["version"] for one in found] == list(range(8, 0, -1))


def test_an_organization_has_so_many_tasks(
    platform: Platform, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "autotune_platform.apprentice.configuration.repository.MAX_APPRENTICE_TASKS"
    monkeypatch.setattr(path, 2)
    for name in ("a", "b"):
        made(platform, name, document)

    answer = put(platform, "c", document)
    assert (answer.status, answer.json["limit"]["maximum"]) == (409, 2)
    assert platform.call("DELETE", f"{TASKS}/a").status == 204
    made(platform, "c", document)


def test_a_task_has_so_many_configurations(
    platform: Platform, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "autotune_platform.apprentice.configuration.service.MAX_APPRENTICE_CONFIGURATIONS"
    monkeypatch.setattr(path, 1)
    made(platform, "a", document)

    answer = put(platform, "a", changed(document, "budgets.daily", "1"))
    assert (answer.status, answer.json["limit"]["name"]) == (409, "configurations")
    assert made(platform, "a", document)["version"] == 1


def test_what_is_deleted_is_gone_and_its_name_free(
    platform: Platform, document: dict[str, Any]
) -> None:
    before = made(platform, "t", document)

    assert platform.call("DELETE", f"{TASKS}/t").status == 204
    assert read(platform, "/t").status == 404
    assert read(platform, "/t/configurations").status == 404
    assert names(platform) == []
    assert platform.call("DELETE", f"{TASKS}/t").status == 404
    after = made(platform, "t", document)
    assert (after["version"], after["id"] == before["id"]) == (1, False)


@pytest.mark.parametrize("again", ["DELETE", "PUT"])
def test_a_deletion_that_was_killed_goes_on(
    platform: Platform, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, again: str
) -> None:
    for daily in ("1", "2"):
        made(platform, "t", changed(document, "budgets.daily", daily))
    delete, calls = Table.delete, []

    def killed(table: Table, pk: str, sk: str) -> None:
        calls.append(sk)
        if len(calls) == 2:
            raise KeyboardInterrupt
        delete(table, pk, sk)

    monkeypatch.setattr(Table, "delete", killed)
    with pytest.raises(KeyboardInterrupt):
        platform.call("DELETE", f"{TASKS}/t")
    monkeypatch.setattr(Table, "delete", delete)

    # Nobody sees half a task.
    assert read(platform, "/t").status == 404
    assert names(platform) == []
    if again == "PUT":
        assert made(platform, "t", document)["version"] == 1
        assert names(platform) == ["t"]
    else:
        assert platform.call("DELETE", f"{TASKS}/t").status == 204
        assert platform.call("DELETE", f"{TASKS}/t").status == 404


def test_the_longest_prompts_are_stored_whatever_they_are_made_of(
    platform: Platform, document: dict[str, Any]
) -> None:
    prompt = "\U0001f600" * (MAX_APPRENTICE_PROMPT_CHARACTERS - 10)
    document |= {"systemPrompt": prompt, "promptTemplate": prompt + "{{text}}"}

    configured = made(platform, "intents", document)["configuration"]

    assert configured["systemPrompt"] == prompt
    assert put(platform, "intents", document).json["task"]["version"] == 1
