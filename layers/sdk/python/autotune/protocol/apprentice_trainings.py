"""Trainings of a task's small model on the wire: from frozen examples to a version, or nothing."""

from typing import Literal

from autotune.protocol.apprentice_models import TrainingBackend
from autotune.protocol.types import ResponseModel, Timestamp

ApprenticeTrainingState = Literal["running", "hosted", "discarded", "failed"]
"""``hosted`` made a version, which is in shadow from then on; ``discarded`` made a model that did
not show enough; ``failed`` made none. All but ``running`` are for good."""

ApprenticeTrainingCause = Literal["request", "examples", "emergency"]
"""Why one began: somebody asked for it; there were examples enough; or a version raised an
emergency, and there was a new batch of examples."""

ApprenticeTrainingStep = Literal["freeze", "train", "verify", "deploy", "validate", "host"]
"""``verify`` looks at what a job trained before anybody loads it, and ``deploy`` has SageMaker host
it, so that it is judged as callers will have it."""

ApprenticeTrainingWaitReason = Literal["budget", "versions", "trainings", "hosting"]
"""Why a training does not begin that is due: its job cannot be paid for, the task has as many
versions as it may, or had as many trainings, or what the last one made has no host yet."""

ApprenticeTrainingObjection = Literal[
    "too_few_examples",
    "agreement",
    "worse_than_before",
    "invalid_outputs",
    "too_slow",
]
"""What speaks against a model on the hold-out."""

ApprenticeTrainingError = Literal[
    "untrainable",
    "data_refused",
    "artifact_refused",
    "task_changed",
    "too_many_versions",
    "budget_exhausted",
    "base_missing",
    "no_capacity",
    "job_refused",
    "job_name_taken",
    "job_failed",
    "job_stopped",
    "algorithm_error",
    "out_of_time",
    "hosting_capacity",
    "hosting_quota",
    "not_hosted",
    "embeddings_missing",
    "canceled",
    "platform_error",
]
"""Why there is no version: outputs are no choice among few, or there is more to fit than a function
has time and memory for; data or artifact are not what they were; the task was deleted or has
another definition; it has as many versions as it may; the embedding model of its evaluator is gone;
it was canceled; or the platform could not go on.

Of what is trained in a job: ``budgets.trainingMonthly`` has no room for it; nobody stored the
weights of ``baseModel``; no instance was to be had for a day; SageMaker refused the job, has
another one of its name, or failed it again and again; somebody else stopped it; its program failed;
it did not end within ``maxRuntimeS``, nor within as long again from its checkpoints; or what it
trained is not hosted: SageMaker had no instance of any type for a day, or the account's quotas have
no room for any, or it does not for ``reason``. What was trained is kept then, and wherever its
training ended before it was judged, until ``modelKeptUntil``."""

ApprenticeHostingLack = Literal["capacity", "quota", "refused"]
"""Why a type of instance is not to be had: SageMaker has none, or the account may have no more."""


class ApprenticeTrainingData(ResponseModel):
    """The examples that were frozen for a training.

    Attributes:
        train: how many it learned from.
        holdout: how many it never saw; they judge it.
        train_sha256: of the bytes that it was trained on, in hexadecimal digits.
        holdout_sha256: of those that judge it.
    """

    train: int
    holdout: int
    train_sha256: str
    holdout_sha256: str


class ApprenticeTrainingShortage(ResponseModel):
    """What a training lacked that was not begun, since no model could have passed.

    Attributes:
        train: how many examples there were to learn from.
        train_needed: how many it takes at least.
        holdout: how many were held out that may judge: nobody chose them.
        holdout_needed: how many it takes at least, each an input of its own and drawn with the same
            chance, were all answers right.
    """

    train: int
    train_needed: int
    holdout: int
    holdout_needed: int


class ApprenticeTrainedModel(ResponseModel):
    """What came out.

    Attributes:
        name: by which it is hosted; no other model ever has it.
        sha256: of the artifact's bytes, in hexadecimal digits.
        size_bytes: how many there are.
        seconds: how long it took to compute, in seconds.
    """

    name: str
    sha256: str
    size_bytes: int
    seconds: float


class ApprenticeTrainingJob(ResponseModel):
    """The job that trains a model outside of the platform, or the last one that did.

    Attributes:
        name: of the job at SageMaker.
        attempt: the how many-th job of this training it is.
        instance_type: what it runs on.
        reserved_nano_usd: what was set aside for it, in billionths of a US dollar.
        is_resumed: whether it goes on from checkpoints of one that ran out of time.
        billable_seconds: for how long it is paid, which spot makes less than it took; None until
            its end was noted.
        spent_nano_usd: what that cost, in billionths of a US dollar; None alike.
    """

    name: str
    attempt: int
    instance_type: str
    reserved_nano_usd: int
    is_resumed: bool
    billable_seconds: int | None = None
    spent_nano_usd: int | None = None


class ApprenticeTrainingHostLack(ResponseModel):
    """A type of instance that was not to be had when it was last tried."""

    instance_type: str
    lack: ApprenticeHostingLack


class ApprenticeTrainingHosting(ResponseModel):
    """What hosts the model before it is judged.

    Attributes:
        instance_type: of the instance that it has, or that was tried last.
        lacks: types that were not to be had, where it has none yet.
        since: when the first one was not; None where none was tried in vain.
        tried_again_at: when the next one is tried; None alike.
        refusal: why SageMaker does not take the model to be hosted, whatever the instance, in its
            own words; None where it does.
    """

    instance_type: str
    lacks: list[ApprenticeTrainingHostLack] = []
    since: Timestamp | None = None
    tried_again_at: Timestamp | None = None
    refusal: str | None = None


