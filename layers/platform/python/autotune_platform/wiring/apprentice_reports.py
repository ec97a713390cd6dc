"""Parts that tell operators of a task of the apprentice."""

from functools import cached_property

from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.reporting.service import TaskReports
from autotune_platform.budgets.uses import MoneyUses
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import ApprenticeReportsEnvironment
from autotune_platform.storage.table import Table
from autotune_platform.wiring.access import ApiParts
from autotune_platform.wiring.apprentice import ApprenticeParts


class ApprenticeReportParts(ApiParts, ApprenticeParts):
    """What reads a task's evidence, counts and money."""

    environment: ApprenticeReportsEnvironment

    @cached_property
    def apprentice_reports(self) -> TaskReports:
        return TaskReports(
            tasks=self.apprentice_tasks,
            evidence=EvidenceRepository(self.apprentice_table),
            money=MoneyUses(table=Table(self.environment.budgets_table, clients.dynamodb())),
        )
