"""Parts that look after tasks of the apprentice."""

from functools import cached_property

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.configuration.service import TaskConfigurations
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import ApprenticeEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.graders import GraderParts


class ApprenticeParts(GraderParts):
    """Tasks of the apprentice."""

    environment: ApprenticeEnvironment

    @cached_property
    def apprentice_table(self) -> Table:
        return Table(self.environment.apprentice_table, clients.dynamodb())

    @cached_property
    def apprentice_evidence(self) -> EvidenceRepository:
        return EvidenceRepository(self.apprentice_table)

    @cached_property
    def apprentice_tasks(self) -> TaskConfigurations:
        return TaskConfigurations(
            repository=TaskRepository(self.apprentice_table),
            connections=UsableConnections(repository=ConnectionRepository(self.registry_table)),
            graders=self.graders,
            prices=Prices(),
            admit_private=self.environment.admit_private_addresses,
            remains=self.apprentice_evidence,
        )


class ApprenticeApiParts(ApiParts, ApprenticeParts):
    """What manages tasks of the apprentice."""

    environment: ApprenticeEnvironment
