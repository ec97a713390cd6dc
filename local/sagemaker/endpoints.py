"""Endpoints: variants of hosts, which are made, changed and taken down beside the requests."""

import logging
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from local.sagemaker import contract
from local.sagemaker.errors import exists, limit_exceeded, not_found, not_here, validation
from local.sagemaker.faults import Faults, Kind
from local.sagemaker.hosts import (
    MOST_CHARACTERS,
    STARTUP_SECONDS,
    HostError,
    Hosts,
    await_capacity,
    container_of,
)
from local.sagemaker.listing import Listing
from local.sagemaker.models import CONFIG, MODEL
from local.sagemaker.objects import Objects
from local.sagemaker.records import Record, Records, arn_of, now
from local.sagemaker.settings import Settings

KIND = "endpoint"
COMPONENT = "inference-component"
_LISTING = Listing(operation="ListEndpoints", name="EndpointName", status="EndpointStatus")
_IN_PROGRESS = frozenset({"Creating", "Updating", "SystemUpdating", "RollingBack", "Deleting"})
_PROPERTIES = {
    "DesiredInstanceCount": "InitialInstanceCount",
    "DesiredWeight": "InitialVariantWeight",
}
_MOST_AT_ONCE = 64  # those that are stuck hold up no others

logger = logging.getLogger(__name__)


@dataclass
class Variant:
    """What serves one variant.

    Attributes:
        weight: Its share of what names no variant.
        hosts: None where its components have the hosts.
        slots: Invocations that a serverless one takes at once; None for others.
    """

    weight: float
    hosts: Hosts | None
    slots: threading.BoundedSemaphore | None = None


@dataclass
class Serving:
    """What serves an endpoint now, by name of the variant."""

    variants: dict[str, Variant] = field(default_factory=dict)

    def close(self) -> None:
        """End all hosts."""
        for variant in self.variants.values():
            if variant.hosts is not None:
                variant.hosts.close()


