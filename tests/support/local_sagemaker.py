"""The local SageMaker with clients of boto3's, and with S3 of moto's in the same process."""

import io
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import boto3
import psutil
import pytest
from botocore.config import Config
from moto import mock_aws

from local.endpoint import ACCOUNT, REGION
from local.sagemaker.faults import Fault, Faults, Kind
from local.sagemaker.server import SageMakerServer
from local.sagemaker.settings import Settings

BUCKET = "models"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/training"
IMAGE = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/huggingface-pytorch-training:2.5"
INSTANCE = "ml.g5.xlarge"
WAIT_SECONDS = 120
ENDED = frozenset({"Completed", "Failed", "Stopped"})

# What it is to train: it writes a model, and says what it was given.
TRAIN = """
import json, os, pathlib, sys
model = pathlib.Path(os.environ["SM_MODEL_DIR"])
data = {
    name: sorted(file.name for file in pathlib.Path(os.environ[name]).rglob("*") if file.is_file())
    for name in os.environ
    if name.startswith("SM_CHANNEL_")
}
(model / "given.json").write_text(
    json.dumps({"arguments": sys.argv[1:], "data": data, "environment": dict(os.environ)})
)
print("trained", data)
print("loss=0.5")
print("loss=0.25")
"""
# What it is to answer: the model and the input.
INFERENCE = """
import json, pathlib
def model_fn(model_dir):
    return (pathlib.Path(model_dir) / "name").read_text()
def predict_fn(data, model):
    if data == "raise":
        raise ValueError("told to")
    if data == "exit":
        import os
        os._exit(3)
    return {"model": model, "data": data}
"""


@dataclass
class Lab:
    """A server, its clients and its faults."""

    url: str
    directory: Path
    faults: Faults
    operations: set[str]
    sagemaker: Any = field(init=False)
    runtime: Any = field(init=False)
    s3: Any = field(init=False)

    def __post_init__(self) -> None:
        # As the product's clients: what is wrong with parameters the service has to say.
        config = Config(retries={"total_max_attempts": 1}, parameter_validation=False)
        session = boto3.Session("test", "test", region_name=REGION)
        self.s3 = session.client("s3")
        self.sagemaker = session.client("sagemaker", endpoint_url=self.url, config=config)
        self.runtime = session.client("sagemaker-runtime", endpoint_url=self.url, config=config)

    def plant(self, kind: Kind, **fault: Any) -> None:
        self.faults.plant(Fault(kind=kind, **fault))

    def upload(self, key: str, content: bytes | str) -> str:
        body = content.encode() if isinstance(content, str) else content
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=body)
        return f"s3://{BUCKET}/{key}"

    def archive(self, key: str, files: Mapping[str, str]) -> str:
        """Upload a tar file of some texts."""
        return self.upload(key, packed(files))

    def job(self, name: str, script: str = TRAIN, **changes: Any) -> dict[str, Any]:
        """Return a request for a job that runs a script, with code from a channel."""
        self.archive(f"{name}/code/sourcedir.tar.gz", {"train.py": script})
        self.upload(f"{name}/train/rows.jsonl", "{}\n")
        request = {
            "TrainingJobName": name,
            "RoleArn": ROLE,
            "AlgorithmSpecification": {"TrainingImage": IMAGE, "TrainingInputMode": "File"},
            "HyperParameters": {
                "sagemaker_program": "train.py",
                "sagemaker_submit_directory": "/opt/ml/input/data/code/sourcedir.tar.gz",
                "epochs": "3",
            },
            "InputDataConfig": [
                channel(part, f"s3://{BUCKET}/{name}/{part}/") for part in ("code", "train")
            ],
            "OutputDataConfig": {"S3OutputPath": f"s3://{BUCKET}/out/"},
            "ResourceConfig": {"InstanceType": INSTANCE, "InstanceCount": 1, "VolumeSizeInGB": 10},
            "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
            "EnableNetworkIsolation": True,
        }
        return {**request, **changes}

    def spot_job(self, name: str, script: str, **changes: Any) -> dict[str, Any]:
        spot = {
            "EnableManagedSpotTraining": True,
            "StoppingCondition": {"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 7200},
            "CheckpointConfig": {"S3Uri": f"s3://{BUCKET}/checkpoints/{name}"},
        }
        return self.job(name, script, **{**spot, **changes})

    def train(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Create a job, wait for its end and return its description."""
        self.sagemaker.create_training_job(**request)
        return self.ended(request["TrainingJobName"])

    def described(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.sagemaker.describe_training_job(TrainingJobName=name)
        return found

    def ended(self, name: str) -> dict[str, Any]:
        return until(lambda: (at := self.described(name))["TrainingJobStatus"] in ENDED and at)

    def reached(self, name: str, secondary: str) -> dict[str, Any]:
        """Wait until a job has been in a state."""
        return until(lambda: (at := self.described(name)) and secondary in entered(at) and at)

    def artifact(self, job: Mapping[str, Any]) -> dict[str, bytes]:
        """Return the files of a job's model."""
        return unpacked(self.object_at(job["ModelArtifacts"]["S3ModelArtifacts"]))

    def object_at(self, uri: str) -> bytes:
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        content: bytes = self.s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        return content

    def model(self, name: str, *, script: str = INFERENCE) -> str:
        """Create a model that answers its own name."""
        uri = self.archive(f"models/{name}.tar.gz", {"name": name, "code/inference.py": script})
        self.sagemaker.create_model(
            ModelName=name,
            ExecutionRoleArn=ROLE,
            PrimaryContainer={"Image": IMAGE, "ModelDataUrl": uri},
            EnableNetworkIsolation=True,
        )
        return name

    def config(self, name: str, *variants: Mapping[str, Any], **changes: Any) -> str:
        self.sagemaker.create_endpoint_config(
            EndpointConfigName=name, ProductionVariants=list(variants), **changes
        )
        return name

    def endpoint(self, name: str, config: str) -> dict[str, Any]:
        """Create an endpoint and wait until it is there or failed."""
        self.sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=config)
        return self.settled(name)

    def settled(self, name: str) -> dict[str, Any]:
        describe = self.sagemaker.describe_endpoint
        return until(
            lambda: (
                (at := describe(EndpointName=name))["EndpointStatus"] in {"InService", "Failed"}
                and at
            )
        )

    def component(self, name: str) -> dict[str, Any]:
        """Wait until a component is there or failed, and return its description."""
        describe = self.sagemaker.describe_inference_component
        return until(
            lambda: (
                (at := describe(InferenceComponentName=name))["InferenceComponentStatus"]
                in {"InService", "Failed"}
                and at
            )
        )

    def ask(self, endpoint: str, body: str, **more: Any) -> Any:
        answer = self.runtime.invoke_endpoint(
            EndpointName=endpoint, Body=body.encode(), ContentType="application/json", **more
        )
        return answer["Body"].read().decode()


def until(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := what()):
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.02)
    return found


