"""What is left of a training that has ended: its figures, and the model where that is a version."""

from autotune_platform.apprentice.examples.files import DataFiles
from autotune_platform.apprentice.students.files import ModelFiles
from autotune_platform.apprentice.training.models import Training
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

        Of a training that has ended, or is gone, the data set goes, and each model that no version
        is, unless it is kept to be hosted later. So does what a step stored that was killed before
        anybody knew its name. Whoever is killed in between leaves that to the next one that looks.

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
        if found is None:
            self.models.delete_made(under.task_id, under.number, but=None)
        elif found.id == under.training_id and found.has_ended:
            self._delete_models(found)
        return True

    def _delete_models(self, training: Training) -> None:
        """Delete what a training that has ended stored as models, but the one that is needed."""
        name = training.model.name if training.model else None
        stays = self._is_needed(training)
        if name is not None and not stays:
            # Another training may have made it.
            self.models.delete(training.task_id, name)
        self.models.delete_made(training.task_id, training.number, but=name if stays else None)

    def _is_needed(self, training: Training) -> bool:
        """Whether the model of a training that has ended is a version, another's, or kept."""
        if training.version is not None or training.model_taken_by is not None:
            return True
        kept_until = training.model_kept_until
        return kept_until is not None and self.progress.clock.now() < kept_until
