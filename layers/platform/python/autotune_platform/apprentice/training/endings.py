"""What is left of a training that has ended: its figures, and the model where that is a version."""

from autotune_platform.apprentice.examples.files import DataFiles
from autotune_platform.apprentice.students.files import ModelFiles
from autotune_platform.apprentice.training.progress import TrainingProgress, Under
from autotune_platform.runtime.parts import part


@part
class TrainingEndings:
    """Tells whether an execution is over, and deletes what nobody needs any more."""

    progress: TrainingProgress
    data: DataFiles
    models: ModelFiles

    def is_over(self, under: Under) -> bool:
        """Return whether an execution has nothing left to do.

        Of a training that has ended the data set goes, and the model that no version is, unless it
        is kept to be hosted later. Whoever is killed in between leaves that to the next one that
        looks.

        Raises:
            UnavailableError: the bucket kept some of it.
        """
        if self.progress.at(under) is not None:
            return False
        found = self.progress.trainings.get(under.task_id, under.number)
        if found is None or found.id != under.training_id or found.has_ended:
            self.data.delete(under.task_id, under.training_id)
            if found is None or found.plan is not None:
                self.models.delete_jobs(under.task_id, under.training_id)
        is_left = found is not None and found.has_ended and found.version is None
        if found is not None and is_left and found.model and found.model_taken_by is None:
            kept_until = found.model_kept_until
            if kept_until is None or self.progress.clock.now() >= kept_until:
                self.models.delete(under.task_id, found.model.name)
        return True
