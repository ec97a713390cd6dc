"""Inference components: models with copies of their own on an endpoint, and adapters of them."""

import logging
import shutil
import threading
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from local.sagemaker import contract
from local.sagemaker.endpoints import COMPONENT, Endpoints
from local.sagemaker.errors import exists, limit_exceeded, not_found, not_here, validation
from local.sagemaker.faults import Faults, Kind
from local.sagemaker.hosts import (
    MOST_CHARACTERS,
    STARTUP_SECONDS,
    Container,
    HostError,
    Hosts,
    await_capacity,
    container_of,
    download_artifact,
)
from local.sagemaker.listing import Listing
from local.sagemaker.models import MODEL
from local.sagemaker.objects import Objects
from local.sagemaker.records import Record, Records, arn_of, now
from local.sagemaker.settings import Settings

_LISTING = Listing(
    operation="ListInferenceComponents",
    name="InferenceComponentName",
    status="InferenceComponentStatus",
)
_IDENTIFIER = "X-Amzn-SageMaker-Adapter-Identifier"
_ALIAS = "X-Amzn-SageMaker-Adapter-Alias"
_IN_PROGRESS = frozenset({"Creating", "Updating", "Deleting"})
_MISSING = ("DataCacheConfig", "SchedulingConfig", "InstanceType")
_MOST_AT_ONCE = 64

logger = logging.getLogger(__name__)


