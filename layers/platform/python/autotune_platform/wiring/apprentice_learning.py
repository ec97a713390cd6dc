"""Parts of the steps of trainings that compute, with numpy."""

from functools import cached_property

from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.hosting.repository import HostingRepository
from autotune_platform.apprentice.standing import Standings
from autotune_platform.apprentice.training.learning import TrainStep
from autotune_platform.apprentice.training.validating import ValidateStep
from autotune_platform.wiring.apprentice_training import TrainingParts


class LearningParts(TrainingParts):
    """What trains students, and judges them."""

    @cached_property
    def train_step(self) -> TrainStep:
        return TrainStep(
            progress=self.training_progress,
            endings=self.training_endings,
            data_sets=self.data_sets,
            files=self.model_files,
        )

    @cached_property
    def validate_step(self) -> ValidateStep:
        return ValidateStep(
            progress=self.training_progress,
            endings=self.training_endings,
            data_sets=self.data_sets,
            files=self.model_files,
            clients=self.local_clients,
            hostings=HostingRepository(self.apprentice_table),
            meanings=self.meanings,
            standings=Standings(
                tasks=self.task_repository, evidence=EvidenceRepository(self.apprentice_table)
            ),
        )
