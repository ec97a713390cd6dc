"""A task whose models jobs of the local SageMaker train and its hosts answer for, amid faults."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from autotune.client.errors import AutotuneError
from autotune_platform.apprentice.training.jobs import job_name
from local.endpoint import REGION, lambda_client
from local.sagemaker.faults import Fault, Faults, Kind
from tests.chaos.beside import Beside
from tests.chaos.lives import GRADUATES, JOBS, Life, insisting
from tests.chaos.student import intent_of
from tests.chaos.student_job import HONEST, MOODS, SLOW, TAMPERED, Host, archive

FOLDER = "sagemaker"
"""Where a stack has it; its module would import all of MiniStack."""

TYPES = ("ml.g5.xlarge", "ml.g5.2xlarge")
MONTHLY_USD = "1"
"""Room for two jobs at once, of which there is to be one."""

BASE = "tiny/base"
BASE_LIST = b'{"files":{"weights.safetensors":"00"}}'
MAX_RUNTIME_SECONDS = 60
STUCK_SECONDS = 25.0
"""So long SageMaker keeps what it cannot make, and lets nobody delete it."""

STUCK_HOST = "a host that is stuck"
PASSES_EVERY_SECONDS = 1.5
FAULTY_RUNS = 2
CREATION = "CreateTrainingJob"
LOCAL: Mapping[str, Any] = {
    "backend": "sagemaker",
    "hosting": "inference_component",
    # All of a hold-out are asked at once, on a machine that does more beside.
    "timeoutMs": 10_000,
}


def training(alpha: int = HONEST) -> dict[str, Any]:
    """Return the task's ``training``."""
    return {
        "backend": "sagemaker",
        "baseModel": BASE,
        "instanceTypes": list(TYPES),
        "maxRuntimeS": MAX_RUNTIME_SECONDS,
        "lora": {"alpha": alpha},
        "canary": [1],
    }


@dataclass
class Laboratory:
    """The local SageMaker of a stack.

    Attributes:
        directory: the stack's folder.
        host: what answers for versions.
    """

    directory: Path
    endpoint: str
    host: Host

    def __post_init__(self) -> None:
        """Know it, and what the function that creates jobs is given."""
        self.faults = Faults(self.directory / FOLDER)
        session = boto3.Session("test", "test", region_name=REGION)
        self.sagemaker = session.client("sagemaker", endpoint_url=self.endpoint)
        self._s3 = session.client("s3", endpoint_url=self.endpoint)
        functions = lambda_client(self.endpoint)
        pages = functions.get_paginator("list_functions").paginate()
        names = [one["FunctionName"] for page in pages for one in page["Functions"]]

        def given(name: str) -> dict[str, str]:
            function = next(one for one in names if name in one)
            found = functions.get_function_configuration(FunctionName=function)
            variables: dict[str, str] = found["Environment"]["Variables"]
            return variables

        self._given = given("TrainOnSageMaker")
        self.stack = given("SweepHostings")["HOSTING_PREFIX"]

    def prepare(self, bucket: str) -> None:
        """Have jobs run the program of chaos, and store the base of its adapters."""
        where, _, key = self._given["TRAINING_CODE"].removeprefix("s3://").partition("/")
        self._s3.put_object(Bucket=where, Key=key, Body=archive())
        key = f"apprentice/bases/{BASE}/base.json"
        self._s3.put_object(Bucket=bucket, Key=key, Body=BASE_LIST)

    def plant(self, kind: Kind, operation: str = CREATION, **fault: Any) -> None:
        """Have a fault happen."""
        self.faults.plant(Fault(kind=kind, operation=operation, **fault))

    def take_name(self, name: str) -> None:
        """Create a job of somebody else's under a name."""
        self.sagemaker.create_training_job(
            TrainingJobName=name,
            RoleArn=self._given["TRAINING_ROLE_ARN"],
            AlgorithmSpecification={
                "TrainingImage": self._given["TRAINING_IMAGE"],
                "TrainingInputMode": "File",
            },
            OutputDataConfig={"S3OutputPath": self._given["TRAINING_CODE"].rpartition("/")[0]},
            ResourceConfig={
                "InstanceType": TYPES[0],
                "InstanceCount": 1,
                "VolumeSizeInGB": 1,
            },
            StoppingCondition={"MaxRuntimeInSeconds": MAX_RUNTIME_SECONDS},
        )

    def jobs(self) -> list[dict[str, Any]]:
        """Return descriptions of all jobs."""
        pages = self.sagemaker.get_paginator("list_training_jobs").paginate()
        names = [one["TrainingJobName"] for page in pages for one in page["TrainingJobSummaries"]]
        return [self.sagemaker.describe_training_job(TrainingJobName=name) for name in names]

    def channels(self) -> dict[str, list[str]]:
        """Return the addresses that jobs were given, by their names."""
        return {
            one["TrainingJobName"]: [
                channel["DataSource"]["S3DataSource"]["S3Uri"]
                for channel in one.get("InputDataConfig", [])
            ]
            for one in self.jobs()
        }

    def entered(self, status: str) -> int:
        """Return how often jobs went through a secondary status."""
        return sum(
            one["Status"] == status
            for job in self.jobs()
            for one in job.get("SecondaryStatusTransitions", [])
        )

    def hosted(self) -> dict[str, dict[str, str]]:
        """Return the tags of endpoints and components, by their names."""
        endpoints = self.sagemaker.list_endpoints()["Endpoints"]
        components = self.sagemaker.list_inference_components()["InferenceComponents"]
        arns = {one["EndpointName"]: one["EndpointArn"] for one in endpoints}
        for one in components:
            arns[one["InferenceComponentName"]] = one["InferenceComponentArn"]
        return {
            name: {
                tag["Key"]: tag["Value"]
                for tag in self.sagemaker.list_tags(ResourceArn=arn)["Tags"]
            }
            for name, arn in arns.items()
        }


