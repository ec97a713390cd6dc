"""A task whose models jobs of the local SageMaker train and its hosts answer for, amid faults."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from autotune_platform.apprentice.hosting.models import Hosting
from autotune_platform.apprentice.hosting.repository import HostingRepository, hostings_of
from autotune_platform.apprentice.training.jobs import job_name
from autotune_platform.runtime import clients
from autotune_platform.storage.table import Table
from local.sagemaker.faults import Kind
from tests.chaos.lives import AT_ONCE, JOBS, Life, Status, training
from tests.chaos.student_job import HONEST, MOODS, SLOW, TAMPERED, TRAIN, Host
from tests.support.training_jobs import BASE, STACK, TYPES, JobTrainings

MONTHLY_USD = 5
TIMEOUT_MS = 5_000
"""All of a hold-out are asked at once, on a machine that may do more beside."""

LOCAL: Final = {
    "backend": "sagemaker",
    "hosting": "inference_component",
    "timeoutMs": TIMEOUT_MS,
    # The clock is turned by hours before midnight, and a host is not to sleep then.
    "idleMinutes": 600,
}
STUCK_SECONDS = 4.0
"""So long SageMaker keeps what it cannot make, and lets nobody delete it."""

FAULTY_RUNS = 2
_CREATION, _PAST, _LONG_AGO = "CreateTrainingJob", "2000-01-01", "2000-01-01T00:00:00Z"


def job_training(alpha: int) -> dict[str, Any]:
    """Return the task's ``training``."""
    return training(
        backend="sagemaker",
        baseModel=BASE,
        instanceTypes=list(TYPES),
        maxRuntimeS=3_600,
        lora={"alpha": alpha},
        canary=[1],
    )


