"""A training as it is stored."""

from datetime import datetime, timedelta

from autotune.protocol.apprentice_models import TrainingBackend
from autotune.protocol.apprentice_trainings import (
    ApprenticeTrainingCause,
    ApprenticeTrainingError,
    ApprenticeTrainingObjection,
    ApprenticeTrainingShortage,
    ApprenticeTrainingState,
    ApprenticeTrainingStep,
    ApprenticeTrainingTest,
)
from autotune_platform.apprentice.examples.manifests import Manifest
from autotune_platform.runtime.frozen_model import FrozenModel

START_WITHIN = timedelta(minutes=5)
"""So long a step may wait for a function, before its execution counts as lost."""


class TrainedModel(FrozenModel):
    """What came out of a training.

    Attributes:
        name: no other model ever has it.
        sha256: of the artifact's bytes, in hexadecimal digits.
        size_bytes: how many there are.
        seconds: how long it took to compute.
    """

    name: str
    sha256: str
    size_bytes: int
    seconds: float


class Training(FrozenModel):
    """One training; see ``autotune.protocol.apprentice_trainings``.

    Attributes:
        task_name: names are never given to another task while it runs.
        cause: why it began.
        examples: how many there were of its definition when it began.
        manifest: of the frozen examples.
        redrive: how often its execution was lost; executions before the last redrive have no say.
        due_at: when a step that has not reported by then counts as lost.
    """

    id: str
    organization_id: str
    task_id: str
    task_name: str
    number: int
    state: ApprenticeTrainingState = "running"
    step: ApprenticeTrainingStep = "freeze"
    redrive: int = 0
    cause: ApprenticeTrainingCause = "request"
    examples: int = 0
    backend: TrainingBackend
    configuration_version: int
    definition_hash: str
    shortage: ApprenticeTrainingShortage | None = None
    manifest: Manifest | None = None
    model: TrainedModel | None = None
    test: ApprenticeTrainingTest | None = None
    objections: tuple[ApprenticeTrainingObjection, ...] = ()
    error: ApprenticeTrainingError | None = None
    version: int | None = None
    created_at: datetime
    created_by: str
    due_at: datetime
    ended_at: datetime | None = None

    @property
    def has_ended(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.state != "running"


class Certificate(FrozenModel):
    """A certificate of the version that a training made; see ``autotune.protocol``.

    Attributes:
        text: its canonical JSON, which was signed.
        key_id: of the public key that it is checked by.
        signature: in Base64.
    """

    version: int
    text: str
    key_id: str
    signature: str


class LastTraining(FrozenModel):
    """The last training of a task, as whoever begins the next needs it.

    Attributes:
        number: how many there were.
        running: the number of the one under way.
        definition_hash: under which it was begun; None where there was none.
        examples: how many there were of that definition then.
        outcome: how it ended; None while it is under way.
        emergency: number of the latest version that had raised an emergency by then.
    """

    number: int = 0
    running: int | None = None
    definition_hash: str | None = None
    examples: int = 0
    outcome: ApprenticeTrainingState | None = None
    emergency: int = 0
