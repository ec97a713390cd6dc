"""Trainings as callers see them."""

from autotune.protocol import apprentice_trainings as wire
from autotune_platform.apprentice.training.models import Training

_NOT_SHOWN = {
    "organization_id",
    "task_id",
    "task_name",
    "redrive",
    "due_at",
    "manifest",
    "model",
    "turn",
    "job",
    "plan",
    "artifact",
    "hosted",
    "trained_seconds",
    "is_canceled",
    "is_left",
}


def training_on_wire(training: Training, *, set_aside: int) -> wire.ApprenticeTraining:
    """Return a training.

    Args:
        set_aside: for jobs that are not paid for, in billionths of a US dollar.
    """
    manifest, model = training.manifest, training.model
    data = trained = None
    if manifest is not None:
        data = wire.ApprenticeTrainingData(
            train=manifest.train.rows,
            holdout=manifest.held_out.rows,
            train_sha256=manifest.train.sha256,
            holdout_sha256=manifest.held_out.sha256,
        )
    if model is not None:
        trained = wire.ApprenticeTrainedModel(
            name=model.name,
            sha256=model.sha256,
            size_bytes=model.size_bytes,
            seconds=model.seconds,
        )
    job = None
    if training.job is not None:
        job = wire.ApprenticeTrainingJob(
            name=training.job.name,
            attempt=training.job.attempt,
            instance_type=training.job.instance_type,
            reserved_nano_usd=training.job.reserved_nano_usd,
            is_resumed=training.job.is_resumed,
            billable_seconds=training.job.billable_seconds,
            spent_nano_usd=training.job.spent_nano_usd,
        )
    shown = training.model_dump(exclude=_NOT_SHOWN)
    return wire.ApprenticeTraining.model_validate(
        {
            **shown,
            "data": data,
            "model": trained,
            "job": job,
            "reserved_nano_usd": set_aside,
        }
    )
