"""Parts that follow the apprentice's table."""

from functools import cached_property

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.folding.following import (
    CHANGED_RULES,
    CHANGED_RUNS,
    RuleFollowing,
    RunFollowing,
)
from autotune_platform.apprentice.folding.known_tasks import KnownTasks
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.folding.service import RunFolding
from autotune_platform.apprentice.folding.tails import Tails
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment import FoldingEnvironment
from autotune_platform.storage.changes import Route, Router
from autotune_platform.storage.table import Table


class FoldingParts:
    """What counts runs, and folds their pairs into evidence."""

    def __init__(self, environment: FoldingEnvironment) -> None:
        self.environment = environment

    @cached_property
    def apprentice_table(self) -> Table:
        return Table(self.environment.apprentice_table, clients.dynamodb())

    @cached_property
    def run_folding(self) -> RunFolding:
        repository = EvidenceRepository(self.apprentice_table)
        return RunFolding(
            repository=repository,
            tasks=KnownTasks(TaskRepository(self.apprentice_table), repository),
            tails=Tails(repository),
        )

    @cached_property
    def run_router(self) -> Router:
        return Router(
            Route(CHANGED_RUNS, lambda: RunFollowing(folding=self.run_folding)),
            Route(CHANGED_RULES, lambda: RuleFollowing(folding=self.run_folding)),
        )
