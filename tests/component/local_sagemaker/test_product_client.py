"""The product's own client of endpoints, at hosts that are processes."""

from typing import NoReturn

import httpcore
import pytest

from autotune_platform.apprentice.local.clients import BackendClients
from autotune_platform.apprentice.local.contract import (
    LocalAnswer,
    LocalQuestion,
    Reason,
    ServedModel,
    Unavailable,
)
from autotune_platform.apprentice.local.exchanging import ModelServers
from autotune_platform.apprentice.local.sagemaker import EndpointInvocations
from autotune_platform.outbound.connections import connection_pool
from autotune_platform.runtime.sagemaker import SageMakerRuntime
from local.sagemaker.faults import Kind
from tests.support.apprentice import OUTPUT_SCHEMA
from tests.support.local_sagemaker import ROLE, Lab, until, variant
from tests.support.model_servers import NoNotes

QUESTION = LocalQuestion("Tell intents apart.", "I lost my card.", OUTPUT_SCHEMA, max_tokens=50)
CHAT = """
import json, pathlib
def model_fn(model_dir):
    return (pathlib.Path(model_dir) / "name").read_text()
def predict_fn(asked, name):
    said = json.dumps({"intent": asked["messages"][-1]["content"]})
    return {
        "model": name,
        "choices": [{"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}],
        "confidence": 0.75,
    }
"""


@pytest.fixture
def ask(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME", lab.url)
    with connection_pool(admit_private=True) as pool:
        yield asking(pool)


def asking(pool: httpcore.ConnectionPool):
    servers = ModelServers(pool)

    def no_students() -> NoReturn:
        pytest.fail("nobody asks linear students")

    clients = BackendClients(
        servers=servers,
        endpoints=lambda: EndpointInvocations(SageMakerRuntime(servers.send)),
        students=no_students,
        notes=NoNotes(),
    )
    configured = {"local": {"backend": "sagemaker", "url": None, "idleMinutes": 30}}

    def ask(served: ServedModel, *, timeout_ms: int = 20_000) -> LocalAnswer | Unavailable:
        return clients.client_for(configured, served).ask(QUESTION, timeout_ms=timeout_ms)

    return ask


def test_a_component_answers_and_says_why_it_does_not(lab: Lab, ask) -> None:
    lab.config("versions", variant(None), ExecutionRoleArn=ROLE)
    lab.endpoint("versions", "versions")
    lab.model("v1", script=CHAT)
    served = ServedModel("v1", endpoint="versions", component="v1")
    lab.sagemaker.create_inference_component(
        InferenceComponentName="v1",
        EndpointName="versions",
        Specification={
            "ModelName": "v1",
            "ComputeResourceRequirements": {"MinMemoryRequiredInMb": 128},
        },
        RuntimeConfig={"CopyCount": 1},
    )
    lab.component("v1")
    answer = ask(served)
    assert isinstance(answer, LocalAnswer), answer
    assert (answer.text, answer.confidence) == ('{"intent": "I lost my card."}', 0.75)

    # Another model of that name is none that was registered.
    assert reason_of(ask(ServedModel("v2", endpoint="versions", component="v1"))) == (
        Reason.ANOTHER_VERSION
    )
    lab.plant(Kind.MODEL_ERROR, operation="InvokeEndpoint", status=400)
    assert reason_of(ask(served)) == Reason.REFUSED
    lab.plant(Kind.NOT_READY, operation="InvokeEndpoint")
    assert reason_of(ask(served)) == Reason.NOT_READY
    lab.plant(Kind.THROTTLING, operation="InvokeEndpoint")
    assert reason_of(ask(served)) == Reason.BUSY
    lab.plant(Kind.LOST_ANSWER, operation="InvokeEndpoint")
    assert reason_of(ask(served)) == Reason.UNREACHABLE
    # Last of these: its request is still there when it is no longer waited for.
    lab.plant(Kind.SLOW, operation="InvokeEndpoint", seconds=0.5)
    assert reason_of(ask(served, timeout_ms=200)) == Reason.TIMED_OUT

    lab.sagemaker.update_inference_component_runtime_config(
        InferenceComponentName="v1", DesiredRuntimeConfig={"CopyCount": 0}
    )
    until(lambda: lab.component("v1")["RuntimeConfig"]["CurrentCopyCount"] == 0)
    assert reason_of(ask(served)) == Reason.NOT_READY
    assert reason_of(ask(ServedModel("v1", endpoint="nowhere"))) == Reason.NOT_READY


def reason_of(found: LocalAnswer | Unavailable) -> Reason:
    assert isinstance(found, Unavailable), found
    return found.reason
