"""Parts that call graders."""

from functools import cached_property

from autotune_platform.gateway.gateway import GraderGateway
from autotune_platform.wiring.outbound import OutboundParts


class GatewayParts(OutboundParts):
    """What calls graders."""

    @cached_property
    def gateway(self) -> GraderGateway:
        return GraderGateway(self.connections)
