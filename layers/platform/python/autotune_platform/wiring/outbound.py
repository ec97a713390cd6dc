"""Connections to addresses from outside."""

from functools import cached_property

import httpcore

from autotune_platform.outbound.connections import connection_pool
from autotune_platform.runtime.environment.gateway import GatewayEnvironment
from autotune_platform.wiring.access import RegistryParts


class OutboundParts(RegistryParts):
    """What calls addresses from outside."""

    environment: GatewayEnvironment

    @cached_property
    def connections(self) -> httpcore.ConnectionPool:
        return connection_pool(admit_private=self.environment.admit_private_addresses)