def an_hour_later(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> None:
    """Have the clock of a module of the server go an hour ahead from now on."""
    ahead = SimpleNamespace(time=time.time, monotonic=lambda: time.monotonic() + 3_600)
    monkeypatch.setattr(module, "time", ahead)


def is_alive(process: psutil.Process) -> bool:
    """Whether a process runs: one that nobody waited for yet has ended all the same."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def entered(job: Mapping[str, Any]) -> list[str]:
    """Return the states that a job went through."""
    return [one["Status"] for one in job["SecondaryStatusTransitions"]]


def channel(name: str, uri: str) -> dict[str, Any]:
    source = {"S3DataType": "S3Prefix", "S3Uri": uri, "S3DataDistributionType": "FullyReplicated"}
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}}


def variant(model: str | None, name: str = "all", **changes: Any) -> dict[str, Any]:
    named = {} if model is None else {"ModelName": model}
    instances = {"InstanceType": INSTANCE, "InitialInstanceCount": 1}
    return {"VariantName": name, **named, **instances, **changes}


def packed(files: Mapping[str, str]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return content.getvalue()


def unpacked(content: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return {
            entry.name: archive.extractfile(entry).read()
            for entry in archive.getmembers()
            if entry.isfile()
        }


@contextmanager
def laboratory(directory: Path, **settings: Any) -> Iterator[Lab]:
    """Serve in this process; its S3 is moto's."""
    with mock_aws():
        boto3.Session("test", "test", region_name=REGION).client("s3").create_bucket(Bucket=BUCKET)
        with serving(directory, **settings) as lab:
            yield lab


@contextmanager
def serving(directory: Path, **settings: Any) -> Iterator[Lab]:
    """Serve again over a folder, within one laboratory."""
    brief = {"grace_seconds": 1.0, "look_seconds": 0.05, **settings}
    with SageMakerServer(Settings(directory=directory, **brief)) as server:
        lab = Lab(server.url, directory, server.sagemaker.faults, {*server.sagemaker.operations})
        yield lab
        for client in (lab.sagemaker, lab.runtime, lab.s3):
            client.close()
