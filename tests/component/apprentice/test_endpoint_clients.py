"""Models at endpoints of SageMaker are asked for a bounded time, and nothing raises."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from autotune_platform.apprentice.local.clients import BackendClients
from autotune_platform.apprentice.local.contract import (
    LocalAnswer,
    Reason,
    ServedModel,
    Unavailable,
)
from autotune_platform.apprentice.local.exchanging import MOST_BYTES
from tests.support.local_clients import AMPLE_MS, BRIEF_MS, QUESTION, configured
from tests.support.model_servers import SAID, SageMaker, replying, serving

ENDPOINT = ServedModel("intents-v7", endpoint="apprentice", component="intents-v7")


@pytest.fixture
def sagemaker(monkeypatch: pytest.MonkeyPatch) -> Iterator[SageMaker]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    server = SageMaker()
    with serving(server):
        monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME", server.url)
        yield server


def asked_endpoint(
    clients: BackendClients, served: ServedModel = ENDPOINT, *, timeout_ms: int = AMPLE_MS
) -> LocalAnswer | Unavailable:
    client = clients.client_for(configured("sagemaker", None), served)
    return client.ask(QUESTION, timeout_ms=timeout_ms)


def test_an_endpoint_is_asked_with_its_component(
    clients: BackendClients, sagemaker: SageMaker
) -> None:
    sagemaker.extra = {"confidence": 0.75}
    answer = asked_endpoint(clients)

    assert isinstance(answer, LocalAnswer), answer
    assert (answer.text, answer.served_model, answer.confidence) == (SAID, "intents-v7", 0.75)
    ((path, asked),) = sagemaker.asked
    assert path == "/endpoints/apprentice/invocations"
    assert asked["model"] == "intents-v7"
    (headers,) = sagemaker.headers
    assert headers["x-amzn-sagemaker-inference-component"] == "intents-v7"
    assert headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=testing/")
    assert "/eu-central-1/sagemaker/aws4_request" in headers["authorization"]


@pytest.mark.parametrize("backend", ["linear", "vllm"])
def test_a_version_at_an_endpoint_is_asked_there_whatever_the_task_has_now(
    clients: BackendClients, sagemaker: SageMaker, backend: str
) -> None:
    served = replace(ENDPOINT, backend="sagemaker")

    answer = clients.client_for(configured(backend, "http://gone.example"), served).ask(
        QUESTION, timeout_ms=AMPLE_MS
    )

    assert isinstance(answer, LocalAnswer), answer


def test_an_endpoint_without_components_is_named_alone(
    clients: BackendClients, sagemaker: SageMaker
) -> None:
    answer = asked_endpoint(clients, ServedModel("intents-v7", endpoint="apprentice"))

    assert isinstance(answer, LocalAnswer)
    assert "x-amzn-sagemaker-inference-component" not in sagemaker.headers[0]


@pytest.mark.parametrize("confidence", [1.5, -0.1, "high", True, 10**400])
def test_a_confidence_that_is_none_is_no_answer(
    clients: BackendClients, sagemaker: SageMaker, confidence: Any
) -> None:
    sagemaker.extra = {"confidence": confidence}
    found = asked_endpoint(clients)

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.UNREADABLE


@pytest.mark.parametrize(
    ("status", "code", "fields", "reason"),
    [
        (429, "ModelNotReadyException", {}, Reason.NOT_READY),
        (400, "ValidationError", {}, Reason.NOT_READY),
        (503, "ServiceUnavailable", {}, Reason.NOT_READY),
        (424, "ModelError", {}, Reason.NOT_READY),
        (424, "ModelError", {"OriginalStatusCode": 0}, Reason.NOT_READY),
        (424, "ModelError", {"OriginalStatusCode": 424}, Reason.NOT_READY),
        (424, "ModelError", {"OriginalStatusCode": 503}, Reason.NOT_READY),
        (424, "ModelError", {"OriginalStatusCode": 400}, Reason.REFUSED),
        (424, "ModelError", {"OriginalStatusCode": 500}, Reason.FAILED),
        (429, "ThrottlingException", {}, Reason.BUSY),
        (403, "AccessDeniedException", {}, Reason.REFUSED),
        (500, "InternalFailure", {}, Reason.FAILED),
        (530, "InternalDependencyException", {}, Reason.FAILED),
        (418, "SomethingNew", {}, Reason.FAILED),
    ],
)
def test_what_sagemaker_refuses_is_a_reason(
    clients: BackendClients,
    sagemaker: SageMaker,
    status: int,
    code: str,
    fields: dict[str, Any],
    reason: Reason,
) -> None:
    sagemaker.refuses = (status, code, fields)
    found = asked_endpoint(clients)

    assert isinstance(found, Unavailable)
    assert found.reason == reason
    assert len(sagemaker.asked) == 1


@pytest.mark.parametrize("fault", [{"hangs": True}, {"drip_seconds": 0.1}])
def test_an_endpoint_has_the_time_of_the_whole_call(
    clients: BackendClients, sagemaker: SageMaker, fault: dict[str, Any]
) -> None:
    sagemaker.fault = replying(**fault)
    clients.endpoints()  # making a client reads botocore's model of the service
    started = time.monotonic()
    found = asked_endpoint(clients, timeout_ms=BRIEF_MS)

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.TIMED_OUT
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"body": b"{"}, Reason.UNREADABLE),
        ({"body": b'"' + b"x" * MOST_BYTES + b'"'}, Reason.TOO_LARGE),
        ({"drops": True}, Reason.UNREACHABLE),
    ],
)
def test_no_answer_of_an_endpoint_is_a_reason(
    clients: BackendClients, sagemaker: SageMaker, fault: dict[str, Any], reason: Reason
) -> None:
    sagemaker.fault = replying(**fault)
    found = asked_endpoint(clients)

    assert isinstance(found, Unavailable)
    assert found.reason == reason
    assert len(sagemaker.asked) == 1


def test_an_endpoint_that_answers_for_another_version_does_not_count(
    clients: BackendClients, sagemaker: SageMaker
) -> None:
    sagemaker.echoes = "intents-v6"
    found = asked_endpoint(clients)

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.ANOTHER_VERSION


OF_A_TASK = ServedModel(
    "autotune-apt-7f-3-2b9d",
    endpoint="autotune-apt-7f-base-12ab34cd",
    component="autotune-apt-7f-3-2b9d",
    task_id="apt_7f",
)


@pytest.mark.parametrize(
    ("said", "counts"),
    [
        ("autotune-apt-7f-3-2b9d", True),
        ("2f1c9d7e0b6a4c58", True),  # SageMaker's own name of the adapter
        ("autotune-apt-7f-3-2b9d-2f1c9d7e", True),
        (None, True),  # LMI of before 0.34 names nobody
        ("autotune-apt-7f-base-12ab34cd", False),
        ("autotune-apt-7f-2-77aa", False),
        ("autotune-apt-9e-1-0c3d", False),
        ("lmi", False),
        ("/opt/ml/model", False),
    ],
)
def test_an_adapters_component_says_which_version_it_is_unless_the_answer_says_otherwise(
    clients: BackendClients, sagemaker: SageMaker, said: str | None, counts: bool
) -> None:
    sagemaker.extra = {"model": said}
    found = asked_endpoint(clients, OF_A_TASK)

    if counts:
        assert isinstance(found, LocalAnswer), found
        assert found.served_model == OF_A_TASK.model
    else:
        assert isinstance(found, Unavailable), found
        assert found.reason == Reason.ANOTHER_VERSION


@pytest.mark.parametrize("said", [None, 7, "2f1c9d7e0b6a4c58"])
def test_an_endpoint_without_components_has_to_name_the_version(
    clients: BackendClients, sagemaker: SageMaker, said: Any
) -> None:
    sagemaker.extra = {"model": said}
    found = asked_endpoint(clients, ServedModel("intents-v7", endpoint="apprentice", task_id="apt"))

    assert isinstance(found, Unavailable)
    assert found.reason in {Reason.ANOTHER_VERSION, Reason.UNREADABLE}


def test_a_version_without_an_endpoint_is_not_asked(
    clients: BackendClients, sagemaker: SageMaker
) -> None:
    found = asked_endpoint(clients, ServedModel("intents-v7"))

    assert isinstance(found, Unavailable)
    assert found.reason == Reason.NO_MODEL
    assert sagemaker.asked == []
