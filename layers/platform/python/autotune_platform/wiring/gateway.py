"""Parts that call graders."""

from functools import cached_property

import httpcore

from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.outbound.connections import connection_pool
from autotune_platform.runtime.environment import GatewayEnvironment
from autotune_platform.wiring.access import RegistryParts


class GatewayParts(RegistryParts):
    """What calls graders."""

    environment: GatewayEnvironment

    @cached_property
    def connections(self) -> httpcore.ConnectionPool:
        return connection_pool(admit_private=self.environment.admit_private_addresses)

    @cached_property
    def gateway(self) -> GraderGateway:
        return GraderGateway(self.connections)
