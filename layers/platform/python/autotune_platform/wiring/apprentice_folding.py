"""Parts that follow the apprentice's table."""

from functools import cached_property

from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.erasing import TaskErasing
from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.folding.caching import EvidenceCache
from autotune_platform.apprentice.folding.following import (
    CHANGED_RULES,
    CHANGED_RUNS,
    RuleFollowing,
    RunFollowing,
)
from autotune_platform.apprentice.folding.known_tasks import KnownTasks
from autotune_platform.apprentice.folding.refolding import Refolding
from autotune_platform.apprentice.folding.refolds import RefoldRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.folding.service import RunFolding
from autotune_platform.apprentice.folding.sweeping import RunSweeping
from autotune_platform.apprentice.folding.tails import Tails
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.runs.handing_over import RunQueue
from autotune_platform.apprentice.runs.repository import RunRepository
from autotune_platform.apprentice.students.files import ModelFiles
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.apprentice_runs import (
    FoldingEnvironment,
    RunSweepEnvironment,
)
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
    def evidence(self) -> EvidenceRepository:
        return EvidenceRepository(self.apprentice_table)

    @cached_property
    def examples(self) -> ExampleRepository:
        return ExampleRepository(self.apprentice_table)

    @cached_property
    def task_repository(self) -> TaskRepository:
        return TaskRepository(self.apprentice_table)

    @cached_property
    def run_queue(self) -> RunQueue:
        return RunQueue(sqs=clients.sqs(), queue_url=self.environment.run_queue_url)

    @cached_property
    def run_folding(self) -> RunFolding:
        return RunFolding(
            repository=self.evidence,
            examples=self.examples,
            tasks=self.known_tasks,
            tails=self.tails,
            cache=self.evidence_cache,
            refolds=self.refolds,
        )

    @cached_property
    def known_tasks(self) -> KnownTasks:
        return KnownTasks(self.task_repository, self.evidence)

    @cached_property
    def tails(self) -> Tails:
        return Tails(self.evidence)

    @cached_property
    def evidence_cache(self) -> EvidenceCache:
        return EvidenceCache(repository=self.evidence, tasks=self.known_tasks, tails=self.tails)

    @cached_property
    def refolds(self) -> RefoldRepository:
        return RefoldRepository(self.apprentice_table)

    @cached_property
    def refolding(self) -> Refolding:
        return Refolding(
            repository=self.evidence,
            refolds=self.refolds,
            tasks=self.known_tasks,
            tails=self.tails,
            cache=self.evidence_cache,
        )

    @cached_property
    def run_router(self) -> Router:
        return Router(
            Route(
                CHANGED_RUNS,
                lambda: RunFollowing(folding=self.run_folding, queue=self.run_queue),
            ),
            Route(CHANGED_RULES, lambda: RuleFollowing(refolding=self.refolding)),
        )


class RunSweepParts(FoldingParts):
    """What looks after runs that nobody works on any more."""

    def __init__(self, environment: RunSweepEnvironment) -> None:
        super().__init__(environment)
        self.files = ModelFiles(bucket=environment.apprentice_bucket, s3=clients.s3())

    @cached_property
    def run_sweeping(self) -> RunSweeping:
        return RunSweeping(
            repository=self.evidence,
            remains=TaskErasing(
                examples=self.examples,
                evidence=self.evidence,
                trainings=TrainingRepository(self.apprentice_table),
                hostings=HostingRepository(self.apprentice_table),
                files=self.files,
            ),
            tasks=self.task_repository,
            runs=RunRepository(self.apprentice_table),
            folding=self.run_folding,
            refolding=self.refolding,
            queue=self.run_queue,
        )