class ApprenticeTrainingComparison(ResponseModel):
    """The model against the version that served meanwhile, on the same inputs.

    Attributes:
        version: the one that served.
        groups: how many groups of inputs both answered.
        mean_difference: of agreement, -1 to 1; above 0 the new one is better.
        differing: share of groups on which the two differ.
        margin: how much worse may be overlooked.
        is_no_worse: whether it is shown to be no worse than that.
        power: how probable it was to be shown of two equal models that differ as much; None where
            they never differ.
        groups_for_power: how many groups make that 80 %; None alike.
    """

    version: int
    groups: int
    mean_difference: float
    differing: float
    margin: float
    is_no_worse: bool
    power: float | None = None
    groups_for_power: int | None = None


class ApprenticeTrainingGate(ResponseModel):
    """From which confidence on the model's answers are shown to agree as they have to.

    With ``local.gate`` ``confidence`` only those go to callers. It is known without, too.

    Attributes:
        confidence: 0 to 1.
        coverage: the share of inputs that it is as sure of.
        least_coverage: the share below which an alarm is due once callers ask.
        agreement: mean agreement of those.
        groups: how many of the hold-out's they are.
        p_value: how probable that would be at most, were their true agreement at ``threshold``.
    """

    confidence: float
    coverage: float
    least_coverage: float
    agreement: float
    groups: int
    p_value: float


class ApprenticeTrainingTest(ResponseModel):
    """What the hold-out says.

    Attributes:
        attempt: the how many-th model it is that was judged under its definition: each has to show
            more than the one before.
        examples: how many were held out.
        groups: of how many groups of inputs; each is one score, the mean of its examples'.
        fewest_groups: how many it takes at least, were all answers right.
        threshold: mean agreement that it has to be above.
        mean: its mean agreement; None without examples. Inputs count once where all were put to
            the paid model. Of those that chance drew, one counts as often as it came, but at most
            as the inverse of the rate at which it was drawn.
        bound: what its mean agreement is above, with the confidence of the test; None alike.
        evidence: how much speaks for it (U); None alike.
        evidence_needed: what that has to reach.
        valid: share of outputs that the schema admits.
        slow_ms: 95 % of its answers took at most so long, in milliseconds.
        comparison: with the version that served; None where none did.
        is_gated: whether ``local.gate`` was ``confidence``. Then ``gate`` decides, and ``mean``,
            ``bound`` and ``evidence``, which are of all answers, do not.
        gate: None where no confidence is shown to suffice, or the model does not say how sure it
            is.
    """

    attempt: int
    examples: int
    groups: int
    fewest_groups: int
    threshold: float
    mean: float | None = None
    bound: float | None = None
    evidence: float | None = None
    evidence_needed: float
    valid: float
    slow_ms: int
    comparison: ApprenticeTrainingComparison | None = None
    is_gated: bool = False
    gate: ApprenticeTrainingGate | None = None


class ApprenticeTraining(ResponseModel):
    """One training of a task's small model.

    Attributes:
        number: later ones have higher numbers.
        step: what it is at, or ended at.
        examples: how many there were of its definition when it began; of one that hosts a model
            that was made before, how many the trainings until then had seen.
        shortage: what it lacked, where it was discarded before anything was trained.
        version: the one that came of it, once it is hosted.
        objections: why it was discarded.
        error: why it failed.
        reason: more of that in a few words, such as where its program failed; never of examples.
        job: where it is trained, if that is outside of the platform.
        hosting: what hosts it from ``deploy`` on, if that is outside of the platform.
        model_of: the training that made its model, where it has one hosted that was made before.
        model_kept_until: until when what a job trained may be hosted although its training ended
            before it was judged; None where it is not kept, or another training has it.
        model_taken_by: the training that has its model instead, which was made here and not judged.
        reserved_nano_usd: what is set aside for a job whose end was not noted yet, in billionths of
            a US dollar, and for each that was refused, for a quarter of an hour.
        spent_nano_usd: what jobs that have ended cost, in billionths of a US dollar. What trains
            without a job costs nothing here.
        billable_seconds: for how long those jobs are paid.
    """

    id: str
    number: int
    state: ApprenticeTrainingState
    step: ApprenticeTrainingStep
    cause: ApprenticeTrainingCause = "request"
    examples: int = 0
    backend: TrainingBackend
    configuration_version: int
    definition_hash: str
    shortage: ApprenticeTrainingShortage | None = None
    data: ApprenticeTrainingData | None = None
    model: ApprenticeTrainedModel | None = None
    test: ApprenticeTrainingTest | None = None
    objections: list[ApprenticeTrainingObjection] = []
    error: ApprenticeTrainingError | None = None
    reason: str | None = None
    job: ApprenticeTrainingJob | None = None
    hosting: ApprenticeTrainingHosting | None = None
    model_of: int | None = None
    model_kept_until: Timestamp | None = None
    model_taken_by: int | None = None
    reserved_nano_usd: int = 0
    spent_nano_usd: int = 0
    billable_seconds: int = 0
    version: int | None = None
    created_at: Timestamp
    created_by: str
    ended_at: Timestamp | None = None


class ApprenticeTrainingResponse(ResponseModel):
    """One training."""

    training: ApprenticeTraining


class ApprenticeTrainingList(ResponseModel):
    """A page of a task's trainings, newest first."""

    trainings: list[ApprenticeTraining]
    next_token: str | None = None
