"""The second step: a student learns from the frozen examples."""

import hashlib
import time

from autotune_platform.apprentice.examples.data_sets import DataSets
from autotune_platform.apprentice.examples.manifests import TamperedDataSetError
from autotune_platform.apprentice.students.artifacts import to_bytes
from autotune_platform.apprentice.students.errors import UntrainableError
from autotune_platform.apprentice.students.files import ModelFiles, model_name
from autotune_platform.apprentice.students.linear import train
from autotune_platform.apprentice.training.endings import TrainingEndings
from autotune_platform.apprentice.training.models import TrainedModel
from autotune_platform.apprentice.training.progress import Begun, TrainingProgress, Under
from autotune_platform.runtime.parts import part


@part
class TrainStep:
    """Trains a linear student."""

    progress: TrainingProgress
    endings: TrainingEndings
    data_sets: DataSets
    files: ModelFiles

    def run(self, under: Under) -> bool:
        """Train, and return whether the execution is over."""
        begun = self.progress.start(under, "train")
        if begun is not None:
            try:
                model = self._trained(begun)
            except UntrainableError as error:
                # It has numbers, and no text of an example.
                self.progress.fail(begun.training, "untrainable", reason=str(error))
            except TamperedDataSetError:
                self.progress.fail(begun.training, "data_refused")
            else:
                # Where another had a say, whoever ends the training deletes what is stored here.
                self.progress.go_on(begun.training, "validate", model=model)
        return self.endings.is_over(under)

    def _trained(self, begun: Begun) -> TrainedModel:
        training = begun.training
        assert training.manifest is not None
        started = time.monotonic()
        rows = self.data_sets.rows(training.manifest, "train")
        content = to_bytes(train((row.input, row.output) for row in rows))
        sha256 = hashlib.sha256(content).hexdigest()
        name = model_name(training.task_id, training.number, sha256)
        self.files.put(training.task_id, name, content)
        return TrainedModel(
            name=name,
            sha256=sha256,
            size_bytes=len(content),
            seconds=round(time.monotonic() - started, 3),
        )
