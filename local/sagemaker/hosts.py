"""Hosts: real processes that answer as SageMaker's containers must.

``GET /ping`` says whether a container is ready, ``POST /invocations`` answers. It listens where
``SAGEMAKER_BIND_TO_PORT`` says. ``SM_MODEL_DIR`` is the folder of its model. An image that has
adapters takes them by ``POST /adapters`` and ``DELETE /adapters/NAME``, and finds the one that is
asked for in ``X-Amzn-SageMaker-Adapter-Identifier``, as vLLM and DJL Serving do.
"""

import logging
import math
import shutil
import threading
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from local.endpoint import LOOPBACK, REGION, free_port
from local.sagemaker.errors import not_here
from local.sagemaker.faults import Faults, Kind
from local.sagemaker.job_logs import LogStream
from local.sagemaker.objects import Objects, ObjectsError, unpack
from local.sagemaker.processes import LeashedProcess, base_environment
from local.sagemaker.script_mode import ROOT
from local.sagemaker.settings import Settings

MOST_CHARACTERS = 1024
"""Of a reason that a description has."""

INVOCATION_SECONDS = 60.0
STARTUP_SECONDS = 600.0
_TICK_SECONDS = 0.05
_GRACE_SECONDS = 10.0
_ADAPTER_SECONDS = 60.0
NO_CAPACITY = (
    "Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity error."
    " Please retry using a different ML instance type or after some time."
)
SERVING = Path(__file__).with_name("serving.py")

logger = logging.getLogger(__name__)


class HostError(Exception):
    """A host does not start; the message is the reason that descriptions have."""


@dataclass(frozen=True, kw_only=True)
class Container:
    """What a host is made of.

    Attributes:
        image: Its image.
        artifact: URI of its model; None where the image has it.
        is_packed: Whether the artifact is a tar file.
        environment: Its own variables.
        role: Who it is; None for the server itself.
        is_isolated: Whether it has no way to AWS.
        startup_seconds: How long it may take until it is ready.
    """

    image: str | None = None
    artifact: str | None = None
    is_packed: bool = True
    environment: Mapping[str, str] = field(default_factory=dict)
    role: str | None = None
    is_isolated: bool = False
    startup_seconds: float = STARTUP_SECONDS


class Host:
    """One process, with its folder and its port."""

    def __init__(
        self, container: Container, *, objects: Objects, settings: Settings, name: str
    ) -> None:
        self._container = container
        self._objects = objects.acting_as(container.role)
        self._settings = settings
        self._root = settings.scratch / "hosts" / uuid.uuid4().hex
        self._log_file = settings.logs / f"{name}.log"
        self._log = LogStream(
            self._log_file,
            group=f"/aws/sagemaker/Endpoints/{name}",
            stream=f"local/{self._root.name}",
        )
        self._process: LeashedProcess | None = None
        self._client: httpx.Client | None = None
        self._closed = threading.Event()

    def start(self) -> None:
        """Download its model, start it and wait until it is ready.

        Raises:
            HostError: It does not get that far.
        """
        try:
            self._prepare()
            self._await_ping()
        except BaseException:
            self.close()
            raise
        finally:
            self._log.send()

    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and self._process.exit_code() is None

    def invoke(self, body: bytes, headers: Mapping[str, str]) -> httpx.Response:
        """Return what it answers.

        Raises:
            httpx.HTTPError: It does not.
        """
        assert self._client is not None, "it is started"
        answer = self._client.post("/invocations", content=body, headers=dict(headers))
        self._log.send()
        return answer

    def add_adapter(self, name: str, folder: Path) -> None:
        """Have it load an adapter.

        Raises:
            HostError: It does not.
        """
        self._ask_for_adapter("POST", "/adapters", {"name": name, "src": str(folder)})

    def remove_adapter(self, name: str) -> None:
        """Have it forget an adapter.

        Raises:
            HostError: It does not.
        """
        self._ask_for_adapter("DELETE", f"/adapters/{name}", None)

    def close(self) -> None:
        """End its process and remove its folder."""
        self._closed.set()
        if self._process is not None:
            self._process.let_go()
        if self._client is not None:
            self._client.close()
        self._log.send(all_of_it=True)
        shutil.rmtree(self._root, ignore_errors=True)

    def _prepare(self) -> None:
        model = self._root / "model"
        model.mkdir(parents=True)
        download_artifact(self._objects, self._container, model, scratch=self._root)
        own = {
            name: f"{self._root}{value.removeprefix(ROOT)}" if value.startswith(ROOT) else value
            for name, value in self._container.environment.items()
        }
        port = free_port()
        command = self._settings.server_of(self._container.image)
        self._process = LeashedProcess(
            command or [self._settings.python, str(SERVING)],
            environment={
                **base_environment(),
                **self._aws(),
                "AWS_REGION": REGION,
                "SM_MODEL_DIR": str(model),
                "SAGEMAKER_BIND_TO_PORT": str(port),
                **own,
            },
            folder=model,
            log_file=self._log_file,
            grace_seconds=_GRACE_SECONDS,
        )
        self._client = httpx.Client(
            base_url=f"http://{LOOPBACK}:{port}", timeout=INVOCATION_SECONDS, trust_env=False
        )

    def _aws(self) -> dict[str, str]:
        container = self._container
        return {} if container.is_isolated else self._objects.roles.environment(container.role)

    def _await_ping(self) -> None:
        assert self._client is not None, "it is prepared"
        deadline = time.monotonic() + self._container.startup_seconds
        while time.monotonic() < deadline and self.is_alive() and not self._closed.is_set():
            try:
                if self._client.get("/ping", timeout=2.0).is_success:
                    return
            except httpx.TransportError:
                pass
            self._closed.wait(_TICK_SECONDS)
        raise HostError(
            "The primary container did not pass the ping health check. Please check the logs."
        )

    def _ask_for_adapter(self, method: str, path: str, body: Any) -> None:
        assert self._client is not None, "it is started"
        try:
            answer = self._client.request(method, path, json=body, timeout=_ADAPTER_SECONDS)
        except httpx.HTTPError as error:
            raise HostError(f"The adapter was not loaded: {error}") from error
        if not answer.is_success:
            raise HostError(f"The adapter was not loaded: {answer.status_code} {answer.text[:300]}")


