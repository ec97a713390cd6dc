"""A training as it is stored."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from autotune.protocol.apprentice_models import TrainingBackend
from autotune.protocol.apprentice_trainings import (
    ApprenticeTrainingCause,
    ApprenticeTrainingError,
    ApprenticeTrainingHosting,
    ApprenticeTrainingObjection,
    ApprenticeTrainingShortage,
    ApprenticeTrainingState,
    ApprenticeTrainingStep,
    ApprenticeTrainingTest,
    ApprenticeTrainingWaitReason,
)
from autotune_platform.apprentice.examples.manifests import Manifest
from autotune_platform.apprentice.local.contract import ServedModel
from autotune_platform.runtime.frozen_model import FrozenModel

START_WITHIN = timedelta(minutes=5)
"""So long a step may wait for a function, before its execution counts as lost."""
MODEL_KEPT_FOR: Final = timedelta(days=30)
"""So long what was paid for may be hosted after its training ended: raising a quota takes days."""


ModelKind = Literal["linear", "lora"]


class TrainedModel(FrozenModel):
    """What came out of a training.

    Attributes:
        name: no other model ever has it.
        sha256: of the artifact's bytes, in hexadecimal digits.
        size_bytes: how many there are.
        seconds: how long it took to compute.
        kind: ``linear`` is an ``.npz`` that functions host; ``lora`` a ``.tar.gz`` with an adapter
            in safetensors, which needs its base model (``students.files.artifact_key``).
        base_model: of an adapter, and ``base_sha256`` the digest of that one's ``base.json``.
        rank: of an adapter; None where it was stored before it was.
    """

    name: str
    sha256: str
    size_bytes: int
    seconds: float
    kind: ModelKind = "linear"
    base_model: str | None = None
    base_sha256: str | None = None
    rank: int | None = None


class HostedModel(FrozenModel):
    """Where SageMaker hosts a model that is judged, and that callers will have there.

    Attributes:
        name: of the model at SageMaker, which no other ever has.
    """

    name: str
    endpoint: str | None
    component: str | None

    def served(self, task_id: str) -> ServedModel:
        """Return what it is asked by."""
        return ServedModel(
            self.name,
            endpoint=self.endpoint,
            component=self.component,
            task_id=task_id,
            backend="sagemaker",
        )


class TrainingJob(FrozenModel):
    """A job that was planned, and that money is set aside for.

    Attributes:
        name: no other job ever has it.
        attempt: the how many-th of its training.
        price_nano_usd: of an hour of its instance.
        reserved_nano_usd: what was set aside, in the periods that are named.
        is_resumed: it goes on from checkpoints of one that ran out of time.
        is_given_up: it is stopped, as it waited too long for an instance.
        planned_at: when.
        billable_seconds: for how long it is paid, and ``spent_nano_usd`` what that cost; None until
            its end was noted.
    """

    name: str
    attempt: int
    instance_type: str
    price_nano_usd: int
    reserved_nano_usd: int
    periods: tuple[str, ...]
    is_resumed: bool = False
    is_given_up: bool = False
    planned_at: datetime
    billable_seconds: int | None = None
    spent_nano_usd: int | None = None


class WatchedJob(FrozenModel):
    """A job that was planned, and that nobody has paid for.

    It has no ``organization_id``: deleting an organisation leaves it to the sweeper, which ends
    what costs money before it forgets it.

    Attributes:
        name: no other job ever has it.
        task_id: whose training ``number`` it is of, which has the id ``training_id``.
        scope: of the money that is set aside for it, in the periods that are named.
        price_nano_usd: of an hour of its instance.
        left_since: when it was first seen that no training is under way with it; None before.
        due_at: when somebody is to look.
    """

    name: str
    task_id: str
    number: int
    training_id: str
    scope: str
    price_nano_usd: int
    reserved_nano_usd: int
    periods: tuple[str, ...]
    left_since: datetime | None = None
    due_at: datetime


class JobPlan(FrozenModel):
    """What is known for the next job of a training.

    Attributes:
        attempts: how many jobs were planned.
        instance: place of the next one's type among ``instanceTypes``.
        is_resumed: it goes on from checkpoints.
        failures: how many jobs SageMaker failed for no reason.
        losses: how many had an instance, lost it, and got no other.
        without_since: since when there was no capacity; None while there was.
        lacks: why each type of instance was not to be had since then.
        not_before: when the next one is tried.
        base_sha256: digest of the base model's ``base.json`` that the first job was given.
        refused_at: when SageMaker last refused one, for which money stays set aside for a while.
    """

    attempts: int = 0
    instance: int = 0
    is_resumed: bool = False
    failures: int = 0
    losses: int = 0
    without_since: datetime | None = None
    lacks: Mapping[str, str] = {}
    not_before: datetime | None = None
    base_sha256: str | None = None
    refused_at: datetime | None = None


class Training(FrozenModel):
    """One training; see ``autotune.protocol.apprentice_trainings``.

    Attributes:
        task_name: names are never given to another task while it runs.
        cause: why it began.
        examples: how many there were of its definition when it began; of one that hosts a model
            that was made before, how many the trainings until then had seen.
        manifest: of the frozen examples.
        redrive: how often its execution was lost; executions before the last redrive have no say.
        turn: how often it was written while a job trained it; of two that look after it one has a
            say.
        job: the one under way, or the last one where none is.
        plan: of its next job; None where it is trained without any.
        hosted: where the model is hosted before it is a version; None of linear ones.
        hosting: what is to host it, and what that lacks.
        model_kept_until: until when its model is kept although no version is made of it.
        model_of: number of the training that made its model, where it makes none itself.
        model_taken_by: number of the training that has its model instead.
        artifact: where the job left its model, as an address in S3.
        spent_nano_usd: what jobs cost that have ended.
        billable_seconds: for how long those are paid.
        trained_seconds: how long those trained.
        is_canceled: its owner wants it ended, once its job has.
        is_left: somebody else than its execution ended it, and has not begun the one yet that
            deletes what is left.
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
    turn: int = 0
    job: TrainingJob | None = None
    plan: JobPlan | None = None
    hosted: HostedModel | None = None
    hosting: ApprenticeTrainingHosting | None = None
    model_kept_until: datetime | None = None
    model_of: int | None = None
    model_taken_by: int | None = None
    artifact: str | None = None
    spent_nano_usd: int = 0
    billable_seconds: int = 0
    trained_seconds: float = 0.0
    is_canceled: bool = False
    is_left: Literal[True] | None = None
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
    reason: str | None = None
    version: int | None = None
    created_at: datetime
    created_by: str
    due_at: datetime
    ended_at: datetime | None = None

    @property
    def has_ended(self) -> bool:
        """Whether nothing more becomes of it."""
        return self.state != "running"

    def ended(self, at: datetime, **found: Any) -> "Training":
        """Return it as it ends, with what is known of it from now on.

        A model that a job made was paid for: it is kept, whatever the training ends for, unless it
        was judged, is a version, or its bytes are not what was verified.
        """
        after = self.model_copy(update={**found, "ended_at": at})
        of_job = after.plan is not None or after.model_of is not None
        is_unjudged = after.model is not None and after.test is None and after.version is None
        if not of_job or not is_unjudged or after.error == "artifact_refused":
            return after
        until = at + MODEL_KEPT_FOR
        return after.model_copy(update={"model_kept_until": until, "due_at": until})

    def ended_from_outside(self, at: datetime, **found: Any) -> "Training":
        """Return it as it ends by somebody else than its execution, which may be lost.

        It is due soon, until the execution is begun that deletes what is left of it.
        """
        after = self.ended(at, **found)
        return after.model_copy(update={"is_left": True, "due_at": at + START_WITHIN})

    @property
    def open_job(self) -> TrainingJob | None:
        """The job whose end was not noted: money is set aside for it."""
        return self.job if self.job is not None and self.job.billable_seconds is None else None


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


class HeldBack(FrozenModel):
    """Why a training does not begin by itself that is due.

    Attributes:
        configuration_version: under another one it may.
        until: when the month is over whose budget has no room, about when money of jobs that were
            left is free, or 30 days after the training whose model had no host, if it is that.
    """

    reason: ApprenticeTrainingWaitReason
    message: str
    until: datetime | None = None
    configuration_version: int


class LastTraining(FrozenModel):
    """The last training of a task, as whoever begins the next needs it.

    Attributes:
        number: how many there were.
        running: the number of the one under way.
        definition_hash: under which it was begun; None where there was none.
        examples: how many there were of that definition then.
        outcome: how it ended; None while it is under way.
        emergency: number of the latest version that had raised an emergency by then.
        held_back: why the next one does not begin although it is due.
    """

    number: int = 0
    running: int | None = None
    definition_hash: str | None = None
    examples: int = 0
    outcome: ApprenticeTrainingState | None = None
    emergency: int = 0
    held_back: HeldBack | None = None
