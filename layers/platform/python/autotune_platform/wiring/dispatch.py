"""Parts that start runs."""

from functools import cached_property

from autotune_platform.completions.queue_progress import QueueProgress
from autotune_platform.runs.recorder import RunRecorder
from autotune_platform.runs.repository import RunRepository
from autotune_platform.runs.room import RunRoom
from autotune_platform.runtime import clients
from autotune_platform.runtime.environment.scoring import DispatchEnvironment
from autotune_platform.runtime.executions import Executions
from autotune_platform.scoring.dispatch import DispatchService
from autotune_platform.storage.table import Table


class DispatchParts:
    """What starts runs."""

    def __init__(self, environment: DispatchEnvironment) -> None:
        self.environment = environment

    @cached_property
    def completions_table(self) -> Table:
        return Table(self.environment.completions_table, clients.dynamodb())

    @cached_property
    def queue_progress(self) -> QueueProgress:
        return QueueProgress(table=self.completions_table)

    @cached_property
    def dispatch(self) -> DispatchService:
        executions = Executions(
            state_machine_arn=self.environment.score_completions_arn,
            stepfunctions=clients.stepfunctions(),
        )
        runs = RunRepository(self.completions_table)
        return DispatchService(
            runs=executions,
            recorder=RunRecorder(repository=runs),
            room=RunRoom(runs=runs, most=self.environment.grading_functions),
        )
