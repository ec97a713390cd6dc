"""Erasing all that is kept of a task beside its configurations."""

from autotune_platform.apprentice.examples.repository import ExampleRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.runtime.parts import part


@part
class TaskErasing:
    """Erases what belongs to a task."""

    examples: ExampleRepository
    evidence: EvidenceRepository

    def erase(self, task_id: str) -> None:
        """Erase all of it; a repeat goes on with it.

        Raises:
            UnavailableError: a table kept something.
        """
        # What says that there are examples goes with the evidence.
        self.examples.erase(task_id)
        self.evidence.erase(task_id)
