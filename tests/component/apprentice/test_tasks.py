"""Tasks of the apprentice: their configurations are versions, and say what cannot be."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest

from autotune.protocol.apprentice_models import LocalModel, Training
from autotune.protocol.limits import MAX_APPRENTICE_PROMPT_CHARACTERS, MAX_APPRENTICE_PROPERTIES
from autotune_platform.apprentice.configuration.trainable import IDLE_MINUTES, OF_JOBS
from autotune_platform.budgets.money import Halted, MoneyBudgets, NoRoom, Reserved
from autotune_platform.budgets.scopes import MoneyLimits
from autotune_platform.budgets.task_money import TaskMoney, TaskSpend
from autotune_platform.budgets.uses import partition, task_scope
from autotune_platform.runtime import clients
from autotune_platform.storage.cursors import encode_cursor
from autotune_platform.storage.table import Table
from tests.support.apprentice import INPUT_SCHEMA, configuration
from tests.support.killing import Killed, Killer
from tests.support.lambdas import Answer
from tests.support.ledger import Ledger
from tests.support.platform import Platform
from tests.support.tables import items_of_tables
from tests.support.training_jobs import BASE, TYPES, store_base

TASKS = "/api/v1/apprentice/tasks"


@pytest.fixture
def document(ledger: Ledger) -> dict[str, Any]:
    return configuration(ledger.connect())


def put(platform: Platform, name: str, document: Any, **options: Any) -> Answer:
    return platform.call("PUT", f"{TASKS}/{name}", document, **options)


def made(platform: Platform, name: str, document: Any, **options: Any) -> dict[str, Any]:
    answer = put(platform, name, document, **options)
    assert answer.status == 200, answer.text
    task: dict[str, Any] = answer.json["task"]
    return task


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy with a field set, or left out where the value is None."""
    copy = deepcopy(document)
    *parents, last = path.split(".")
    at = copy
    for name in parents:
        at = at[name]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return copy


def read(platform: Platform, path: str, **options: Any) -> Answer:
    return platform.call("GET", f"{TASKS}{path}", **options)


def names(platform: Platform, **query: Any) -> list[str]:
    return [one["name"] for one in read(platform, "", query=query).json["tasks"]]


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


@pytest.mark.parametrize("name", ["Intents", "1st", "_a", "a-b", "a" * 64, "a%23b", "ä"])
def test_a_name_is_lower_case(platform: Platform, document: dict[str, Any], name: str) -> None:
    answer = put(platform, name, document)

    assert (answer.status, answer.json["errors"][0]["field"]) == (422, "name")
    assert read(platform, f"/{name}").status == 404


