"""Parts that call graders."""

from functools import cached_property

import httpcore

from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.graders.probing import GraderProbing
from autotune_platform.graders.verification import GraderVerification
from autotune_platform.outbound.connections import connection_pool
from autotune_platform.runtime.environment import GatewayEnvironment
from autotune_platform.wiring.access import ApiParts, RegistryParts
from autotune_platform.wiring.graders import GraderAdminParts, StatisticsParts


class GatewayParts(RegistryParts):
    """What calls graders."""

    environment: GatewayEnvironment

    @cached_property
    def connections(self) -> httpcore.ConnectionPool:
        return connection_pool(admit_private=self.environment.admit_private_addresses)

    @cached_property
    def gateway(self) -> GraderGateway:
        return GraderGateway(self.connections)


class ProbingParts(GatewayParts, GraderAdminParts):
    """What probes graders."""

    environment: GatewayEnvironment

    @cached_property
    def probing(self) -> GraderProbing:
        return GraderProbing(graders=self.grader_service, gateway=self.gateway)


class GraderApiParts(ApiParts, GatewayParts, GraderAdminParts, StatisticsParts):
    """What registers and verifies graders."""

    environment: GatewayEnvironment

    @cached_property
    def verification(self) -> GraderVerification:
        return GraderVerification(graders=self.grader_service, gateway=self.gateway)
