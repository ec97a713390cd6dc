"""Going on with a run in another execution, before the history of this one is full."""

from typing import TYPE_CHECKING

from autotune_platform.runs.progress import ChunkProgress
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.runtime.executions import Executions
from autotune_platform.runtime.parts import part

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


@part
class RunContinuation:
    """Starts the next execution of a run: the run keeps its id, its record and what it waits for.

    The execution's name follows from run and round, so that a repetition starts nothing.
    """

    stepfunctions: "SFNClient"

    def go_on(self, progress: ChunkProgress, state_machine_arn: str) -> None:
        """Start it.

        Args:
            state_machine_arn: of the execution that asks for it.

        Raises:
            UnavailableError: it could not be started; it may be soon.
        """
        executions = Executions(
            state_machine_arn=state_machine_arn, stepfunctions=self.stepfunctions
        )
        following = progress.model_copy(update={"is_history_full": False})
        name = f"{progress.run_id}-{progress.rounds}"
        if not executions.try_start(name, following.model_dump_json()):
            raise UnavailableError("the run cannot go on yet", retry_after_seconds=1)
