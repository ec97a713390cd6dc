"""Training jobs of SageMaker: script mode on a prebuilt image, without a network.

https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTrainingJob.html
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from autotune_platform.runtime.parts import part
from autotune_platform.runtime.sagemaker_names import STACK_TAG, sagemaker_name
from autotune_platform.runtime.training_jobs import SageMakerJobs

CODE: Final = "/opt/ml/input/data/code"
VOLUME_GB: Final = 100
WAIT_FOR_SPOT_S: Final = 21_600
"""How much longer than it may run a job on spot instances may wait for them, as after an
interruption."""
_WAITING: Final = frozenset({"Starting", "Pending", "LaunchingMLInstances"})
"""A job in these states has no instance, and nothing of it is billed."""
_TRAINING, _DATA = "training_id", "data_sha256"

Outcome = Literal[
    "running", "completed", "no_capacity", "out_of_time", "stopped", "algorithm_error", "failed"
]


class JobInputs(NamedTuple):
    """What a job is given; all are addresses in S3, and none has a row of the hold-out.

    Attributes:
        train: the object of rows to learn from, and ``train_sha256`` the digest of its bytes.
        settings: the object that says how, as JSON, and ``settings_sha256`` its digest.
        base: folder of the base model's weights, and ``base_sha256`` the digest of its
            ``base.json``.
        output: folder that the model goes to, and ``checkpoints`` one for what is resumed from.
    """

    train: str
    train_sha256: str
    settings: str
    settings_sha256: str
    base: str
    base_model: str
    base_sha256: str
    output: str
    checkpoints: str


class Asked(NamedTuple):
    """A job that is to be created."""

    name: str
    training_id: str
    task_id: str
    inputs: JobInputs
    instance_type: str
    is_spot: bool
    max_runtime_s: int


class Found(NamedTuple):
    """What became of a job.

    Attributes:
        outcome: of it so far.
        reason: why, in words that cannot be of examples.
        seconds: how long it trained, and ``billable_seconds`` what of that is paid.
        artifact: address of its model in S3.
        waits_since: since when it waits for its first instance; None where it does not.
        is_at_work: it has had an instance, and nobody stops it.
    """

    outcome: Outcome
    reason: str | None
    seconds: int
    billable_seconds: int
    artifact: str | None
    training_id: str | None
    data_sha256: str | None
    waits_since: datetime | None = None
    is_at_work: bool = False

    def is_of(self, training_id: str, data_sha256: str) -> bool:
        """Whether it is the job of a training, with the same data."""
        return (self.training_id, self.data_sha256) == (training_id, data_sha256)


@part
class TrainingJobs:
    """Jobs at SageMaker, which all have names of this stack's.

    Attributes:
        prefix: what each name begins with; permissions are limited to it.
        role_arn: what jobs may.
        image: what they run in.
        code: address in S3 of an archive with ``train.py``.
        key_arn: of the key that files of jobs are encrypted with at rest, which is their bucket's.
    """

    sagemaker: SageMakerJobs
    prefix: str
    role_arn: str
    image: str
    code: str
    key_arn: str

    def create(self, asked: Asked) -> None:
        """Create a job.

        Raises:
            JobRefusedError: SageMaker does not.
            ClientError: it does not answer, or is busy; the job may be created all the same.
        """
        self.sagemaker.create(self._request(asked))

    def find(self, name: str) -> Found | None:
        """Return what became of a job; None where there is none of that name."""
        job = self.sagemaker.find(name)
        return None if job is None else found_in(job)

    def stop(self, name: str) -> None:
        """Have a job stopped; one that has ended, or that is not there, stays so."""
        self.sagemaker.stop(name)

    def _request(self, asked: Asked) -> dict[str, Any]:
        inputs, runs = asked.inputs, asked.max_runtime_s
        channels = {
            "code": self.code,
            "train": inputs.train,
            "settings": inputs.settings,
            "base": inputs.base,
        }
        spot = {"MaxWaitTimeInSeconds": runs + WAIT_FOR_SPOT_S} if asked.is_spot else {}
        return {
            "TrainingJobName": asked.name,
            "RoleArn": self.role_arn,
            "AlgorithmSpecification": {"TrainingImage": self.image, "TrainingInputMode": "File"},
            "HyperParameters": {
                "sagemaker_program": "train.py",
                "sagemaker_submit_directory": f"{CODE}/{self.code.rpartition('/')[2]}",
                _TRAINING: asked.training_id,
                _DATA: inputs.train_sha256,
                "settings_sha256": inputs.settings_sha256,
                "base_model": inputs.base_model,
                "base_sha256": inputs.base_sha256,
            },
            "InputDataConfig": [_channel(name, uri) for name, uri in channels.items()],
            # Without a key SageMaker takes the account's for S3, whatever the bucket's default is.
            "OutputDataConfig": {"S3OutputPath": inputs.output, "KmsKeyId": self.key_arn},
            "CheckpointConfig": {"S3Uri": inputs.checkpoints},
            # No VolumeKmsKeyId: types with a disk of their own, as all of g5 are, refuse one, and
            # encrypt that disk themselves.
            "ResourceConfig": {
                "InstanceType": asked.instance_type,
                "InstanceCount": 1,
                "VolumeSizeInGB": VOLUME_GB,
            },
            "StoppingCondition": {"MaxRuntimeInSeconds": runs, **spot},
            "EnableManagedSpotTraining": asked.is_spot,
            "EnableNetworkIsolation": True,
            "Tags": [
                {"Key": STACK_TAG, "Value": self.prefix},
                {"Key": "autotune:training", "Value": asked.training_id},
                {"Key": "autotune:task", "Value": asked.task_id},
            ],
        }


def found_in(job: Mapping[str, Any]) -> Found:
    """Return what became of a job as SageMaker describes it."""
    given = job.get("HyperParameters", {})
    outcome, reason = outcome_of(job)
    seconds = job.get("TrainingTimeInSeconds", 0)
    return Found(
        outcome,
        reason,
        seconds,
        job.get("BillableTimeInSeconds", seconds),
        job.get("ModelArtifacts", {}).get("S3ModelArtifacts"),
        given.get(_TRAINING),
        given.get(_DATA),
        _waits_since(job),
        _is_under_way(job) and _has_begun(job),
    )


def _waits_since(job: Mapping[str, Any]) -> datetime | None:
    is_waiting = _is_under_way(job) and not _has_begun(job)
    created: datetime | None = job.get("CreationTime")
    return created if is_waiting and job.get("SecondaryStatus") in _WAITING else None


def _is_under_way(job: Mapping[str, Any]) -> bool:
    return bool(job["TrainingJobStatus"] == "InProgress")


def _has_begun(job: Mapping[str, Any]) -> bool:
    # One that lost its instance keeps that time.
    return "TrainingStartTime" in job


def job_name(prefix: str, training_id: str, attempt: int) -> str:
    """Return the name of a training's job, which no other job ever has.

    Args:
        prefix: the stack's name.
        training_id: whose job it is, and the how manieth by ``attempt``.
    """
    return sagemaker_name(prefix, f"{training_id}-{attempt}")


def _channel(name: str, uri: str) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": uri, "S3DataDistributionType": "FullyReplicated"}
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}}


_STOPPED: Final[Mapping[Any, Outcome]] = {
    "MaxRuntimeExceeded": "out_of_time",
    "MaxWaitTimeExceeded": "no_capacity",
}
_CAPACITY = re.compile(r"(CapacityError|InsufficientCapacity|.*[Ii]nsufficient capacity)")
# What our program says of itself: a word of its own, a class of Python's, a line of its text.
_SAID = re.compile(r"AlgorithmError: (autotune: [a-z_]{1,40}(?: [A-Za-z_.]{1,60}:[0-9]{1,5})?)\b")


def outcome_of(job: Mapping[str, Any]) -> tuple[Outcome, str | None]:
    """Return what became of a job as SageMaker describes it, and why.

    What a program printed last may have texts of examples: of a failure only what is of our own
    program's form is shown.
    """
    status, secondary = job["TrainingJobStatus"], job.get("SecondaryStatus")
    if status == "Failed":
        return _failure(job.get("FailureReason", ""))
    if status == "Stopped":
        return _STOPPED.get(secondary, "stopped"), None
    return ("completed" if status == "Completed" else "running"), None


def _failure(reason: str) -> tuple[Outcome, str | None]:
    if _CAPACITY.match(reason):
        return "no_capacity", None
    if reason.startswith("AlgorithmError"):
        said = _SAID.match(reason)
        return "algorithm_error", said[1] if said else "the program ended with an error"
    return "failed", re.sub(r"[^A-Za-z].*", "", reason, flags=re.DOTALL)[:60] or None