class Components:
    """Components, whose copies are real processes."""

    def __init__(
        self,
        *,
        records: Records,
        faults: Faults,
        objects: Objects,
        settings: Settings,
        endpoints: Endpoints,
    ) -> None:
        self._records = records
        self._faults = faults
        self._objects = objects
        self._settings = settings
        self._endpoints = endpoints
        self._lock = threading.Lock()
        self._hosts: dict[str, Hosts] = {}
        self._work = ThreadPoolExecutor(_MOST_AT_ONCE, "components")
        self._closed = threading.Event()

    def serve_those_of_before(self) -> None:
        """Start the copies of components that were there when the server ended, adapters last."""
        there = self._records.all_of(COMPONENT)
        for component in sorted(there, key=lambda one: _base_of(one) is not None):
            name = component["InferenceComponentName"]
            status = component["InferenceComponentStatus"]
            if status == "Deleting":
                self._records.remove(COMPONENT, name)
            elif status != "Failed":
                self._records.set(COMPONENT, name, InferenceComponentStatus="Updating")
                self._work.submit(self._deploy, name, component, "CreateInferenceComponent")

    def create(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``CreateInferenceComponent``; ``CopyCount`` is 1 at least, as SageMaker has it."""
        name = asked["InferenceComponentName"]
        if "Specifications" in asked or "Specification" not in asked:
            raise not_here("components but those of one Specification")
        endpoint = self._endpoints.record(asked["EndpointName"])
        variant = self._variant(asked, endpoint)
        specification = asked["Specification"]
        self._check(specification, asked)
        if self._faults.take("CreateInferenceComponent", name, Kind.RESOURCE_LIMIT):
            is_adapter = "BaseInferenceComponentName" in specification
            instances = f"{variant['InstanceType']} for endpoint usage"
            raise limit_exceeded("inference components per endpoint" if is_adapter else instances)
        arn, moment = arn_of(COMPONENT, name), now()
        record = {
            "InferenceComponentName": name,
            "InferenceComponentArn": arn,
            "EndpointName": endpoint["EndpointName"],
            "EndpointArn": endpoint["EndpointArn"],
            "VariantName": variant["VariantName"],
            "Specification": _shown(specification),
            "InferenceComponentStatus": "Creating",
            "CreationTime": moment,
            "LastModifiedTime": moment,
            "_arn": arn,
            "_tags": asked.get("Tags", []),
            "_role": endpoint["_config"].get("ExecutionRoleArn"),
            "_specification": specification,
            "_copies": asked.get("RuntimeConfig", {}).get("CopyCount", 0),
            "_identifier": uuid.uuid4().hex,
        }
        if "RuntimeConfig" in asked:
            record["RuntimeConfig"] = {"DesiredCopyCount": record["_copies"], "CurrentCopyCount": 0}
        if not self._records.add(COMPONENT, name, record):
            raise exists("inference component", arn)
        self._work.submit(self._deploy, name, record, "CreateInferenceComponent")
        return {"InferenceComponentArn": arn}

    def describe(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``DescribeInferenceComponent``."""
        record = self.record(asked["InferenceComponentName"])
        return contract.described("DescribeInferenceComponent", record)

    def list(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``ListInferenceComponents``."""
        return _LISTING.page(self._records.all_of(COMPONENT), asked)

    def update(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``UpdateInferenceComponent``: copies of before answer until the new ones are ready."""
        name = asked["InferenceComponentName"]
        if "DeploymentConfig" in asked or "Specifications" in asked:
            raise not_here("deployments but of one Specification, all at once")
        record = self.record(name)
        specification = asked.get("Specification", record["_specification"])
        copies = asked.get("RuntimeConfig", {}).get("CopyCount", record["_copies"])
        if "Specification" in asked:
            self._check(specification, {"RuntimeConfig": {"CopyCount": max(1, copies)}})
        self._begin(name, "Updating")
        changed = {**record, "_specification": specification, "_copies": copies}
        self._work.submit(self._deploy, name, changed, "UpdateInferenceComponent")
        return {"InferenceComponentArn": record["InferenceComponentArn"]}

    def update_copies(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``UpdateInferenceComponentRuntimeConfig``; 0 copies answer nothing and cost nothing."""
        name = asked["InferenceComponentName"]
        operation = "UpdateInferenceComponentRuntimeConfig"
        record = self.record(name)
        if _base_of(record) is not None:
            raise validation("Adapters have the copies of their base component.")
        if self._faults.take(operation, name, Kind.RESOURCE_LIMIT):
            raise limit_exceeded("instances for endpoint usage")
        copies = asked["DesiredRuntimeConfig"]["CopyCount"]
        self._begin(name, "Updating")
        self._work.submit(self._resize, name, copies, operation)
        return {"InferenceComponentArn": record["InferenceComponentArn"]}

    def delete(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``DeleteInferenceComponent``; one that is being made is not, as at SageMaker."""
        name = asked["InferenceComponentName"]
        self.record(name)
        if any(_base_of(one) == name for one in self._records.all_of(COMPONENT)):
            raise validation(f"{name} is the base of other inference components.")
        self._begin(name, "Deleting")
        self._work.submit(self._delete, name)
        return {}

    def record(self, name: str) -> Record:
        """Return a component's record.

        Raises:
            ServiceError: There is none.
        """
        record = self._records.get(COMPONENT, name)
        if record is None:
            raise not_found("inference component", arn_of(COMPONENT, name))
        return record

    def hosts(self, name: str) -> Hosts | None:
        """Return the copies that answer for a component: for an adapter those of its base."""
        record = self._records.get(COMPONENT, name)
        with self._lock:
            return None if record is None else self._hosts.get(_base_of(record) or name)

    def adapter_headers(self, name: str) -> dict[str, str]:
        """Return by what a host knows an adapter: the identifier, which is SageMaker's own."""
        record = self.record(name)
        known = {_IDENTIFIER: record.get("_identifier", name), _ALIAS: name}
        return {} if _base_of(record) is None else known

    def close(self) -> None:
        """End all copies; the components are those of before when the server is started again."""
        self._closed.set()
        with self._lock:
            hosts, self._hosts = list(self._hosts.values()), {}
        for one in hosts:
            one.close()
        self._work.shutdown(wait=True)

    def _variant(self, asked: Mapping[str, Any], endpoint: Record) -> Mapping[str, Any]:
        if endpoint["EndpointStatus"] != "InService":
            raise validation(f'Endpoint "{endpoint["EndpointArn"]}" is not InService.')
        variants: list[dict[str, Any]] = endpoint["_config"]["ProductionVariants"]
        named = asked.get("VariantName", variants[0]["VariantName"])
        for variant in variants:
            if variant["VariantName"] == named:
                if "ModelName" in variant:
                    raise validation("The variant has a model, and no inference components.")
                return variant
        raise validation(f"The endpoint has no variant {named}.")

    def _check(self, specification: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
        for name in _MISSING:
            if name in specification:
                raise not_here(f"{name} of components")
        base = specification.get("BaseInferenceComponentName")
        if base is not None:
            self.record(base)
            if "RuntimeConfig" in asked or "ComputeResourceRequirements" in specification:
                raise validation("Adapters have the copies and the resources of their base.")
            if "ArtifactUrl" not in specification.get("Container", {}):
                raise validation("An adapter needs a Container with its ArtifactUrl.")
            return
        if "ComputeResourceRequirements" not in specification:
            raise validation("ComputeResourceRequirements are required.")
        if asked.get("RuntimeConfig", {}).get("CopyCount", 0) < 1:
            raise validation("Inference components copy count must be an integer larger than 0.")
        if ("ModelName" in specification) == ("Container" in specification):
            raise validation("Either ModelName or Container is required, and not both.")
        if "ModelName" in specification:
            self._container(specification, None)

    def _container(self, specification: Mapping[str, Any], role: str | None) -> Container:
        seconds = specification.get("StartupParameters", {}).get(
            "ContainerStartupHealthCheckTimeoutInSeconds", STARTUP_SECONDS
        )
        if "ModelName" in specification:
            model = self._records.get(MODEL, specification["ModelName"])
            if model is None:
                raise not_found(MODEL, arn_of(MODEL, specification["ModelName"]))
            made = container_of(model)
        else:
            given = specification["Container"]
            made = Container(
                image=given.get("Image"),
                artifact=given.get("ArtifactUrl"),
                environment=given.get("Environment", {}),
            )
        return replace(made, role=made.role or role, startup_seconds=float(seconds))

    def _deploy(self, name: str, record: Record, operation: str) -> None:
        """Have a component served as a record says; where that fails, what was there stays."""
        specification = record["_specification"]
        fresh: Hosts | None = None
        try:
            await_capacity(self._faults, operation, name, over=self._closed)
            if _base_of(record) is not None:
                self._load_adapter(name, record)
            else:
                fresh = Hosts(
                    self._container(specification, record["_role"]),
                    objects=self._objects,
                    settings=self._settings,
                    name=name,
                )
                fresh.resize(record["_copies"])
        except Exception as error:  # whatever it is, the component must not stay as it is
            if not isinstance(error, HostError):
                logger.exception("component %s failed by a fault of the local SageMaker", name)
            if fresh is not None:
                fresh.close()
            self._give_up(name, str(error), operation)
            return
        before = self._adopt(name, fresh)
        self._records.set(
            COMPONENT,
            name,
            InferenceComponentStatus="InService",
            Specification=_shown(specification),
            FailureReason=None,
            _specification=specification,
            **_copies(record["_copies"], is_adapter=fresh is None),
        )
        if before is not None:
            before.close()
        if fresh is not None:
            self._load_adapters_of(name)

    def _adopt(self, name: str, fresh: Hosts | None) -> Hosts | None:
        """Have new hosts answer; return those that are to be closed."""
        if fresh is None:
            return None
        with self._lock:
            if self._closed.is_set():
                return fresh
            before = self._hosts.get(name)
            self._hosts[name] = fresh
            return before

    def _resize(self, name: str, copies: int, operation: str) -> None:
        with self._lock:
            hosts = self._hosts.get(name)
        try:
            await_capacity(self._faults, operation, name, over=self._closed)
            if hosts is not None:
                hosts.resize(copies)
        except HostError as error:
            self._give_up(name, str(error), operation)
            return
        self._records.set(
            COMPONENT,
            name,
            InferenceComponentStatus="InService",
            FailureReason=None,
            **_copies(copies, is_adapter=False),
        )

    def _load_adapters_of(self, base: str) -> None:
        """Have a base's new hosts load the adapters that it has."""
        for component in self._records.all_of(COMPONENT):
            if _base_of(component) == base and component["InferenceComponentStatus"] == "InService":
                try:
                    self._load_adapter(component["InferenceComponentName"], component)
                except HostError as error:
                    self._give_up(component["InferenceComponentName"], str(error), "Create")

    def _load_adapter(self, name: str, record: Record) -> None:
        specification = record["_specification"]
        hosts = self.hosts(name)
        if hosts is None:
            raise HostError(f"The base component {_base_of(record)} is not in service.")
        folder = self._adapter_folder(name)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        artifact = Container(artifact=specification["Container"]["ArtifactUrl"])
        objects = self._objects.acting_as(record["_role"])
        download_artifact(objects, artifact, folder, scratch=folder)
        hosts.add_adapter(record.get("_identifier", name), folder)

    def _adapter_folder(self, name: str) -> Path:
        return self._settings.scratch / "adapters" / name

    def _delete(self, name: str) -> None:
        record = self._records.get(COMPONENT, name)
        if record is not None and _base_of(record) is not None:
            if hosts := self.hosts(name):
                hosts.remove_adapter(record.get("_identifier", name))
            shutil.rmtree(self._adapter_folder(name), ignore_errors=True)
        with self._lock:
            own = self._hosts.pop(name, None)
        if own is not None:
            own.close()
        self._records.remove(COMPONENT, name)

    def _give_up(self, name: str, reason: str, operation: str) -> None:
        if not self._closed.is_set():
            status = "InService" if operation.startswith("Update") else "Failed"
            self._records.set(
                COMPONENT,
                name,
                InferenceComponentStatus=status,
                FailureReason=reason[:MOST_CHARACTERS],
            )

    def _begin(self, name: str, status: str) -> None:
        def begin(record: Record) -> None:
            if record["InferenceComponentStatus"] in _IN_PROGRESS:
                arn = record["InferenceComponentArn"]
                raise validation(f'Cannot update in-progress inference component "{arn}".')
            record["InferenceComponentStatus"] = status

        if self._records.change(COMPONENT, name, begin) is None:
            raise not_found("inference component", arn_of(COMPONENT, name))


def _copies(copies: int, *, is_adapter: bool) -> dict[str, Any]:
    if is_adapter:
        return {}
    config = {"DesiredCopyCount": copies, "CurrentCopyCount": copies}
    return {"RuntimeConfig": config, "_copies": copies}


def _base_of(record: Mapping[str, Any]) -> str | None:
    base: str | None = record["_specification"].get("BaseInferenceComponentName")
    return base


def _shown(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Return a specification as descriptions have it."""
    if "Container" not in specification:
        return dict(specification)
    container = {
        name: value for name, value in specification["Container"].items() if name != "Image"
    }
    if image := specification["Container"].get("Image"):
        container["DeployedImage"] = {
            "SpecifiedImage": image,
            "ResolvedImage": image,
            "ResolutionTime": now(),
        }
    return {**specification, "Container": container}
