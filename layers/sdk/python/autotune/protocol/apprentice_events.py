"""Events of the apprentice on the wire."""

from typing import Literal

from autotune.protocol.apprentice_models import TrainingBackend
from autotune.protocol.apprentice_trainings import (
    ApprenticeTrainingCause,
    ApprenticeTrainingError,
    ApprenticeTrainingObjection,
    ApprenticeTrainingState,
)
from autotune.protocol.types import ResponseModel, Timestamp


class ModelPromoted(ResponseModel):
    """The data of ``model.promoted``: a version of the small model answers from now on.

    Attributes:
        version: its number.
        pairs: how many comparisons that chance chose speak for it.
        mean_agreement: of the last of them, from 0 to 1; None where there is no window.
    """

    task_id: str
    task_name: str
    version: int
    pairs: int
    mean_agreement: float | None = None
    promoted_at: Timestamp


class ApprenticeCanaryMoved(ResponseModel):
    """The data of ``apprentice.canary``: a version answers another share of callers.

    Attributes:
        version: its number.
        change: it ``began``, ``advanced`` to the next share, or was ``rolled_back`` by an alarm.
        step: which share of how many it has, or had, from 1.
        share: of the inputs that it answers from now on, from 0 to 1.
        sequence: the pair that did it, by its number among those of the version.
        mean_agreement: of the last pairs, from 0 to 1; None where there is no window.
    """

    task_id: str
    task_name: str
    version: int
    change: Literal["began", "advanced", "rolled_back"]
    step: int
    steps: int
    share: float
    sequence: int
    mean_agreement: float | None = None
    changed_at: Timestamp


class ApprenticeTrainingChanged(ResponseModel):
    """The data of ``apprentice.training``: a training began, or it ended.

    Attributes:
        number: of the training, among those of the task.
        change: it ``began``, or it ``ended``, as ``state`` says.
        cause: why it began.
        version: the one that came of it, in shadow; None of others.
        objections: why it was discarded.
        error: why it failed.
        spent_nano_usd: what its jobs cost, in billionths of a US dollar.
        changed_at: when it began or ended.
    """

    task_id: str
    task_name: str
    training_id: str
    number: int
    change: Literal["began", "ended"]
    state: ApprenticeTrainingState
    cause: ApprenticeTrainingCause
    backend: TrainingBackend
    examples: int
    version: int | None = None
    objections: list[ApprenticeTrainingObjection] = []
    error: ApprenticeTrainingError | None = None
    spent_nano_usd: int = 0
    changed_at: Timestamp


class ApprenticeAlarm(ResponseModel):
    """The data of ``apprentice.alarm``: a version or its inputs are not what they were.

    Attributes:
        version: its number.
        kind: after an ``alarm`` it answers nobody until it has graduated again; after an
            ``emergency`` it is not asked any more. With ``coverage`` it goes on to answer what it
            is sure of, and all of that is checked for a while.
        sequence: the pair that raised it, by its number among those of the version; with
            ``coverage``, the last one before.
        mean_agreement: of the last pairs, from 0 to 1.
        coverage: with ``coverage``, the share of inputs that the version was sure of.
        least_coverage: the share that it was to be sure of at least.
    """

    task_id: str
    task_name: str
    version: int
    kind: Literal["alarm", "emergency", "coverage"]
    sequence: int
    mean_agreement: float | None = None
    coverage: float | None = None
    least_coverage: float | None = None
    raised_at: Timestamp
