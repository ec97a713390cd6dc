"""Parts that show what happened over time."""

from functools import cached_property

from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.states import BudgetStates
from autotune_platform.budgets.uses import MoneyUses
from autotune_platform.overview.service import OverviewService
from autotune_platform.projections.window_figures import WindowStatistics
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.overview import OverviewEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.windows.counters import WindowCounters
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.completions import CompletionParts
from autotune_platform.wiring.tasks import TaskParts


class OverviewParts(ApiParts, CompletionParts, TaskParts):
    """What shows an organisation, and its tasks, over time."""

    environment: OverviewEnvironment

    @cached_property
    def window_statistics(self) -> WindowStatistics:
        return WindowStatistics(counters=WindowCounters(self.completions_table))

    @cached_property
    def overview(self) -> OverviewService:
        budgets = Table(self.environment.budgets_table, clients.dynamodb())
        return OverviewService(
            windows=self.window_statistics,
            open_counts=self.completion_repository.open_counts,
            open_batches=self.open_batches,
            graders=self.graders,
            circuits=BudgetStates(budgets=BudgetRepository(budgets)),
            money=MoneyUses(table=budgets),
        )