class Hosts:
    """Copies of one host, which take turns.

    Args:
        name: Of the endpoint or component; its log has it.
        container: What each is made of.
    """

    def __init__(
        self, container: Container, *, objects: Objects, settings: Settings, name: str
    ) -> None:
        self._make = partial(Host, container, objects=objects, settings=settings, name=name)
        self._lock = threading.Lock()
        self._hosts: list[Host] = []
        self._turn = 0
        self._restarting: set[int] = set()
        self._closed = False
        self._adapters: dict[str, Path] = {}

    def resize(self, copies: int) -> None:
        """Have so many copies, all of them ready.

        Raises:
            HostError: One does not start; those that were there stay.
        """
        with self._lock:
            surplus, self._hosts = self._hosts[copies:], self._hosts[:copies]
            missing = copies - len(self._hosts)
        for host in surplus:
            host.close()
        for _ in range(missing):
            self._add()

    def pick(self) -> Host | None:
        """Return the host whose turn it is; None if there is no copy."""
        with self._lock:
            if not self._hosts:
                return None
            self._turn += 1
            return self._hosts[self._turn % len(self._hosts)]

    def replace(self, dead: Host) -> None:
        """Start another host in place of one whose process ended, beside what is done now."""
        with self._lock:
            if dead not in self._hosts or id(dead) in self._restarting or self._closed:
                return
            self._restarting.add(id(dead))
        threading.Thread(target=self._replace, args=[dead], daemon=True).start()

    def add_adapter(self, name: str, folder: Path) -> None:
        """Have each copy load an adapter, also those that are started later.

        Raises:
            HostError: One does not.
        """
        with self._lock:
            hosts = list(self._hosts)
            self._adapters[name] = folder
        for host in hosts:
            host.add_adapter(name, folder)

    def remove_adapter(self, name: str) -> None:
        """Have each copy forget an adapter."""
        with self._lock:
            hosts = list(self._hosts)
            self._adapters.pop(name, None)
        for host in hosts:
            try:
                host.remove_adapter(name)
            except HostError as error:
                logger.warning("%s", error)

    def close(self) -> None:
        """End all copies."""
        with self._lock:
            self._closed = True
            hosts, self._hosts = self._hosts, []
        for host in hosts:
            host.close()

    def _add(self) -> None:
        host = self._make()
        host.start()
        with self._lock:
            adapters = dict(self._adapters)
        try:
            for name, folder in adapters.items():
                host.add_adapter(name, folder)
        except HostError:
            host.close()
            raise
        with self._lock:
            if not self._closed:
                self._hosts.append(host)
                return
        host.close()

    def _replace(self, dead: Host) -> None:
        try:
            self._add()
        except HostError as error:
            logger.warning("a host that ended does not start again: %s", error)
        finally:
            with self._lock:
                self._restarting.discard(id(dead))
                if dead in self._hosts:
                    self._hosts.remove(dead)
            dead.close()


def await_capacity(faults: Faults, operation: str, name: str, *, over: threading.Event) -> None:
    """Do what a planted fault says of instances for hosts.

    Args:
        over: Whether the server ends.

    Raises:
        HostError: There are none.
    """
    if stuck := faults.take(operation, name, Kind.STUCK):
        until = time.monotonic() + (stuck.seconds or math.inf)
        while time.monotonic() < until and not over.wait(_TICK_SECONDS):
            pass
    if stuck or faults.take(operation, name, Kind.CAPACITY):
        raise HostError(NO_CAPACITY)


def container_of(model: Mapping[str, Any]) -> Container:
    """Return what a model's host is made of.

    Raises:
        ServiceError: The model has what only SageMaker has.
    """
    given = model.get("PrimaryContainer")
    if given is None:
        raise not_here("models of several containers")
    for name in ("ModelPackageName", "MultiModelConfig", "AdditionalModelDataSources"):
        if given.get(name):
            raise not_here(f"{name} of models")
    if given.get("Mode", "SingleModel") != "SingleModel":
        raise not_here("endpoints of several models")
    source = given.get("ModelDataSource", {}).get("S3DataSource")
    return Container(
        image=given.get("Image"),
        artifact=source["S3Uri"] if source else given.get("ModelDataUrl"),
        is_packed=source is None or source["CompressionType"] == "Gzip",
        environment=given.get("Environment", {}),
        role=model.get("ExecutionRoleArn"),
        is_isolated=model.get("EnableNetworkIsolation", False),
    )


def download_artifact(
    objects: Objects, container: Container, folder: Path, *, scratch: Path
) -> None:
    """Have a container's artifact in a folder.

    Raises:
        HostError: It is not there, or cannot be unpacked.
    """
    if container.artifact is None:
        return
    try:
        if container.is_packed:
            archive = scratch / "artifact.tar.gz"
            objects.download_file(container.artifact, archive)
            unpack(archive, folder)
            archive.unlink()
        else:
            objects.download(container.artifact, folder)
    except ObjectsError as error:
        raise HostError(
            f"Failed to download model data from {container.artifact}. Please ensure that there is"
            f" an object located at the URL: {error}"
        ) from error
