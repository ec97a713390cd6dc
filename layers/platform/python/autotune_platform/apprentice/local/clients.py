"""Who asks a version: it follows from what serves it, and from the task's configuration."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from autotune.protocol.apprentice_models import ServingBackend
from autotune_platform.apprentice.local.asking import (
    KnownDigests,
    LinearClient,
    SageMakerClient,
    ServerClient,
)
from autotune_platform.apprentice.local.contract import CallNotes, LocalClient, ServedModel
from autotune_platform.apprentice.local.exchanging import ModelServers
from autotune_platform.apprentice.local.linear import StudentInvocations
from autotune_platform.apprentice.local.listing import REGISTERED
from autotune_platform.apprentice.local.sagemaker import EndpointInvocations
from autotune_platform.runtime.parts import part


@part
class BackendClients:
    """Makes clients, which are cheap: what they share lives as long as the process.

    Attributes:
        servers: of the tasks' owners, on addresses that are checked.
        endpoints: makes what asks SageMaker, when that is first done.
        students: makes what asks the function that hosts linear students, when that is first done.
        notes: learns of calls of SageMaker's endpoints.
    """

    servers: ModelServers
    endpoints: Callable[[], EndpointInvocations]
    students: Callable[[], StudentInvocations]
    notes: CallNotes
    digests: KnownDigests = field(default_factory=KnownDigests)

    def client_for(self, configuration: Mapping[str, Any], served: ServedModel) -> LocalClient:
        """Return what asks a version; see ``contract.LocalClients``."""
        local = configuration["local"]
        backend: ServingBackend = local["backend"]
        if served.backend is not None and served.backend not in REGISTERED:
            # It serves until a version of what the task has now takes its place.
            backend = served.backend
        if backend in REGISTERED:
            return ServerClient(
                servers=self.servers,
                digests=self.digests,
                backend=backend,
                url=local["url"],
                served=served,
                idle_minutes=local["idleMinutes"],
                connection_id=local.get("connectionId"),
            )
        if backend == "sagemaker":
            return SageMakerClient(
                invoke=self.endpoints(),
                served=served,
                notes=self.notes,
                idle_minutes=local["idleMinutes"],
            )
        return LinearClient(invoke=self.students(), served=served)