class Endpoints:
    """Endpoints, whose hosts are real processes."""

    def __init__(
        self, *, records: Records, faults: Faults, objects: Objects, settings: Settings
    ) -> None:
        self._records = records
        self._faults = faults
        self._objects = objects
        self._settings = settings
        self._lock = threading.Lock()
        self._serving: dict[str, Serving] = {}
        self._work = ThreadPoolExecutor(_MOST_AT_ONCE, "endpoints")
        self._closed = threading.Event()

    def serve_those_of_before(self) -> None:
        """Start the hosts of endpoints that were there when the server ended."""
        for endpoint in self._records.all_of(KIND):
            name, status = endpoint["EndpointName"], endpoint["EndpointStatus"]
            if status == "Deleting":
                self._records.remove(KIND, name)
            elif status != "Failed":
                self._records.set(KIND, name, EndpointStatus="SystemUpdating")
                self._work.submit(self._deploy, name, endpoint["_config"], "CreateEndpoint")

    def create(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``CreateEndpoint``."""
        _refuse_deployments(asked)
        name = asked["EndpointName"]
        config = self._config(asked["EndpointConfigName"])
        if self._faults.take("CreateEndpoint", name, Kind.RESOURCE_LIMIT):
            raise limit_exceeded(f"{_instance_of(config)} for endpoint usage")
        arn, moment = arn_of(KIND, name), now()
        record = {
            "EndpointName": name,
            "EndpointArn": arn,
            "EndpointConfigName": config["EndpointConfigName"],
            "EndpointStatus": "Creating",
            "CreationTime": moment,
            "LastModifiedTime": moment,
            "_arn": arn,
            "_tags": asked.get("Tags", []),
            "_config": config,
        }
        if not self._records.add(KIND, name, record):
            raise exists(KIND, arn)
        self._work.submit(self._deploy, name, config, "CreateEndpoint")
        return {"EndpointArn": arn}

    def describe(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``DescribeEndpoint``."""
        return contract.described("DescribeEndpoint", self.record(asked["EndpointName"]))

    def list(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``ListEndpoints``."""
        return _LISTING.page(self._records.all_of(KIND), asked)

    def update(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``UpdateEndpoint``: hosts of before answer until those of the new ones are ready."""
        _refuse_deployments(asked)
        name = asked["EndpointName"]
        record = self.record(name)
        config = self._config(asked["EndpointConfigName"])
        if self._faults.take("UpdateEndpoint", name, Kind.RESOURCE_LIMIT):
            raise limit_exceeded(f"{_instance_of(config)} for endpoint usage")
        if asked.get("RetainAllVariantProperties", False):
            left_out = {
                one["VariantPropertyType"]
                for one in asked.get("ExcludeRetainedVariantProperties", [])
            }
            config = _with_properties_of(record["_config"], config, left_out)
        self._begin(name, "Updating")
        self._work.submit(self._deploy, name, config, "UpdateEndpoint")
        return {"EndpointArn": record["EndpointArn"]}

    def delete(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``DeleteEndpoint``: neither one that is being made, nor one that has components."""
        name = asked["EndpointName"]
        self.record(name)
        if any(one["EndpointName"] == name for one in self._records.all_of(COMPONENT)):
            raise validation(
                f"Cannot delete endpoint {name}: it has inference components. Delete them first."
            )
        self._begin(name, "Deleting")
        self._work.submit(self._delete, name)
        return {}

    def record(self, name: str) -> Record:
        """Return an endpoint's record.

        Raises:
            ServiceError: There is none.
        """
        record = self._records.get(KIND, name)
        if record is None:
            raise not_found(KIND, arn_of(KIND, name))
        return record

    def serving(self, name: str) -> Serving | None:
        """Return what serves an endpoint; None if nothing does."""
        with self._lock:
            return self._serving.get(name)

    def close(self) -> None:
        """End all hosts; the endpoints are those of before when the server is started again."""
        self._closed.set()
        with self._lock:
            serving, self._serving = list(self._serving.values()), {}
        for one in serving:
            one.close()
        self._work.shutdown(wait=True)

    def _deploy(self, name: str, config: Record, operation: str) -> None:
        """Have an endpoint served by a configuration; where that fails, it stays as it was."""
        fresh = Serving()
        try:
            await_capacity(self._faults, operation, name, over=self._closed)
            for variant in config["ProductionVariants"]:
                fresh.variants[variant["VariantName"]] = self._made(name, variant)
        except HostError as error:
            fresh.close()
            self._give_up(name, str(error), operation)
            return
        except Exception:  # whatever it is, the endpoint must not stay as it is
            logger.exception("endpoint %s failed by a fault of the local SageMaker", name)
            fresh.close()
            self._give_up(name, "InternalServerError", operation)
            return
        with self._lock:
            if self._closed.is_set():
                before: Serving | None = fresh
            else:
                before, self._serving[name] = self._serving.get(name), fresh
        if before is not fresh:
            self._records.set(
                KIND,
                name,
                EndpointStatus="InService",
                EndpointConfigName=config["EndpointConfigName"],
                ProductionVariants=[self._summary(one) for one in config["ProductionVariants"]],
                FailureReason=None,
                _config=config,
            )
        if before is not None:
            before.close()

    def _made(self, name: str, variant: Mapping[str, Any]) -> Variant:
        """Start the hosts of a variant.

        Raises:
            HostError: One does not start.
        """
        weight = float(variant["InitialVariantWeight"])
        if "ModelName" not in variant:
            return Variant(weight, None)
        model = self._records.get(MODEL, variant["ModelName"])
        if model is None:
            raise HostError(f"The model {variant['ModelName']} was deleted.")
        seconds = variant.get("ContainerStartupHealthCheckTimeoutInSeconds", STARTUP_SECONDS)
        container = replace(container_of(model), startup_seconds=float(seconds))
        hosts = Hosts(container, objects=self._objects, settings=self._settings, name=name)
        serverless = variant.get("ServerlessConfig")
        try:
            hosts.resize(1 if serverless else variant["InitialInstanceCount"])
        except HostError as error:
            hosts.close()
            raise HostError(f"Production variant {variant['VariantName']}: {error}") from error
        slots = threading.BoundedSemaphore(serverless["MaxConcurrency"]) if serverless else None
        return Variant(weight, hosts, slots)

    def _give_up(self, name: str, reason: str, operation: str) -> None:
        if self._closed.is_set():
            return
        status = "InService" if operation == "UpdateEndpoint" else "Failed"
        self._records.set(KIND, name, EndpointStatus=status, FailureReason=reason[:MOST_CHARACTERS])

    def _summary(self, variant: Mapping[str, Any]) -> dict[str, Any]:
        """Return what an endpoint's description says of a variant."""
        weight = variant["InitialVariantWeight"]
        summary: dict[str, Any] = {
            "VariantName": variant["VariantName"],
            "CurrentWeight": weight,
            "DesiredWeight": weight,
            **{
                name: variant[name]
                for name in ("ManagedInstanceScaling", "RoutingConfig")
                if name in variant
            },
        }
        if serverless := variant.get("ServerlessConfig"):
            summary |= {
                "CurrentServerlessConfig": serverless,
                "DesiredServerlessConfig": serverless,
                "CurrentInstanceCount": 0,
            }
        else:
            count = variant["InitialInstanceCount"]
            summary |= {"CurrentInstanceCount": count, "DesiredInstanceCount": count}
        model = self._records.get(MODEL, variant.get("ModelName", "")) or {}
        if image := model.get("PrimaryContainer", {}).get("Image"):
            summary["DeployedImages"] = [
                {"SpecifiedImage": image, "ResolvedImage": image, "ResolutionTime": now()}
            ]
        return summary

    def _delete(self, name: str) -> None:
        with self._lock:
            serving = self._serving.pop(name, None)
        if serving is not None:
            serving.close()
        self._records.remove(KIND, name)

    def _begin(self, name: str, status: str) -> None:
        """Begin a change, unless another is under way.

        Raises:
            ServiceError: One is.
        """

        def begin(record: Record) -> None:
            if record["EndpointStatus"] in _IN_PROGRESS:
                raise validation(f'Cannot update in-progress endpoint "{record["EndpointArn"]}".')
            if status == "Updating" and record["EndpointStatus"] != "InService":
                raise validation(f"Endpoint {name} is not InService and cannot be updated.")
            record["EndpointStatus"] = status

        if self._records.change(KIND, name, begin) is None:
            raise not_found(KIND, arn_of(KIND, name))

    def _config(self, name: str) -> Record:
        config = self._records.get(CONFIG, name)
        if config is None:
            raise not_found("endpoint configuration", arn_of(CONFIG, name))
        return config


def _refuse_deployments(asked: Mapping[str, Any]) -> None:
    if "DeploymentConfig" in asked or asked.get("RetainDeploymentConfig", False):
        raise not_here("deployments but all at once: leave out DeploymentConfig")


def _instance_of(config: Mapping[str, Any]) -> str:
    variant = config["ProductionVariants"][0]
    return str(variant.get("InstanceType", "serverless"))


def _with_properties_of(before: Record, after: Record, left_out: set[str]) -> Record:
    """Return a configuration with weights and counts of the one before, by name of the variant."""
    old = {variant["VariantName"]: variant for variant in before["ProductionVariants"]}
    retained = [_PROPERTIES[name] for name in _PROPERTIES if name not in left_out]
    variants = []
    for variant in after["ProductionVariants"]:
        previous = old.get(variant["VariantName"], {})
        kept = {name: previous[name] for name in retained if name in previous and name in variant}
        variants.append({**variant, **kept})
    return {**after, "ProductionVariants": variants}
