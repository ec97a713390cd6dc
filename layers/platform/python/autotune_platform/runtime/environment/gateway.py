"""The environment of functions that call graders."""

from autotune_platform.runtime.environment.base import Environment


class GatewayEnvironment(Environment):
    """For functions that call graders."""

    admit_private_addresses: bool = False
