"""Erasing all that is kept of a task beside its configurations."""

from collections.abc import Callable

from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.students.files import ModelFiles
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.parts import part


@part
class TaskErasing:
    """Erases what belongs to a task.

    Attributes:
        files: where its models lie; None where no task is ever deleted.
    """

    examples: ExampleRepository
    evidence: EvidenceRepository
    trainings: TrainingRepository
    hostings: HostingRepository
    files: ModelFiles | None = None
    clock: Clock = SYSTEM_CLOCK

    def erase(self, task_id: str, *, has_time: Callable[[], bool] = lambda: True) -> bool:
        """Erase all of it, and return whether nothing is left; a repeat goes on with it.

        Args:
            has_time: whether there is time for some hundreds of items more.

        Raises:
            UnavailableError: a table or the bucket kept something.
        """
        assert self.files is not None, "who deletes tasks knows their files"
        # What hosts its versions costs money by the hour: the sweep of hostings takes it down.
        self.hostings.end(task_id, self.clock.now())
        # A training that is under way ends at its next step, as it is gone.
        self.trainings.erase(task_id)
        self.files.erase(task_id)
        self.hostings.erase_costs(task_id)
        # What says that there are examples goes with the evidence.
        is_erased = self.examples.erase(task_id, has_time=has_time)
        return is_erased and self.evidence.erase(task_id, has_time=has_time)
