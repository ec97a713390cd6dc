"""Parts for operators."""

from functools import cached_property

from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.graders.repository import health_partition
from autotune_platform.operations.dead_letters import DeadLetters
from autotune_platform.operations.deleting import OrganizationDeletion
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.operations import (
    DeadLetterEnvironment,
    DeletionEnvironment,
)
from autotune_platform.storage.purging import OrganizationItems
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.completions import CompletionParts


class DeletionParts(ApiParts, CompletionParts):
    """What deletes organisations."""

    environment: DeletionEnvironment

    @cached_property
    def deletion(self) -> OrganizationDeletion:
        tables = {
            "completions": self.environment.completions_table,
            "registry": self.environment.registry_table,
            "deliveries": self.environment.deliveries_table,
            "ledger": self.environment.ledger_table,
            "budgets": self.environment.budgets_table,
            "decks": self.environment.decks_table,
            "apprentice": self.environment.apprentice_table,
        }
        return OrganizationDeletion(
            organizations=self.organizations,
            batches=self.open_batches,
            completions=self.completions,
            tables={
                name: OrganizationItems(table=table, client=clients.dynamodb())
                for name, table in tables.items()
            },
            health_partition=health_partition,
            end_hostings=HostingRepository(
                Table(self.environment.apprentice_table, clients.dynamodb())
            ).end,
            s3=clients.s3(),
            content_bucket=self.environment.content_bucket,
            export_bucket=self.environment.export_bucket,
            ledger_bucket=self.environment.ledger_bucket,
            apprentice_bucket=self.environment.apprentice_bucket,
        )


class DeadLetterParts:
    """What moves dead letters back."""

    def __init__(self, environment: DeadLetterEnvironment) -> None:
        self.environment = environment

    @cached_property
    def dead_letters(self) -> DeadLetters:
        return DeadLetters(sqs=clients.sqs(), queues=self.environment.dead_letters)