@dataclass
class Jobs:
    """The task's life.

    Attributes:
        put: puts the task with another ``alpha``.
        pass_time: has what waits be due; told whether what is made has been made for long.
    """

    life: Life
    lab: Laboratory
    put: Callable[[int], None]
    pass_time: Callable[[bool], None]

    def live(self) -> None:
        """Go through all faults of jobs and hosts."""
        life, lab = self.life, self.lab
        life.teach(JOBS)
        lab.plant(Kind.RESOURCE_LIMIT)
        lab.plant(Kind.CAPACITY)
        lab.plant(Kind.LOST_ANSWER, times=1)
        lab.plant(Kind.INTERRUPTION)
        lab.plant(Kind.THROTTLING, operation="DescribeTrainingJob", times=2)
        self._train("jobs refused, without capacity, unanswered and interrupted", {"hosted"})
        if life.stands(JOBS, "versions of jobs in shadow", lambda now: now.candidate == 1):
            life.send(JOBS, GRADUATES)
            life.stands(
                JOBS, "versions of jobs in canary", lambda now: now.canary == 1, more=intent_of
            )
            with suppress(AutotuneError):
                insisting(lambda: life.client.apprentice.versions.promote(JOBS, 1))
            life.stands(JOBS, "versions of jobs that serve", lambda now: now.serving == 1)
            life.send(JOBS, 4)
            self._hurt_hosts()
        lab.plant(Kind.ALGORITHM_ERROR)
        self._train("a program that fails", {"failed algorithm_error"})
        self._tamper()
        self._take_a_name()
        lab.plant(Kind.STUCK, "CreateInferenceComponent", seconds=STUCK_SECONDS)
        self._train(STUCK_HOST, {"failed not_hosted"})
        lab.faults.clear()
        self.put(SLOW)
        self._train("a job that is out of time, and goes on", {"hosted"})

    def _train(self, what: str, may: set[str]) -> None:
        number = self.life.begun(JOBS).number
        self._await(number, what, may)

    def _await(self, number: int, what: str, may: set[str]) -> None:
        """Wait for a training's end, and have time go by for whatever waits."""
        beside = Beside()

        def pass_time() -> None:
            while not beside.is_over(after=PASSES_EVERY_SECONDS):
                with suppress(BotoCoreError, ClientError):
                    self.pass_time(what == STUCK_HOST)

        beside.start(pass_time)
        try:
            self.life.ended(JOBS, number, what, may)
        finally:
            beside.stop()

    def _tamper(self) -> None:
        self.put(TAMPERED)
        self._train("a tampered artifact", {"failed artifact_refused"})
        self.put(HONEST)

    def _take_a_name(self) -> None:
        """Have a training's second job find its name taken, the first being without capacity."""
        self.lab.plant(Kind.CAPACITY)
        begun = self.life.begun(JOBS)
        with suppress(BotoCoreError, ClientError):
            self.lab.take_name(job_name(begun.id, 2))
        self._await(begun.number, "a job's name that is taken", {"failed job_name_taken"})

    def _hurt_hosts(self) -> None:
        """Have the host of a version that serves fail in each way, one after the other."""
        invoked = "InvokeEndpoint"
        for kind in (Kind.MODEL_ERROR, Kind.NOT_READY, Kind.UNAVAILABLE):
            self.lab.plant(kind, invoked, times=FAULTY_RUNS)
            self.life.send(JOBS, FAULTY_RUNS)
            self.life.struck[f"hosts: {kind}"] += 1
        self.lab.faults.clear()
        for mood in MOODS:
            self.lab.host.be(mood)
            self.life.send(JOBS, FAULTY_RUNS)
            self.life.struck[f"hosts: {mood}"] += 1
        self.lab.host.be("")


def images(host: Host) -> str:
    """Return what the local SageMaker runs for which images, as its variable has it."""
    return json.dumps({"*djl*": host.command})
