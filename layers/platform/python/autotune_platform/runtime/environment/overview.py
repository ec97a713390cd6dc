"""The environment of the function that shows what happened over time."""

from autotune_platform.runtime.environment.completions import ContentEnvironment


class OverviewEnvironment(ContentEnvironment):
    """For the function that shows what happened over time."""

    budgets_table: str
