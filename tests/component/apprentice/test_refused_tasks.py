"""Configurations that cannot be are refused by field."""

from typing import Any

import pytest

from autotune.protocol.apprentice_models import LocalModel, Training
from autotune.protocol.limits import MAX_APPRENTICE_PROPERTIES
from autotune_platform.apprentice.configuration.trainable import IDLE_MINUTES, OF_JOBS
from tests.support.apprentice_tasks import changed, made, names, put, read
from tests.support.platform import Platform
from tests.support.training_jobs import BASE, TYPES, store_base


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


@pytest.mark.parametrize("field", ["inputSchema", "outputSchema"])
@pytest.mark.parametrize("more", [{"title": "\ud800"}, {"$defs": {"\udfff": {}}}])
def test_a_schema_is_of_text_that_every_store_can_hold(
    platform: Platform, document: dict[str, Any], field: str, more: dict[str, Any]
) -> None:
    answer = put(platform, "intents", document | {field: document[field] | more})

    assert (answer.status, answer.json["errors"][0]["field"]) == (422, field)
    assert "UTF-8" in answer.json["errors"][0]["expected"]