@pytest.mark.parametrize(
    ("path", "value", "field", "says"),
    [
        ("unknown", 1, "unknown", ""),
        ("remote", None, "remote", ""),
        ("remote.primary.maxOutputTokens", 0, "remote.primary.maxOutputTokens", "1"),
        ("remote.primary.maxRetries", 6, "remote.primary.maxRetries", "5"),
        ("remote.primary.model", "unpriced", "remote.primary.model", "price is known"),
        ("remote.primary.connectionId", "llc_" + "0" * 26, "remote.primary.connectionId", ""),
        ("thresholds.phase1ToPhase2", 49, "thresholds.phase1ToPhase2", "50"),
        ("thresholds.coachingTrigger", 0.9, "thresholds", "coachingTrigger"),
        ("thresholds.emergencyThreshold", 0.8, "thresholds", "emergencyThreshold"),
        ("thresholds.phase2ToPhase3", 1, "thresholds.phase2ToPhase3", "0.999"),
        ("confidence", {"falseAlarmPairs": 99}, "confidence.falseAlarmPairs", "100"),
        ("confidence", {"windowSize": 19}, "confidence.windowSize", "20"),
        ("confidence", {"maxWindowAge": "0d"}, "confidence.maxWindowAge", "7d"),
        ("confidence", {"maxWindowAge": "367d"}, "confidence.maxWindowAge", "year"),
        ("sampling", {"decay": "step"}, "sampling", "steps"),
        (
            "sampling",
            {"decay": "step", "steps": [{"at": 0.5, "rate": 0.1}, {"at": 0.4, "rate": 0.05}]},
            "sampling",
            "grow",
        ),
        ("sampling", {"decay": "linear", "minFloor": 0}, "sampling.minFloor", "0.001"),
        ("budgets", {}, "budgets", "daily"),
        ("budgets", {"daily": 10}, "budgets.daily", "string"),
        ("budgets", {"daily": "1e3"}, "budgets.daily", "digits"),
        ("local", {"backend": "vllm"}, "local", "url"),
        ("local", {"backend": "linear", "url": "http://127.0.0.1:1"}, "local", "url"),
        ("local", {"backend": "sagemaker"}, "local", "hosting"),
        (
            "local",
            {"backend": "ollama", "url": "http://127.0.0.1:9", "gate": "confidence"},
            "local",
            "gate: none, because ollama does not say how sure it is. Possible are: linear: none or",
        ),
        (
            "local",
            {"backend": "sagemaker", "hosting": "inference_component", "gate": "confidence"},
            "local",
            "gate: none, because sagemaker",
        ),
        (
            "local",
            {"backend": "sagemaker", "hosting": "serverless"},
            "local.hosting",
            "serverless is not offered: what jobs train are adapters",
        ),
        ("training", None, "training", "training"),
        ("training.backend", "openai", "training.backend", "of nobody at all from 2027-01-06"),
        ("training.backend", "unsloth", "training.backend", "no image that jobs here run on"),
        ("training.backend", "axolotl", "training.backend", "is registered once vllm, ollama"),
        ("training.backend", "huggingface", "training", "baseModel"),
        ("training.canary", [0.5, 0.25, 1], "training", "canary"),
        ("training.canary", [0.5], "training", "canary"),
        ("training.splitBy", ["intent"], "training.splitBy", "training.splitBy"),
        ("training.holdout", 0.6, "training.holdout", "0.5"),
        ("training.lora", {"r": 12}, "training.lora.r", "8, 16, 32, 64, 128 or 256"),
        ("evaluator.matchFields", ["text"], "evaluator.matchFields", "evaluator.matchFields"),
        ("evaluator.matchFields", ["intent", "intent"], "evaluator.matchFields", "once"),
        ("evaluator", {"type": "custom", "graderId": "grd_" + "0" * 26}, "evaluator.graderId", ""),
        ("evaluator", {"type": "custom", "graderId": "my.module.fn"}, "evaluator", ""),
        ("promptTemplate", "What is it?", "promptTemplate", "promptTemplate"),
        ("sampling.decay", "step", "sampling.steps", "sampling.steps: needed by the decay"),
        ("promptTemplate", "{{text}} {{more}}", "promptTemplate", "promptTemplate"),
        ("inputSchema", {"type": "string"}, "inputSchema", "inputSchema"),
        ("outputSchema.properties.intent", {"type": "strin"}, "outputSchema", ""),
        ("outputSchema.$schema", "http://elsewhere", "outputSchema", "one of"),
    ],
)
def test_what_cannot_be_is_refused_by_field(
    platform: Platform, document: dict[str, Any], path: str, value: Any, field: str, says: str
) -> None:
    answer = put(platform, "intents", changed(document, path, value))

    assert answer.status == 422, answer.text
    problem = answer.json["errors"][0]
    assert problem["field"].startswith(field), answer.text
    assert says in answer.text
    assert names(platform) == []


def test_what_trains_and_what_serves_fit_together(
    platform: Platform, document: dict[str, Any]
) -> None:
    store_base("b")
    document["budgets"]["trainingMonthly"] = "100"
    trained = {"fineTuneBatchSize": 50, "baseModel": "b", "instanceTypes": ["ml.g5.xlarge"]}
    for backend in ("sagemaker", "huggingface"):
        answer = put(platform, "t", changed(document, "training", {**trained, "backend": backend}))
        assert answer.status == 422
        assert "huggingface for sagemaker; linear for linear" in answer.text

        hosted = {"backend": "sagemaker", "hosting": "inference_component"}
        fitting = changed(document, "local", hosted)
        made(platform, backend, changed(fitting, "training", {**trained, "backend": backend}))
    registered = changed(document, "training", None)
    for backend in ("vllm", "ollama", "llama_cpp"):
        served = {"backend": backend, "url": "http://127.0.0.1:9"}
        made(platform, backend, changed(registered, "local", served))


IN_JOBS = {
    "backend": "sagemaker",
    "fineTuneBatchSize": 50,
    "baseModel": BASE,
    "instanceTypes": list(TYPES),
}


