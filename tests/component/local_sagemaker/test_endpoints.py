"""Endpoints are hosts that answer, and what becomes of them is what SageMaker says."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from botocore.exceptions import ClientError

from local.endpoint import ACCOUNT
from local.sagemaker import hosts
from local.sagemaker.faults import Kind
from tests.support.local_sagemaker import (
    INSTANCE,
    ROLE,
    an_hour_later,
    is_alive,
    until,
    variant,
)


def test_a_host_answers_what_its_script_says(lab):
    lab.config("answers", variant(lab.model("answers")))
    described = lab.endpoint("answers", "answers")
    assert described["EndpointStatus"] == "InService"
    [served] = described["ProductionVariants"]
    assert (served["CurrentInstanceCount"], served["CurrentWeight"]) == (1, 1.0)

    answer = lab.runtime.invoke_endpoint(
        EndpointName="answers", Body=b'{"text": "hi"}', ContentType="application/json"
    )
    assert json.loads(answer["Body"].read()) == {"model": "answers", "data": {"text": "hi"}}
    assert answer["InvokedProductionVariant"] == "all"
    assert answer["ContentType"] == "application/json"


def test_a_host_that_fails_is_424_with_what_it_said(lab):
    lab.config("failing", variant(lab.model("failing")))
    lab.endpoint("failing", "failing")
    with pytest.raises(lab.runtime.exceptions.ModelError) as failed:
        lab.ask("failing", '"raise"')
    assert failed.value.response["OriginalStatusCode"] == 500
    assert failed.value.response["OriginalMessage"] == "ValueError: told to"
    assert failed.value.response["ResponseMetadata"]["HTTPStatusCode"] == 424
    assert "told to" in (lab.directory / "logs" / "failing.log").read_text()
    # It still answers.
    assert json.loads(lab.ask("failing", "1"))["data"] == 1


def test_a_host_whose_process_ends_is_started_again(lab):
    lab.config("mortal", variant(lab.model("mortal")))
    lab.endpoint("mortal", "mortal")
    with pytest.raises(lab.runtime.exceptions.ModelError) as failed:
        lab.ask("mortal", '"exit"')
    assert failed.value.response["OriginalStatusCode"] == 0

    def answers():
        try:
            return lab.ask("mortal", "1")
        except lab.runtime.exceptions.ModelError:
            return None

    assert json.loads(until(answers))["data"] == 1


@pytest.mark.parametrize("existing", [None, "other"])
def test_nobody_answers_for_an_endpoint_that_is_not_there(lab, existing):
    with pytest.raises(lab.runtime.exceptions.ValidationError, match="not found"):
        lab.ask("nowhere", "1")
    with pytest.raises(ClientError, match=f"{ACCOUNT}:endpoint/nowhere") as missing:
        lab.sagemaker.describe_endpoint(EndpointName="nowhere")
    assert missing.value.response["Error"]["Code"] == "ValidationException"


def test_variants_share_by_weight_and_can_be_named(lab):
    models = [lab.model("heavy"), lab.model("idle")]
    lab.config(
        "shared",
        variant(models[0], "heavy", InitialVariantWeight=1),
        variant(models[1], "idle", InitialVariantWeight=0),
    )
    lab.endpoint("shared", "shared")
    asked = Counter(json.loads(lab.ask("shared", "1"))["model"] for _ in range(20))
    assert asked == {"heavy": 20}
    assert json.loads(lab.ask("shared", "1", TargetVariant="idle"))["model"] == "idle"
    with pytest.raises(lab.runtime.exceptions.ValidationError, match="Variant other"):
        lab.ask("shared", "1", TargetVariant="other")


def test_an_update_answers_throughout(lab):
    lab.config("before", variant(lab.model("before"), InitialVariantWeight=3))
    lab.config("after", variant(lab.model("after")))
    lab.endpoint("updated", "before")
    lab.sagemaker.update_endpoint(
        EndpointName="updated",
        EndpointConfigName="after",
        RetainAllVariantProperties=True,
        ExcludeRetainedVariantProperties=[{"VariantPropertyType": "DesiredInstanceCount"}],
    )
    said = until(
        lambda: (
            (
                (at := lab.sagemaker.describe_endpoint(EndpointName="updated"))["EndpointStatus"]
                == "InService"
                and at
            )
            or lab.ask("updated", "1") is None
        )
    )
    assert said["EndpointConfigName"] == "after"
    assert said["ProductionVariants"][0]["CurrentWeight"] == 3.0
    assert json.loads(lab.ask("updated", "1"))["model"] == "after"


def test_an_update_that_fails_leaves_what_was_there(lab):
    lab.config("good", variant(lab.model("good")))
    lab.config("bad", variant(lab.model("bad", script="raise ImportError('no torch')")))
    lab.endpoint("kept", "good")
    lab.sagemaker.update_endpoint(EndpointName="kept", EndpointConfigName="bad")
    described = lab.settled("kept")
    assert described["EndpointConfigName"] == "good"
    assert "ping health check" in described["FailureReason"]
    assert json.loads(lab.ask("kept", "1"))["model"] == "good"
    lab.plant(Kind.CAPACITY, operation="UpdateEndpoint")
    lab.sagemaker.update_endpoint(EndpointName="kept", EndpointConfigName="good")
    assert "InsufficientInstanceCapacity" in lab.settled("kept")["FailureReason"]


def test_an_endpoint_without_its_artifact_or_its_capacity_fails(lab):
    lab.sagemaker.create_model(
        ModelName="lost", PrimaryContainer={"Image": "x", "ModelDataUrl": "s3://models/none.tar.gz"}
    )
    lab.config("lost", variant("lost"))
    described = lab.endpoint("lost", "lost")
    assert described["EndpointStatus"] == "Failed"
    assert "Failed to download model data" in described["FailureReason"]

    lab.plant(Kind.CAPACITY, operation="CreateEndpoint", name="crowded")
    assert "InsufficientInstanceCapacity" in lab.endpoint("crowded", "lost")["FailureReason"]
    lab.plant(Kind.RESOURCE_LIMIT, operation="CreateEndpoint")
    with pytest.raises(lab.sagemaker.exceptions.ResourceLimitExceeded, match=INSTANCE):
        lab.sagemaker.create_endpoint(EndpointName="limited", EndpointConfigName="lost")
    lab.plant(Kind.REFUSED, operation="CreateEndpointConfig", name="elsewhere")
    with pytest.raises(ClientError, match=f"{INSTANCE} is not supported for the chosen region"):
        lab.config("elsewhere", variant("lost"))


def test_what_is_being_made_can_be_neither_changed_nor_deleted(lab, monkeypatch):
    lab.config("slow", variant(lab.model("slow")))
    lab.plant(Kind.STUCK, operation="CreateEndpoint", seconds=600)
    lab.sagemaker.create_endpoint(EndpointName="slow", EndpointConfigName="slow")
    for change in (
        lambda: lab.sagemaker.delete_endpoint(EndpointName="slow"),
        lambda: lab.sagemaker.update_endpoint(EndpointName="slow", EndpointConfigName="slow"),
    ):
        with pytest.raises(ClientError, match="Cannot update in-progress endpoint"):
            change()
    with pytest.raises(lab.runtime.exceptions.ValidationError, match="not found"):
        lab.ask("slow", "1")
    an_hour_later(monkeypatch, hosts)
    assert lab.settled("slow")["EndpointStatus"] == "Failed"
    lab.sagemaker.delete_endpoint(EndpointName="slow")


def test_a_deleted_endpoint_leaves_no_process(lab):
    lab.config("gone", variant(lab.model("gone"), InitialInstanceCount=2))
    before = {*psutil.Process().children(recursive=True)}
    lab.endpoint("gone", "gone")
    started = {*psutil.Process().children(recursive=True)} - before
    assert len(started) == 4  # two leashes, two hosts
    lab.sagemaker.delete_endpoint(EndpointName="gone")
    until(lambda: not lab.sagemaker.list_endpoints(NameContains="gone")["Endpoints"])
    assert not any(map(is_alive, started))
    lab.sagemaker.delete_endpoint_config(EndpointConfigName="gone")
    lab.sagemaker.delete_model(ModelName="gone")
    with pytest.raises(ClientError, match='Could not find endpoint configuration "arn'):
        lab.sagemaker.describe_endpoint_config(EndpointConfigName="gone")
    with pytest.raises(ClientError, match='Could not find model "arn'):
        lab.sagemaker.describe_model(ModelName="gone")


SLEEPING = """
import time
def model_fn(model_dir): return None
def transform_fn(model, body, content_type, accept):
    time.sleep(0.5)
    return b"slept", "text/plain"