@dataclass
class Jobs:
    """The task's life.

    Attributes:
        made: the local SageMaker, and what jobs run.
        put: puts the task with another ``alpha``.
        meanwhile: what happens while a version serves, before its hosts fail.
        is_stuck: whether what is being made has been made for over half an hour.
        brief: a job whose creation is asked for next may run for a second.
    """

    life: Life
    made: JobTrainings
    put: Callable[[int], None]
    folder: Path
    meanwhile: Callable[[], None] = lambda: None
    is_stuck: bool = False
    brief: bool = False
    task_id: str = field(default="", init=False)

    def __post_init__(self) -> None:
        """Have jobs and hosts run the programs of chaos."""
        self.host = Host(self.folder)
        self.made.runs_program(TRAIN)
        self._create = self.made.lab.sagemaker.create_training_job
        self.made.lab.sagemaker.create_training_job = self._created
        self.table = Table("apprentice", clients.dynamodb())

    def _created(self, **request: Any) -> Any:
        if self.brief:
            stopping = {**request["StoppingCondition"], "MaxRuntimeInSeconds": 1}
            request = {**request, "StoppingCondition": stopping}
            self.brief = False
        return self._create(**request)

    def hasten(self) -> None:
        """Have hosts that are being made looked at, and be stuck if they are to be."""
        for one in self.hostings():
            changes = {}
            if one.state not in {"ready", "asleep", "gone"}:
                changes["due_at"] = _PAST
            if self.is_stuck and one.state == "creating" and "component" in one.created:
                changes["since"] = _LONG_AGO
            if changes:
                self.table.update(hostings_of(self.task_id), f"host#{one.name}", changes)

    def look_soon(self, hosting: Hosting) -> None:
        """Have a host looked at."""
        key = (hostings_of(self.task_id), f"host#{hosting.name}")
        self.table.update(*key, {"due_at": _PAST})

    def hostings(self) -> list[Hosting]:
        """Return all hostings of the task."""
        return HostingRepository(self.table).of_task(self.task_id)

    def live(self, task_id: str) -> None:
        """Go through all faults of jobs and hosts."""
        life, plant = self.life, self.made.lab.plant
        self.task_id = task_id
        life.teach(JOBS)
        plant(Kind.RESOURCE_LIMIT, operation=_CREATION)
        plant(Kind.CAPACITY, operation=_CREATION)
        plant(Kind.LOST_ANSWER, operation=_CREATION)
        plant(Kind.INTERRUPTION, operation=_CREATION)
        plant(Kind.THROTTLING, operation="DescribeTrainingJob", times=2)
        life.train(JOBS, "jobs refused, without capacity, unanswered and interrupted", {"hosted"})
        life.stands(JOBS, "versions in shadow", lambda now: now["candidate"] == 1)
        life.stands(JOBS, "versions in canary", lambda now: now["canary"] == 1)
        life.change(JOBS, 1, "promote")
        life.stands(JOBS, "versions of jobs that serve", _serves)
        life.send(JOBS, AT_ONCE)
        self.meanwhile()
        self._hurt_hosts()
        plant(Kind.ALGORITHM_ERROR, operation=_CREATION)
        life.train(JOBS, "a program that fails", {"failed algorithm_error"})
        plant(Kind.INTERNAL_ERROR, operation=_CREATION, times=3)
        life.train(JOBS, "jobs that SageMaker fails", {"failed job_failed"})
        self.put(TAMPERED)
        life.train(JOBS, "a tampered artifact", {"failed artifact_refused"})
        self.put(HONEST)
        self._take_a_name()
        self.is_stuck = True
        plant(Kind.STUCK, operation="CreateInferenceComponent", seconds=STUCK_SECONDS)
        life.train(JOBS, "a host that is stuck", {"failed not_hosted"})
        self.is_stuck = False
        self.put(SLOW)
        self.brief = True
        life.train(JOBS, "a job that is out of time, and goes on", {"hosted"})
        self.put(HONEST)

    def _take_a_name(self) -> None:
        """Have a training's second job find its name taken, the first being without capacity."""
        lab = self.made.lab
        begun = self.life.begin(JOBS)
        lab.plant(Kind.CAPACITY, operation=_CREATION, name=job_name(STACK, begun["id"], 1))
        somebodys = self.jobs()[0]
        names = (
            "RoleArn",
            "AlgorithmSpecification",
            "InputDataConfig",
            "OutputDataConfig",
            "ResourceConfig",
        )
        wanted = {name: somebodys[name] for name in names}
        wanted["StoppingCondition"] = {"MaxRuntimeInSeconds": 60}
        wanted["HyperParameters"] = {**somebodys["HyperParameters"], "training_id": "another"}
        self._create(TrainingJobName=job_name(STACK, begun["id"], 2), **wanted)
        self.life.world.train(self.hasten)
        self.life.ended(JOBS, "a job's name that is taken", {"failed job_name_taken"})

    def _hurt_hosts(self) -> None:
        """Have the host of a version that serves fail in each way, one after the other."""
        for kind in (Kind.MODEL_ERROR, Kind.NOT_READY, Kind.UNAVAILABLE):
            self.made.lab.plant(kind, operation="InvokeEndpoint", times=FAULTY_RUNS)
            self.life.send(JOBS, FAULTY_RUNS)
            self.life.struck[f"hosts: {kind}"] += 1
        for name, mood in MOODS.items():
            self.host.be(mood)
            self.life.send(JOBS, 1 if name == "hangs" else FAULTY_RUNS)
            self.life.struck[f"hosts: {name}"] += 1
        self.host.be({})
        self.made.lab.faults.clear()

    def jobs(self) -> list[dict[str, Any]]:
        """Return descriptions of all jobs."""
        pages = self.made.lab.sagemaker.get_paginator("list_training_jobs").paginate()
        names = [one["TrainingJobName"] for page in pages for one in page["TrainingJobSummaries"]]
        return [self.made.lab.described(name) for name in names]

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
        sagemaker = self.made.lab.sagemaker
        components = sagemaker.list_inference_components()["InferenceComponents"]
        arns = {
            **{
                one["EndpointName"]: one["EndpointArn"]
                for one in sagemaker.list_endpoints()["Endpoints"]
            },
            **{one["InferenceComponentName"]: one["InferenceComponentArn"] for one in components},
        }
        tags = {name: sagemaker.list_tags(ResourceArn=arn)["Tags"] for name, arn in arns.items()}
        return {name: {tag["Key"]: tag["Value"] for tag in found} for name, found in tags.items()}


def _serves(now: Status) -> bool:
    return bool(now["serving"] == 1)
