"""Parts of the API of connections, which alone of the APIs of the ledger calls providers."""

from functools import cached_property

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.ledger.batching.resolving import BatchResolving
from autotune_platform.ledger.batching.revoking import ConnectionRevoking
from autotune_platform.ledger.connections import ConnectionService
from autotune_platform.ledger.token_repository import TokenRepository
from autotune_platform.ledger.tokens import TokenService
from autotune_platform.ledger.verifying import ConnectionVerifying
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.ledger import ConnectionApiEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.model_calls import ModelCallParts


class ConnectionApiParts(ApiParts, ModelCallParts):
    """What stores connections with their keys, and asks providers with these."""

    environment: ConnectionApiEnvironment

    @cached_property
    def llm_connections(self) -> ConnectionService:
        return ConnectionService(
            repository=self.connection_repository,
            keys=self.provider_keys,
            batches=self.llm_batches,
            admit_private=self.environment.admit_private_addresses,
        )

    @cached_property
    def revoking(self) -> ConnectionRevoking:
        return ConnectionRevoking(
            connections=self.llm_connections, batches=self.llm_batches, desk=self.job_desk
        )

    @cached_property
    def llm_tokens(self) -> TokenService:
        apprentice = Table(self.environment.apprentice_table, clients.dynamodb())
        return TokenService(
            repository=TokenRepository(self.registry_table),
            connections=self.connection_repository,
            tasks=TaskRepository(apprentice),
        )

    @cached_property
    def resolving(self) -> BatchResolving:
        return BatchResolving(
            batches=self.llm_batches, creations=self.llm_creations, desk=self.job_desk
        )

    @cached_property
    def waiting(self) -> WaitingShares:
        slots = Slots(budgets=BudgetRepository(self.budgets_table))
        return WaitingShares(slots=slots, of="connections")

    @cached_property
    def verifying(self) -> ConnectionVerifying:
        return ConnectionVerifying(calls=self.ledger_calls, connections=self.connection_repository)