"""


def test_a_serverless_endpoint_takes_so_many_at_once(lab):
    lab.model("serverless", script=SLEEPING)
    serverless = {"MemorySizeInMB": 2048, "MaxConcurrency": 1}
    lab.config(
        "serverless",
        {"VariantName": "all", "ModelName": "serverless", "ServerlessConfig": serverless},
    )
    [served] = lab.endpoint("serverless", "serverless")["ProductionVariants"]
    assert served["CurrentServerlessConfig"] == serverless

    def ask(_):
        try:
            return lab.ask("serverless", "1")
        except ClientError as error:
            return error.response["Error"]["Code"]

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(ask, range(2))) == ["ThrottlingException", "slept"]


@pytest.mark.parametrize(
    ("kind", "code", "status"),
    [
        (Kind.MODEL_ERROR, "ModelError", 424),
        (Kind.NOT_READY, "ModelNotReadyException", 429),
        (Kind.UNAVAILABLE, "ServiceUnavailable", 503),
        (Kind.THROTTLING, "ThrottlingException", 400),
    ],
)
def test_invocations_fail_on_command(lab, kind, code, status):
    lab.plant(kind, operation="InvokeEndpoint", name="any")
    with pytest.raises(ClientError) as failed:
        lab.ask("any", "1")
    assert failed.value.response["Error"]["Code"] == code
    assert failed.value.response["ResponseMetadata"]["HTTPStatusCode"] == status


def test_an_answer_is_slow_or_lost_on_command(lab):
    lab.config("lossy", variant(lab.model("lossy")))
    lab.endpoint("lossy", "lossy")
    lab.plant(Kind.SLOW, operation="InvokeEndpoint", seconds=0.2)
    lab.plant(Kind.LOST_ANSWER, operation="InvokeEndpoint")
    with pytest.raises(Exception, match="Connection"):
        lab.ask("lossy", "1")


def config_of(*variants, **changes):
    return {"EndpointConfigName": "refused", "ProductionVariants": list(variants), **changes}


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (config_of(variant("nothing")), 'Could not find model "arn'),
        (config_of(variant(None)), "ExecutionRoleArn is required"),
        (config_of(variant(None), variant(None), ExecutionRoleArn=ROLE), "twice"),
        (config_of({"VariantName": "a"}, ExecutionRoleArn=ROLE), "InitialInstanceCount"),
        (config_of(variant(None, AcceleratorType="ml.eia1.large")), "no AcceleratorType"),
        (config_of(variant(None, InstanceType="ml.none")), "enum value set"),
        (config_of(variant(None, InitialInstanceCount=0)), "greater than or equal to 1"),
    ],
)
def test_what_sagemaker_or_this_one_has_not_is_refused(lab, request_, said):
    with pytest.raises(ClientError, match=said) as refused:
        lab.sagemaker.create_endpoint_config(**request_)
    assert refused.value.response["Error"]["Code"] == "ValidationException"


def test_names_are_used_once(lab):
    lab.model("twice")
    lab.config("twice", variant("twice"))
    lab.endpoint("twice", "twice")
    for create in (
        lambda: lab.model("twice"),
        lambda: lab.config("twice", variant("twice")),
        lambda: lab.sagemaker.create_endpoint(EndpointName="twice", EndpointConfigName="twice"),
    ):
        with pytest.raises(ClientError, match="Cannot create already existing"):
            create()
