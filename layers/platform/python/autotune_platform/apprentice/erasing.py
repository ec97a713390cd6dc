"""Erasing all that is kept of a task beside its configurations."""

from collections.abc import Callable

from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.runtime.parts import part


@part
class TaskErasing:
    """Erases what belongs to a task."""

    examples: ExampleRepository
    evidence: EvidenceRepository

    def erase(self, task_id: str, *, has_time: Callable[[], bool] = lambda: True) -> bool:
        """Erase all of it, and return whether nothing is left; a repeat goes on with it.

        Args:
            has_time: whether there is time for some hundreds of items more.

        Raises:
            UnavailableError: a table kept something.
        """
        # What says that there are examples goes with the evidence.
        is_erased = self.examples.erase(task_id, has_time=has_time)
        return is_erased and self.evidence.erase(task_id, has_time=has_time)
