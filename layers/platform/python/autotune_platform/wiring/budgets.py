"""Parts that keep graders' limits and circuits."""

from functools import cached_property

from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.states import BudgetStates
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.graders import GraderEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import RegistryParts


class BudgetParts(RegistryParts):
    """Limits and circuits, as those see them who ask for no permit."""

    environment: GraderEnvironment

    @cached_property
    def budget_states(self) -> BudgetStates:
        table = Table(self.environment.budgets_table, clients.dynamodb())
        return BudgetStates(budgets=BudgetRepository(table))
