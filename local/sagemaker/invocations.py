"""``InvokeEndpoint``: which host answers, and what SageMaker makes of its answer."""

import logging
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from local.endpoint import ACCOUNT, REGION
from local.sagemaker import contract
from local.sagemaker.components import Components
from local.sagemaker.endpoints import Endpoints, Serving, Variant
from local.sagemaker.errors import ServiceError
from local.sagemaker.faults import Fault, Faults, Kind
from local.sagemaker.hosts import Host, Hosts

OPERATION = "InvokeEndpoint"
_BODY = "Body"
_MOST_BYTES = 6 * 1024 * 1024
_NOT_READY = (
    "InferenceComponent has no capacity to process this request. ApplicationAutoScaling may be"
    " in-progress (if configured) or try to increase the capacity by invoking"
    " UpdateInferenceComponentRuntimeConfig API."
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Invoked:
    """What an invocation is answered.

    Attributes:
        body: What the host said.
        headers: Of HTTP.
    """

    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


class Invocations:
    """Asks hosts for callers."""

    def __init__(self, *, faults: Faults, endpoints: Endpoints, components: Components) -> None:
        self._faults = faults
        self._endpoints = endpoints
        self._components = components

    def invoke(self, endpoint: str, headers: Mapping[str, str], body: bytes) -> Invoked:
        """Return what a host answers.

        Args:
            endpoint: Its name.
            headers: Of HTTP, with names in small letters.
            body: Passed on as it is.

        Raises:
            ServiceError: There is no host, or it does not answer with success.
        """
        asked = _asked(endpoint, headers, body)
        due = self._faults.take(
            OPERATION,
            asked.get("InferenceComponentName", endpoint),
            *(Kind.MODEL_ERROR, Kind.NOT_READY, Kind.UNAVAILABLE, Kind.SLOW),
        )
        if due is not None:
            _suffer(due, endpoint)
        serving = self._endpoints.serving(endpoint)
        if serving is None:
            raise _validation(f"Endpoint {endpoint} of account {ACCOUNT} not found.")
        component = asked.get("InferenceComponentName")
        if component is not None:
            name, hosts = self._variant_of(endpoint, component)
            return self._ask(name, hosts, asked, self._components.adapter_headers(component))
        name, variant = _chosen(serving, asked.get("TargetVariant"))
        if variant.hosts is None:
            raise _validation(
                "Inference Component Name header is required for endpoints to which you plan to"
                " deploy inference components. Please include Inference Component Name header or"
                " consider using SageMaker models."
            )
        if variant.slots is None:
            return self._ask(name, variant.hosts, asked, {})
        if not variant.slots.acquire(blocking=False):
            raise ServiceError("ThrottlingException", "Rate exceeded", status=429)
        try:
            return self._ask(name, variant.hosts, asked, {})
        finally:
            variant.slots.release()

    def _variant_of(self, endpoint: str, component: str) -> tuple[str, Hosts]:
        try:
            record = self._components.record(component)
        except ServiceError as error:
            raise _validation(f"Inference Component {component} not found.") from error
        if record["EndpointName"] != endpoint:
            raise _validation(f"Inference Component {component} not found on {endpoint}.")
        hosts = self._components.hosts(component)
        if hosts is None or record["InferenceComponentStatus"] in {"Creating", "Failed"}:
            raise _validation(_NOT_READY)
        return record["VariantName"], hosts

    def _ask(
        self, variant: str, hosts: Hosts, asked: Mapping[str, Any], more: Mapping[str, str]
    ) -> Invoked:
        host = hosts.pick()
        if host is None:
            raise _validation(_NOT_READY)
        if not host.is_alive():
            hosts.replace(host)
            raise _model_error(0, "the container ended, and is started again", asked)
        answer = self._answer_of(host, asked, more)
        if not answer.is_success:
            raise _model_error(answer.status_code, answer.text[:2000], asked)
        if len(answer.content) > _MOST_BYTES:
            raise _model_error(answer.status_code, "the answer has more than 6 MB", asked)
        headers = {
            "content-type": answer.headers.get("content-type", "application/octet-stream"),
            "x-amzn-invoked-production-variant": variant,
        }
        attributes = "X-Amzn-SageMaker-Custom-Attributes"
        if attributes in answer.headers:
            headers[attributes.lower()] = answer.headers[attributes]
        return Invoked(body=answer.content, headers=headers)

    @staticmethod
    def _answer_of(host: Host, asked: Mapping[str, Any], more: Mapping[str, str]) -> httpx.Response:
        try:
            return host.invoke(asked[_BODY], {**_passed_on(asked), **more})
        except httpx.TimeoutException as error:
            message = (
                "Your invocation timed out while waiting for a response from container primary."
                " Review the latency metrics for each container in Amazon CloudWatch, resolve the"
                " issue, and try again."
            )
            raise _model_error(0, message, asked) from error
        except httpx.HTTPError as error:
            logger.info("a host does not answer: %s", error)
            raise _model_error(0, str(error), asked) from error


def _asked(endpoint: str, headers: Mapping[str, str], body: bytes) -> dict[str, Any]:
    """Return the members of a request, checked as those of other operations are."""
    shape = contract.operation_model(OPERATION, service=contract.RUNTIME).input_shape
    assert shape is not None, "it has one"
    asked: dict[str, Any] = {"EndpointName": endpoint}
    for name, member in shape.members.items():
        if member.serialization.get("location") == "header":
            header = member.serialization["name"].lower()
            if header in headers:
                asked[name] = headers[header]
    found = [
        fault
        for name, value in asked.items()
        for fault in contract.faults(shape.members[name], value, name)
    ]
    if len(body) > _MOST_BYTES:
        found.append(f"'body' has {len(body)} bytes, and {_MOST_BYTES} are the most")
    if found:
        raise _validation("; ".join(found))
    return {**asked, _BODY: body}


def _passed_on(asked: Mapping[str, Any]) -> dict[str, str]:
    """Return the headers that a container gets."""
    shape = contract.operation_model(OPERATION, service=contract.RUNTIME).input_shape
    assert shape is not None, "it has one"
    return {
        member.serialization["name"]: asked[name]
        for name, member in shape.members.items()
        if member.serialization.get("location") == "header" and name in asked
    }


def _chosen(serving: Serving, target: str | None) -> tuple[str, Variant]:
    if target is not None:
        if target not in serving.variants:
            raise _validation(f"Variant {target} not found.")
        return target, serving.variants[target]
    names = list(serving.variants)
    weights = [serving.variants[name].weight for name in names]
    name = random.choices(names, weights)[0] if any(weights) else names[0]  # noqa: S311
    return name, serving.variants[name]


def _suffer(fault: Fault, endpoint: str) -> None:
    if fault.kind is Kind.MODEL_ERROR:
        raise _model_error(fault.status, "planted", {"EndpointName": endpoint})
    if fault.kind is Kind.NOT_READY:
        raise ServiceError("ModelNotReadyException", "Model is not ready.", status=429)
    if fault.kind is Kind.UNAVAILABLE:
        raise ServiceError("ServiceUnavailable", "Service unavailable.", status=503)
    time.sleep(fault.seconds)


def _model_error(status: int, said: str, asked: Mapping[str, Any]) -> ServiceError:
    endpoint = asked["EndpointName"]
    group = f"/aws/sagemaker/Endpoints/{endpoint}"
    return ServiceError(
        "ModelError",
        f'Received server error ({status}) from primary with message "{said}". See {group} in'
        f" account {ACCOUNT} for more information.",
        status=424,
        members={
            "OriginalStatusCode": status,
            "OriginalMessage": said,
            "LogStreamArn": f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{group}",
        },
    )


def _validation(message: str) -> ServiceError:
    return ServiceError("ValidationError", message)
