"""Trainings in jobs, for tests: at the local SageMaker, which runs a small program with numpy."""

import gzip
import hashlib
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest

from autotune.protocol.ids import new_id
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.examples.manifests import Frozen, Manifest
from autotune_platform.apprentice.training.models import Training
from autotune_platform.apprentice.training.progress import Under
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.budgets.uses import partition, task_scope, training_of
from autotune_platform.outbound.connections import connection_pool
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import Clock
from autotune_platform.storage.table import Table
from autotune_platform.wiring import apprentice as wiring
from tests.support.apprentice_runs import Runs
from tests.support.hostings import LMI_HOST
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.local_sagemaker import ENDED, Lab, packed, serving, until
from tests.support.students import made_up

TASK = "/api/v1/apprentice/tasks/intents"
BUCKET = "apprentice"
STACK = "autotune"
"""What names at SageMaker begin with; ``tests.support.aws`` deploys it so."""
_ASSETS = "assets"
BASE = "tiny/base"
BASE_LIST = b'{"files":{"weights.safetensors":"00"}}'
TYPES = ("ml.g5.xlarge", "ml.g5.2xlarge")
TRAINING = {
    "backend": "sagemaker",
    "fineTuneBatchSize": 50,
    "baseModel": BASE,
    "instanceTypes": list(TYPES),
    "maxRuntimeS": 3_600,
}
PROGRAM = """
import gzip, hashlib, json, os, pathlib, sys, time
import numpy as np

given = json.loads(os.environ["SM_HPS"])
def channel(name):
    (file,) = pathlib.Path(os.environ[f"SM_CHANNEL_{name}"]).glob("*")
    return file.read_bytes()
def lines():
    return [json.loads(line) for line in gzip.decompress(channel("TRAIN")).splitlines()]
"""
TRAINS = (
    PROGRAM
    + """
assert hashlib.sha256(channel("TRAIN")).hexdigest() == given["data_sha256"]
assert hashlib.sha256(channel("SETTINGS")).hexdigest() == given["settings_sha256"]
assert hashlib.sha256(channel("BASE")).hexdigest() == given["base_sha256"]
assert "{{text}}" in json.loads(channel("SETTINGS"))["user"]
model = pathlib.Path(os.environ["SM_MODEL_DIR"])
seen = sorted(row["input"]["text"] for row in lines())
np.savez(model / "weights.npz", lengths=np.array([len(text) for text in seen], "<i8"))
(model / "adapter_config.json").write_text('{"r": 16}')
(model / "adapter_model.safetensors").write_bytes(b"\\x02" + bytes(7) + b"{}")
files = {one.name: hashlib.sha256(one.read_bytes()).hexdigest() for one in model.iterdir()}
about = {name: given[name] for name in ("training_id", "base_model", "base_sha256", "data_sha256")}
(model / "student.json").write_text(
    json.dumps({"format": 1, "kind": "lora", **about, "files": files})
)
"""
)
RESUMES = (
    PROGRAM
    + """
done = pathlib.Path(os.environ["SM_MODEL_DIR"]).parent / "checkpoints" / "done"
if not done.exists():
    done.parent.mkdir(exist_ok=True)
    done.write_text("half")
    time.sleep(60)
"""
    + TRAINS.removeprefix(PROGRAM)
)
SLEEPS = PROGRAM + "time.sleep(60)\n"
FAILS = PROGRAM + 'raise ValueError(f"cannot learn {lines()[0]}")\n'
SAYS_WHY = (
    PROGRAM
    + """
path = pathlib.Path(os.environ["SM_OUTPUT_DIR"], "failure")
path.write_text("autotune: out_of_memory RuntimeError:12")
sys.exit(1)
"""
)


def store_base(base_model: str = BASE) -> None:
    """Have a base model stored, as whoever deploys does."""
    key = f"apprentice/bases/{base_model}/base.json"
    boto3.client("s3").put_object(Bucket=BUCKET, Key=key, Body=BASE_LIST)


