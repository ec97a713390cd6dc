"""The environment of the function that shows runs."""

from autotune_platform.runtime.environment.completions import ContentEnvironment


class RunApiEnvironment(ContentEnvironment):
    """For the function that shows and explains runs."""

    ledger_table: str
