"""Environments of the functions of graders."""

from autotune_platform.runtime.environment.gateway import GatewayEnvironment


class GraderEnvironment(GatewayEnvironment):
    """For functions that look after graders."""

    budgets_table: str


class GraderApiEnvironment(GraderEnvironment):
    """For the function that registers and verifies graders, and shows how they are."""

    api_url: str
    completions_table: str


class ProbingEnvironment(GraderEnvironment):
    """For the function that probes graders, and wakes what waits for them."""

    completions_table: str