@pytest.mark.parametrize(
    ("path", "value", "field", "says"),
    [
        ("budgets.trainingMonthly", None, "budgets.trainingMonthly", "needed where instances"),
        ("budgets.trainingMonthly", "1", "budgets.trainingMonthly", "may cost 3.17"),
        ("training.instanceTypes", ["ml.g5.xlarge", "ml.q1.huge"], None, "no price is known"),
        ("training.instanceTypes", ["ml.m5.xlarge"], None, "has no GPU"),
        ("training.instanceTypes", ["ml.g4dn.xlarge"], None, "has no GPU"),
        ("training.instanceTypes", ["ml.p3.2xlarge"], None, "has no GPU"),
        ("training.baseModel", "../../secrets", None, "such as organization/model"),
        ("training.baseModel", "tiny/bas", None, "no base model tiny/bas is stored here"),
        ("local.hosting", "serverless", None, "inference_component"),
        ("training.backend", "openai", None, "is not offered"),
        ("evaluator", "custom", "evaluator.type", "Possible are: training linear for local linear"),
    ],
)
def test_a_training_in_jobs_that_cannot_work_is_refused_when_its_task_is_put(
    platform: Platform,
    document: dict[str, Any],
    path: str,
    value: Any,
    field: str | None,
    says: str,
) -> None:
    store_base()
    document["training"], document["budgets"]["trainingMonthly"] = IN_JOBS, "10"
    document["local"] = {"backend": "sagemaker", "hosting": "inference_component"}
    if value == "custom":
        body = {"name": "g", "endpoint": "http://127.0.0.1:1"}
        grader_id = platform.call("POST", "/api/v1/graders", body).json["grader"]["id"]
        value = {"type": "custom", "graderId": grader_id}
    answer = put(platform, "intents", changed(document, path, value))

    assert answer.status == 422, answer.text
    assert answer.json["errors"][0]["field"] == (field or path), answer.text
    assert says in answer.text
    assert names(platform) == []
    made(platform, "intents", document)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("training.spot", False),
        ("training.maxRuntimeS", 3_600),
        ("training.lora", {"r": 8}),
        ("local.idleMinutes", 5),
    ],
)
def test_a_key_that_would_do_nothing_is_refused(
    platform: Platform, document: dict[str, Any], path: str, value: Any
) -> None:
    answer = put(platform, "intents", changed(document, path, value))

    assert answer.status == 422, answer.text
    assert answer.json["errors"][0]["field"] == path
    assert "leave it out" in answer.text
    # What is read is put again as it is, with all that nobody wrote.
    task = made(platform, "intents", document)
    assert made(platform, "intents", task["configuration"])["version"] == 1
    unloaded = changed(document, "local", {"backend": "ollama", "url": "http://127.0.0.1:9"})
    registered = changed(unloaded, "training", None)
    made(platform, "ollama", changed(registered, "local.idleMinutes", 5))


def test_what_nobody_says_of_jobs_is_what_the_protocol_has() -> None:
    linear = Training.model_validate({"backend": "linear", "fineTuneBatchSize": 50})
    said = linear.model_dump(mode="json", by_alias=True)
    assert {name: said[name] for name in OF_JOBS} == OF_JOBS
    assert LocalModel.model_validate({"backend": "linear"}).idle_minutes == IDLE_MINUTES


def test_properties_are_few(platform: Platform, document: dict[str, Any]) -> None:
    many = {f"f{place}": {} for place in range(MAX_APPRENTICE_PROPERTIES + 1)}

    answer = put(platform, "t", changed(document, "outputSchema.properties", many))

    assert answer.status == 422
    assert f"at most {MAX_APPRENTICE_PROPERTIES} properties" in answer.text


@pytest.mark.parametrize("name", ["order-id", "größe", "a.b", "1x", "x" * 65])
def test_a_property_that_no_prompt_can_name_is_refused_for_its_name(
    platform: Platform, document: dict[str, Any], name: str
) -> None:
    schema = {"type": "object", "properties": {name: {"type": "string"}}}
    asked = {**document, "inputSchema": schema, "promptTemplate": f"Say. {{{{{name}}}}}"}
    answer = put(platform, "t", asked)

    assert answer.status == 422
    assert "inputSchema: properties named by up to 64 letters, digits and _" in answer.text
    assert repr(name[:100]) in answer.json["detail"]


