"""Environments of the functions that operators call."""

from pydantic import Json

from autotune_platform.runtime.environment.base import Environment
from autotune_platform.runtime.environment.exports import ExportEnvironment


class DeletionEnvironment(ExportEnvironment):
    """For the function that deletes organisations."""

    deliveries_table: str
    budgets_table: str
    decks_table: str
    apprentice_table: str
    apprentice_bucket: str


class DeadLetterEnvironment(Environment):
    """For the function that moves dead letters back to their queues.

    Attributes:
        dead_letters: of each queue the address of its dead letters, and its own.
    """

    dead_letters: Json[dict[str, tuple[str, str]]]
