"""Events of a training: that it began, and what it came to."""

from typing import Literal

from autotune.protocol.apprentice_events import ApprenticeTrainingChanged
from autotune.protocol.ids import derived_id
from autotune_platform.apprentice.training.models import Training
from autotune_platform.webhooks.models import Event


def training_changed(training: Training) -> Event:
    """Return the event ``apprentice.training`` of one that begins, or that has ended.

    It is the same, whoever has it written: each training has one of both.
    """
    change: Literal["began", "ended"] = "ended" if training.has_ended else "began"
    at = training.ended_at or training.created_at
    data = ApprenticeTrainingChanged(
        task_id=training.task_id,
        task_name=training.task_name,
        training_id=training.id,
        number=training.number,
        change=change,
        state=training.state,
        cause=training.cause,
        backend=training.backend,
        examples=training.examples,
        version=training.version,
        objections=list(training.objections),
        error=training.error,
        spent_nano_usd=training.spent_nano_usd,
        changed_at=at,
    )
    return Event(
        id=derived_id("evt", "apprentice.training", training.id, change),
        type="apprentice.training",
        organization_id=training.organization_id,
        occurred_at=at,
        data=data.model_dump(mode="json", by_alias=True),
    )