def test_an_additional_model_is_another_one(platform: Platform, document: dict[str, Any]) -> None:
    primary = document["remote"]["primary"]

    answer = put(platform, "t", changed(document, "remote.additional", [primary]))

    assert (answer.status, "each once" in answer.text) == (422, True)


def test_a_registered_grader_may_be_the_evaluator(
    platform: Platform, document: dict[str, Any]
) -> None:
    body = {"name": "g", "endpoint": "http://127.0.0.1:1"}
    grader_id = platform.call("POST", "/api/v1/graders", body).json["grader"]["id"]

    custom = changed(document, "evaluator", {"type": "custom", "graderId": grader_id})
    served = {"backend": "vllm", "url": "http://127.0.0.1:9"}
    registered = changed(changed(custom, "local", served), "training", None)
    assert made(platform, "t", registered)["version"] == 1


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


def money() -> MoneyBudgets:
    return MoneyBudgets(
        table=Table("budgets", clients.dynamodb()), outbox=Table("ledger", clients.dynamodb())
    )


def scope_of(platform: Platform, task: dict[str, Any]) -> str:
    return task_scope(platform.me()["organizationId"], task["id"])


def limits_shown(task: dict[str, Any]) -> dict[str, int | None]:
    return {one["period"]: one["limitNanoUsd"] for one in task["spend"]["periods"]}


def reserve(scope: str, amount: int) -> Reserved | NoRoom | Halted | None:
    return money().reserve([scope], amount, lambda _: [])


def test_budgets_are_the_limits_of_the_tasks_own_scope(
    platform: Platform, document: dict[str, Any]
) -> None:
    both = changed(document, "budgets", {"daily": "0.5", "monthly": "10"})
    task = made(platform, "intents", both)
    assert limits_shown(task) == {"day": 500_000_000, "week": None, "month": 10_000_000_000}
    scope = scope_of(platform, task)
    reserved = reserve(scope, 200_000_000)
    assert isinstance(reserved, Reserved)
    assert isinstance(reserve(scope, 300_000_001), NoRoom)
    end = money().settlement([scope], reserved.periods, reserved=200_000_000, spent=50_000_000)
    assert money().table.add_together(end)
    assert isinstance(reserve(scope, 400_000_000), Reserved)
    day, week, month = read(platform, "/intents").json["task"]["spend"]["periods"]
    assert (day["spentNanoUsd"], day["reservedNanoUsd"]) == (50_000_000, 400_000_000)
    assert (week["spentNanoUsd"], month["reservedNanoUsd"]) == (50_000_000, 400_000_000)
    # What a later configuration leaves out is no limit any more.
    task = made(platform, "intents", changed(both, "budgets", {"weekly": "2"}))
    assert limits_shown(task) == {"day": None, "week": 2_000_000_000, "month": None}
    assert read(platform, "/intents").json["task"] == task


def test_no_task_is_there_without_its_limits_wherever_a_put_is_killed(
    platform: Platform, document: dict[str, Any]
) -> None:
    killer = Killer()
    for after in range(40):
        killer.kill("before-call", after=after)
        answered = None
        with suppress(Killed):
            answered = put(platform, "intents", document)
        killer.spare()
        found = read(platform, "/intents")
        if found.status == 200:
            assert limits_shown(found.json["task"])["day"] == 10_000_000_000
        if answered is not None and answered.status == 200:
            break
    else:
        raise AssertionError("it never ended")
    # Limits of an earlier configuration do not come after those of a later one.
    made(platform, "intents", changed(document, "budgets.daily", "20"))
    task = made(platform, "intents", changed(document, "budgets.daily", "30"))
    owner = platform.me()["organizationId"]
    late = TaskMoney(money=money())
    spend = late.put(owner, task["id"], MoneyLimits(day=1), name="intents", version=2)
    assert spend.uses[0].limit == 30_000_000_000
    assert limits_shown(read(platform, "/intents").json["task"])["day"] == 30_000_000_000


