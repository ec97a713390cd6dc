"""The step after a job: what it left is looked at before anybody loads it."""

from autotune_platform.apprentice.students.archives import TrainedOn
from autotune_platform.apprentice.students.errors import BadArtifactError
from autotune_platform.apprentice.students.files import TamperedArtifactError, model_name
from autotune_platform.apprentice.training.endings import TrainingEndings
from autotune_platform.apprentice.training.job_files import JobFiles
from autotune_platform.apprentice.training.models import TrainedModel
from autotune_platform.apprentice.training.progress import Begun, TrainingProgress, Under
from autotune_platform.runtime.parts import part


@part
class VerifyStep:
    """Takes over models that jobs trained, and no others."""

    progress: TrainingProgress
    endings: TrainingEndings
    files: JobFiles

    def run(self, under: Under) -> bool:
        """Look at the artifact, and return whether the execution is over."""
        begun = self.progress.start(under, "verify")
        if begun is not None:
            try:
                model = self._taken_over(begun)
            except (BadArtifactError, TamperedArtifactError) as error:
                self.progress.fail(begun.training, "artifact_refused", reason=str(error)[:200])
            else:
                # Where another had a say, whoever ends the training deletes what is kept here.
                self.progress.go_on(begun.training, "deploy", model=model)
        return self.endings.is_over(under)

    def _taken_over(self, begun: Begun) -> TrainedModel:
        training, document = begun.training, begun.configuration.document
        assert training.manifest is not None
        assert training.job is not None
        assert training.plan is not None
        trained_on = TrainedOn(
            training_id=training.id,
            base_model=document["training"]["baseModel"],
            base_sha256=training.plan.base_sha256 or "",
            data_sha256=training.manifest.train.sha256,
        )
        job = training.job.name
        archive, etag = self.files.looked_at(
            training.task_id, job, training.artifact or "", trained_on
        )
        name = model_name(training.task_id, training.number, archive.sha256)
        self.files.keep(training.task_id, job, training.id, model=name, etag=etag)
        return TrainedModel(
            name=name,
            sha256=archive.sha256,
            size_bytes=archive.size_bytes,
            seconds=training.trained_seconds,
            kind="lora",
            base_model=trained_on.base_model,
            base_sha256=trained_on.base_sha256,
            rank=document["training"]["lora"]["r"],
        )
