"""Environments of the functions of the ledger."""

from autotune_platform.runtime.environment.base import Environment
from autotune_platform.runtime.environment.gateway import GatewayEnvironment


class LedgerEnvironment(Environment):
    """For functions that read or write the ledger."""

    ledger_table: str
    ledger_bucket: str
    budgets_table: str


class LedgerApiEnvironment(LedgerEnvironment):
    """For the function that takes requests to language models, and shows what came of them."""

    submit_llm_batch_arn: str


class ImportEnvironment(LedgerApiEnvironment):
    """For functions that import files of requests to language models."""

    export_bucket: str


class ImportApiEnvironment(ImportEnvironment):
    """For the function that starts imports."""

    import_llm_requests_arn: str


class ConnectionEnvironment(LedgerEnvironment, GatewayEnvironment):
    """For functions that call language models with the keys of connections."""

    provider_keys_key: str


class ConnectionApiEnvironment(ConnectionEnvironment):
    """For the function that keeps connections, and tokens of these and of tasks."""

    apprentice_table: str


class LedgerWorkEnvironment(ConnectionEnvironment):
    """For the function that works on batches; ``model_functions`` are those of its kind."""

    model_functions: int | None = None


class LedgerSweepEnvironment(LedgerEnvironment):
    """For the function that starts batches, and ends calls and imports that were lost."""

    apprentice_table: str
    submit_llm_batch_arn: str
    import_llm_requests_arn: str
