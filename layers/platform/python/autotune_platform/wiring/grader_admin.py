"""Parts that change, probe and verify graders."""

from functools import cached_property

from autotune_platform.budgets.permits import Permits
from autotune_platform.budgets.slots import Slots
from autotune_platform.budgets.waiting import WaitingShares
from autotune_platform.graders.probing import GraderProbing
from autotune_platform.graders.service import GraderService
from autotune_platform.graders.verification import GraderVerification
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.ledger.usable_connections import UsableConnections
from autotune_platform.projections.window_figures import WindowStatistics
from autotune_platform.runs.durable_wait import TaskTokens
from autotune_platform.runs.parked import ParkedRepository
from autotune_platform.runs.parking import Parking, WellGraders
from autotune_platform.runs.repository import RunRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.graders import GraderApiEnvironment, ProbingEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.windows.counters import WindowCounters
from autotune_platform.wiring.access import ApiParts, RegistryParts
from autotune_platform.wiring.budgets import BudgetParts
from autotune_platform.wiring.gateway import GatewayParts
from autotune_platform.wiring.graders import StatisticsParts


class GraderAdminParts(RegistryParts):
    """Registered graders, for changing."""

    @cached_property
    def grader_service(self) -> GraderService:
        return GraderService(table=self.registry_table, secrets=self.secrets)


class ProbingParts(GatewayParts, GraderAdminParts, BudgetParts):
    """What probes graders."""

    environment: ProbingEnvironment

    @cached_property
    def probing(self) -> GraderProbing:
        completions = Table(self.environment.completions_table, clients.dynamodb())
        parking = Parking(
            records=RunRepository(completions),
            parked=ParkedRepository(completions),
            tokens=TaskTokens(stepfunctions=clients.stepfunctions()),
            permits=Permits(budgets=self.budget_states.budgets),
        )
        return GraderProbing(
            graders=self.grader_service,
            gateway=self.gateway,
            waiting=WellGraders(budgets=self.budget_states, parking=parking),
        )


class GraderApiParts(ApiParts, GatewayParts, GraderAdminParts, StatisticsParts, BudgetParts):
    """What registers and verifies graders."""

    environment: GraderApiEnvironment

    @cached_property
    def usable_connections(self) -> UsableConnections:
        return UsableConnections(repository=ConnectionRepository(self.registry_table))

    @cached_property
    def waiting(self) -> WaitingShares:
        slots = Slots(budgets=self.budget_states.budgets)
        return WaitingShares(slots=slots, of="verifications")

    @cached_property
    def window_statistics(self) -> WindowStatistics:
        completions = Table(self.environment.completions_table, clients.dynamodb())
        return WindowStatistics(counters=WindowCounters(completions))

    @cached_property
    def verification(self) -> GraderVerification:
        return GraderVerification(
            graders=self.grader_service,
            gateway=self.gateway,
            budgets=self.budget_states,
            api_url=self.environment.api_url,
        )