class JobTrainings:
    """A task whose model a job trains, from a data set that is there."""

    def __init__(self, runs: Runs, lab: Lab) -> None:
        self.runs = runs
        self.platform = runs.platform
        self.lab = lab
        self.s3 = boto3.client("s3")
        self.s3.create_bucket(Bucket=_ASSETS)
        store_base()
        self.runs_program(TRAINS)
        self.put()

    def put(self, **fields: Any) -> None:
        """Put the task."""
        made = {
            "training": TRAINING,
            "local": {"backend": "sagemaker", "hosting": "inference_component"},
            "budgets": {"daily": "10", "trainingMonthly": "5"},
            **fields,
        }
        self.task_id = self.runs.put(**made)["id"]
        forget_processes()

    def runs_program(self, script: str) -> None:
        """Have jobs run a program from now on."""
        archive = packed({"train.py": script})
        self.s3.put_object(Bucket=_ASSETS, Key="training.tar.gz", Body=archive)

    @property
    def table(self) -> Table:
        return Table("apprentice", clients.dynamodb())

    def begin(self) -> Under:
        """Have a training whose examples are frozen."""
        found = TaskRepository(self.table).find(
            self.runs.platform.me()["organizationId"], "intents"
        )
        assert found is not None
        now = datetime.now(UTC)
        repository = TrainingRepository(self.table)
        number = repository.last(found.id).number
        training_id = new_id("trn")
        training = Training(
            id=training_id,
            organization_id=found.organization_id,
            task_id=found.id,
            task_name=found.name,
            number=number + 1,
            step="train",
            backend="sagemaker",
            configuration_version=found.version,
            definition_hash=found.definition_hash,
            manifest=Manifest(
                training_id=training_id,
                task_id=found.id,
                organization_id=found.organization_id,
                definition_hash=found.definition_hash,
                configuration_version=found.version,
                holdout=0.5,
                split_by=(),
                train=self._side(training_id, "train", seed=1),
                held_out=self._side(training_id, "holdout", seed=2),
                examples_sha256="0" * 64,
                selections={"phase1": 20},
                left_out=0,
                frozen_at=now,
            ),
            created_at=now,
            created_by="usr",
            due_at=now,
        )
        assert repository.add(found, training, emergency=0)
        return Under(found.id, training.number, training.id, 0)

    def _side(self, training_id: str, side: str, *, seed: int) -> Frozen:
        rows = [
            {"id": f"{seed}", "input": value, "output": output}
            for value, output in made_up(20, seed=seed)
        ]
        content = gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        sha256 = hashlib.sha256(content).hexdigest()
        key = f"apprentice/{self.task_id}/data/{training_id}/{side}-{sha256[:32]}.jsonl.gz"
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=content)
        return Frozen(key=key, sha256=sha256, bytes=len(content), rows=len(rows))

    def step(self, name: str, event: Mapping[str, Any]) -> dict[str, Any]:
        done: dict[str, Any] = handler(f"functions.apprentice.{name}")(
            dict(event), LambdaContext(900)
        )
        return done

    def look(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Look after jobs once."""
        return self.step("train_on_sage_maker", event)

    def looked_after(self, under: Under, *, most: int = 200) -> dict[str, Any]:
        """Look after jobs as the state machine does, without its waits, until that is done."""
        event: dict[str, Any] = dict(under._asdict())
        for _ in range(most):
            event = self.look(event)
            if not event["waits"]:
                return event
            if event["job"] is not None:
                self.ended(event["job"])
        pytest.fail("it does not end")

    def ended(self, job: str) -> dict[str, Any]:
        """Wait until a job is over, and return its description."""
        return until(lambda: (at := self.lab.described(job))["TrainingJobStatus"] in ENDED and at)

    def hosts_that_know(self, words: Iterable[str]) -> None:
        """Have hosts answer with the one of these words that is in an input."""
        (self.lab.directory.parent / "lmi.json").write_text(json.dumps({"known": sorted(words)}))

    def deployed(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Have the model hosted, as the state machine and the sweep of hostings do together."""
        deadline = time.monotonic() + 60
        found = self.step("deploy_student", event)
        while found["waits"]:
            assert time.monotonic() < deadline, "it takes too long"
            time.sleep(0.1)
            for one in self.table.items(f"{self.task_id}#hosting"):
                self.table.update(one["pk"], one["sk"], {"due_at": "2026-01-01T00:00:00.000Z"})
            self.step("sweep_hostings", {})
            found = self.step("deploy_student", event)
        return found

    def read(self, number: int = 1) -> dict[str, Any]:
        answer = self.platform.call("GET", f"{TASK}/trainings/{number}")
        assert answer.status == 200, answer.text
        training: dict[str, Any] = answer.json["training"]
        return training

    def trainings_of_it(self) -> list[int]:
        """Return the numbers of the task's trainings, newest first."""
        answer = self.platform.call("GET", f"{TASK}/trainings")
        return [one["number"] for one in answer.json["trainings"]]

    def shown(self, what: str) -> dict[str, Any]:
        """Return the task's ``status`` or ``report``."""
        answer = self.platform.call("GET", f"{TASK}/{what}")
        assert answer.status == 200, answer.text
        found: dict[str, Any] = answer.json[what]
        return found

    def jobs(self) -> list[str]:
        listed = self.lab.sagemaker.list_training_jobs()["TrainingJobSummaries"]
        return sorted(one["TrainingJobName"] for one in listed)

    def money(self) -> dict[str, int]:
        """What is committed and spent on training in the present month, in billionths."""
        organization_id = self.platform.me()["organizationId"]
        scope = task_scope(organization_id, training_of(self.task_id))
        item = Table("budgets", clients.dynamodb()).get(partition(scope), "limits") or {}
        month = f"{Clock().now():%Y-%m}"
        return {name: item.get(f"{name}#{month}", 0) for name in ("committed", "spent")}

    def spent(self, nano_usd: int) -> None:
        """Have so much more spent on training in the present month."""
        scope = task_scope(self.platform.me()["organizationId"], training_of(self.task_id))
        month = f"{Clock().now():%Y-%m}"
        more = {f"{name}#{month}": nano_usd for name in ("committed", "spent")}
        Table("budgets", clients.dynamodb()).update(partition(scope), "limits", {}, adding=more)

    def objects(self) -> list[str]:
        listed = self.s3.list_objects_v2(Bucket=BUCKET, Prefix=f"apprentice/{self.task_id}/")
        return sorted(one["Key"] for one in listed.get("Contents", []))


@contextmanager
def job_trainings(
    runs: Runs, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[JobTrainings]:
    """Provide a task whose model jobs of the local SageMaker train."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    (directory / "lmi.json").write_text("{}")
    images = {"*djl*": [sys.executable, LMI_HOST, str(directory / "lmi.json")]}
    with (
        serving(directory / "sagemaker", images=images) as lab,
        connection_pool(admit_private=True) as pool,
    ):
        monkeypatch.setattr(clients, "sagemaker", lambda: lab.sagemaker)
        monkeypatch.setattr(wiring, "connection_pool", lambda **_: pool)
        monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME", lab.url)
        made = JobTrainings(runs, lab)
        yield made
        made.s3.delete_object(Bucket=_ASSETS, Key="training.tar.gz")