def test_limits_that_come_late_do_not_replace_the_same_ones_as_before(
    platform: Platform, document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = made(platform, "intents", document)
    with monkeypatch.context() as slow:
        # Whoever put the second one hangs before it sets limits.
        slow.setattr(TaskMoney, "put", lambda self, *_, **__: TaskSpend([]))
        assert made(platform, "intents", changed(document, "budgets.daily", "20"))["version"] == 2
    assert made(platform, "intents", document)["version"] == 3

    late, owner = TaskMoney(money=money()), platform.me()["organizationId"]
    late.put(owner, task["id"], MoneyLimits(day=20 * 10**9), name="intents", version=2)

    assert limits_shown(read(platform, "/intents").json["task"])["day"] == 10_000_000_000


def test_a_budget_that_differs_lifts_a_halt_and_the_same_does_not(
    platform: Platform, document: dict[str, Any]
) -> None:
    task = made(platform, "intents", document)
    scope = scope_of(platform, task)
    reserved = reserve(scope, 10)
    assert isinstance(reserved, Reserved)
    end = money().settlement([scope], reserved.periods, reserved=10, spent=11, row_id="llm_1")
    assert money().table.add_together(end)
    for put_again in (document, changed(document, "thresholds.phase2ToPhase3", 0.95)):
        task = made(platform, "intents", put_again)
        spend = task["spend"]
        assert (spend["haltedBecause"], spend["haltedBy"]) == ("above_bound", "llm_1")
        assert reserve(scope, 1) == Halted(scope, "above_bound", "llm_1")
    task = made(platform, "intents", changed(document, "budgets.daily", "10.01"))
    assert (task["spend"]["haltedBecause"], task["spend"]["haltedBy"]) == (None, None)
    assert isinstance(reserve(scope, 1), Reserved)


def test_nothing_is_paid_for_a_deleted_task_and_what_is_under_way_is_settled(
    platform: Platform, document: dict[str, Any]
) -> None:
    task = made(platform, "intents", document)
    scope = scope_of(platform, task)
    reserved = reserve(scope, 10)
    assert isinstance(reserved, Reserved)
    assert platform.call("DELETE", f"{TASKS}/intents").status == 204
    assert reserve(scope, 1) == Halted(scope, "deleted", None)
    end = money().settlement([scope], reserved.periods, reserved=10, spent=7)
    assert money().table.add_together(end)
    left = money().table.get(partition(scope), "limits") or {}
    assert left["expires_at"] > 0
    assert not {"task_name", "day"} & set(left)
    assert [value for name, value in left.items() if name.startswith("committed#")] == [7] * 3
    again = made(platform, "intents", document)
    assert again["id"] != task["id"]
    assert [one["spentNanoUsd"] for one in again["spend"]["periods"]] == [0] * 3


def test_word_of_a_tasks_budget_has_its_name(platform: Platform, document: dict[str, Any]) -> None:
    task = made(platform, "intents", changed(document, "budgets", {"daily": "0.000001"}))
    scope = scope_of(platform, task)
    assert isinstance(reserve(scope, 900), Reserved)
    refused = reserve(scope, 900)
    assert isinstance(refused, NoRoom)
    for _ in range(2):
        money().announce(refused)
    told = {
        one["type"]["S"]: json.loads(one["data"]["S"])
        for one in items_of_tables()["ledger"]
        if one["sk"]["S"].startswith("event#")
    }
    assert set(told) == {"budget.warning", "budget.exhausted"}
    for data in told.values():
        assert (data["scope"], data["taskId"]) == ("apprentice_task", task["id"])
        assert (data["taskName"], data["limitNanoUsd"]) == ("intents", 1_000)


def test_the_longest_prompts_are_stored_whatever_they_are_made_of(
    platform: Platform, document: dict[str, Any]
) -> None:
    prompt = "\U0001f600" * (MAX_APPRENTICE_PROMPT_CHARACTERS - 10)
    document |= {"systemPrompt": prompt, "promptTemplate": prompt + "{{text}}"}

    configured = made(platform, "intents", document)["configuration"]

    assert configured["systemPrompt"] == prompt
    assert put(platform, "intents", document).json["task"]["version"] == 1


@pytest.mark.parametrize("field", ["inputSchema", "outputSchema"])
@pytest.mark.parametrize("more", [{"title": "\ud800"}, {"$defs": {"\udfff": {}}}])
def test_a_schema_is_of_text_that_every_store_can_hold(
    platform: Platform, document: dict[str, Any], field: str, more: dict[str, Any]
) -> None:
    answer = put(platform, "intents", document | {field: document[field] | more})

    assert (answer.status, answer.json["errors"][0]["field"]) == (422, field)
    assert "UTF-8" in answer.json["errors"][0]["expected"]
