"""Training jobs: what may be asked of them."""

import threading
from collections.abc import Mapping
from typing import Any

from local.sagemaker import contract
from local.sagemaker.errors import ServiceError, limit_exceeded, not_here, validation
from local.sagemaker.faults import Faults, Kind
from local.sagemaker.job import INTERNAL, Job
from local.sagemaker.listing import Listing
from local.sagemaker.objects import Objects
from local.sagemaker.records import Record, Records, arn_of, now
from local.sagemaker.script_mode import names_a_program
from local.sagemaker.settings import Settings

KIND = "training-job"
_LISTING = Listing(operation="ListTrainingJobs", name="TrainingJobName", status="TrainingJobStatus")
_A_DAY = 24 * 60 * 60
_MISSING = (
    "DebugHookConfig",
    "DebugRuleConfigurations",
    "ExperimentConfig",
    "InfraCheckConfig",
    "MlflowConfig",
    "ModelPackageConfig",
    "ProfilerConfig",
    "ProfilerRuleConfigurations",
    "RemoteDebugConfig",
    "RetryStrategy",
    "ServerlessJobConfig",
    "SessionChainingConfig",
    "TensorBoardOutputConfig",
)


class TrainingJobs:
    """Jobs, each of which is a process while it trains."""

    def __init__(
        self, *, records: Records, faults: Faults, objects: Objects, settings: Settings
    ) -> None:
        self._records = records
        self._faults = faults
        self._objects = objects
        self._settings = settings
        self._lock = threading.Lock()
        self._running: dict[str, Job] = {}

    def end_those_of_before(self) -> None:
        """Fail jobs that were at work when the server ended: nobody works on them any more."""

        def fail(record: Record) -> None:
            moment = now()
            record |= {
                "TrainingJobStatus": "Failed",
                "SecondaryStatus": "Failed",
                "FailureReason": INTERNAL,
                "TrainingEndTime": moment,
            }
            record["SecondaryStatusTransitions"][-1].setdefault("EndTime", moment)

        for job in self._records.all_of(KIND):
            if job["TrainingJobStatus"] in {"InProgress", "Stopping"}:
                self._records.change(KIND, job["TrainingJobName"], fail)

    def create(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``CreateTrainingJob``."""
        name = asked["TrainingJobName"]
        _check(asked)
        self._objects.roles.check(asked["RoleArn"])
        if self._faults.take("CreateTrainingJob", name, Kind.RESOURCE_LIMIT):
            instance = asked["ResourceConfig"]["InstanceType"]
            raise limit_exceeded(f"{instance} for training job usage")
        record = _record(asked)
        if not self._records.add(KIND, name, record):
            raise ServiceError(
                "ResourceInUse",
                "Training job names must be unique within an AWS account and region, and a"
                f" training job with this name already exists ({record['TrainingJobArn']})",
            )
        job = Job(
            name,
            records=self._records,
            faults=self._faults,
            objects=self._objects.acting_as(asked["RoleArn"]),
            settings=self._settings,
        )
        with self._lock:
            self._running[name] = job
        job.start()
        return {"TrainingJobArn": record["TrainingJobArn"]}

    def describe(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``DescribeTrainingJob``."""
        return contract.described("DescribeTrainingJob", self._record(asked["TrainingJobName"]))

    def list(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``ListTrainingJobs``."""
        return _LISTING.page(self._records.all_of(KIND), asked)

    def stop(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """``StopTrainingJob``; a job that is being stopped is none the more."""
        name = asked["TrainingJobName"]
        status = self._record(name)["TrainingJobStatus"]
        job = self._running.get(name)
        if job is None or not job.stop():
            if status == "Stopping":
                return {}
            status = self._record(name)["TrainingJobStatus"]
            raise validation(
                f"The request was rejected because the training job is in status {status}."
            )
        return {}

    def close(self) -> None:
        """End all jobs; they are those of before when the server is started again."""
        with self._lock:
            jobs = list(self._running.values())
        for job in jobs:
            job.abandon()
        for job in jobs:
            job.join()

    def _record(self, name: str) -> Record:
        record = self._records.get(KIND, name)
        if record is None:
            # As SageMaker words it, although its model has ResourceNotFound for this.
            raise validation("Requested resource not found.")
        return record


def _check(asked: Mapping[str, Any]) -> None:
    """Refuse what SageMaker refuses, and what only it has."""
    for name in _MISSING:
        if name in asked:
            raise not_here(name)
    resources = asked.get("ResourceConfig")
    if resources is None:
        raise validation("ResourceConfig is required for a job of a training image.")
    if "InstanceType" not in resources:
        raise not_here("resources but ResourceConfig.InstanceType")
    if resources.get("InstanceCount", 1) != 1:
        raise not_here("jobs on more than one instance")
    if "TrainingImage" not in asked["AlgorithmSpecification"]:
        raise not_here("algorithms of its own: name a TrainingImage")
    if not names_a_program(asked):
        raise not_here(
            "images: give hyperparameters sagemaker_program and sagemaker_submit_directory,"
            " or a ContainerEntrypoint"
        )
    channels = asked.get("InputDataConfig", [])
    _check_times(asked)
    names = [channel["ChannelName"] for channel in channels]
    if len({*names}) != len(names):
        raise validation("InputDataConfig must not name a channel twice.")
    for channel in channels:
        _check_channel(channel)


def _check_times(asked: Mapping[str, Any]) -> None:
    condition = asked.get("StoppingCondition", {})
    most = condition.get("MaxWaitTimeInSeconds")
    if asked.get("EnableManagedSpotTraining", False):
        if most is None or most < condition.get("MaxRuntimeInSeconds", _A_DAY):
            raise validation(
                "Invalid MaxWaitTimeInSeconds. It must be present and be greater than or equal to"
                " MaxRuntimeInSeconds."
            )
    elif most is not None:
        raise validation("MaxWaitTimeInSeconds is allowed with EnableManagedSpotTraining only.")


def _check_channel(channel: Mapping[str, Any]) -> None:
    source = channel["DataSource"].get("S3DataSource")
    if source is None or source["S3DataType"] != "S3Prefix":
        raise not_here("channels but those of S3Prefix")
    if channel.get("InputMode", "File") == "Pipe":
        raise not_here("InputMode Pipe")
    for name in ("CompressionType", "RecordWrapperType"):
        if channel.get(name, "None") != "None":
            raise not_here(f"{name} of channels")
    if "ShuffleConfig" in channel:
        raise not_here("ShuffleConfig of channels")


def _record(asked: Mapping[str, Any]) -> Record:
    arn, moment = arn_of(KIND, asked["TrainingJobName"]), now()
    output = asked["OutputDataConfig"]
    below = f"{output['S3OutputPath'].rstrip('/')}/{asked['TrainingJobName']}/output"
    artifact = "model" if output.get("CompressionType") == "NONE" else "model.tar.gz"
    return {
        "EnableNetworkIsolation": False,
        "EnableInterContainerTrafficEncryption": False,
        "EnableManagedSpotTraining": False,
        "StoppingCondition": {"MaxRuntimeInSeconds": _A_DAY},
        **{name: value for name, value in asked.items() if name != "Tags"},
        "TrainingJobArn": arn,
        "TrainingJobStatus": "InProgress",
        "SecondaryStatus": "Starting",
        "SecondaryStatusTransitions": [
            {
                "Status": "Starting",
                "StartTime": moment,
                "StatusMessage": "Preparing the instances for training",
            }
        ],
        "CreationTime": moment,
        "LastModifiedTime": moment,
        "ModelArtifacts": {"S3ModelArtifacts": f"{below}/{artifact}"},
        "_arn": arn,
        "_output": below,
        "_tags": asked.get("Tags", []),
    }
