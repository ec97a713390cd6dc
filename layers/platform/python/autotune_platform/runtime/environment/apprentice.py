"""Environments of the functions of the apprentice's tasks, and what others of it share."""

from pydantic import Json

from autotune_platform.runtime.environment.base import Environment
from autotune_platform.runtime.environment.gateway import GatewayEnvironment


class ApprenticeEnvironment(GatewayEnvironment):
    """For functions that look after tasks of the apprentice."""

    apprentice_table: str
    budgets_table: str


class ApprenticeTasksEnvironment(ApprenticeEnvironment):
    """For the function that deletes tasks, with their files."""

    apprentice_bucket: str


class TrainingPricesEnvironment(Environment):
    """For functions that know what instances cost.

    Attributes:
        training_prices: US dollars an hour by type of instance.
    """

    training_prices: Json[dict[str, str]]


class ApprenticeApiEnvironment(ApprenticeTasksEnvironment, TrainingPricesEnvironment):
    """For the function that manages tasks, and shows certificates of their models.

    Attributes:
        certificates_key: id of the KMS key that signs those.
        ledger_table: has keys of connections, encrypted.
        provider_keys_key: id of the KMS key that decrypts them.
    """

    certificates_key: str
    ledger_table: str
    provider_keys_key: str


class StudentEnvironment(Environment):
    """For functions that read or write what was trained."""

    apprentice_bucket: str
