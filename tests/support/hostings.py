"""Hostings of one task at the local SageMaker, on a clock that a test turns."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
import pytest
from typer.testing import CliRunner

from autotune.cli import ops_teardown
from autotune.cli.application import app
from autotune.protocol.ids import new_id
from autotune_platform.apprentice.evidence import Evidence, folded
from autotune_platform.apprentice.examples.items import counts_key
from autotune_platform.apprentice.folding.settings import rules_of
from autotune_platform.apprentice.hosting.advancing import HostingAdvancing
from autotune_platform.apprentice.hosting.calling import HostingCalls
from autotune_platform.apprentice.hosting.models import Hosting, Wanted, WantedBase
from autotune_platform.apprentice.hosting.repository import HostingDay, HostingRepository
from autotune_platform.apprentice.hosting.service import Hostings
from autotune_platform.apprentice.local.asking import SageMakerClient
from autotune_platform.apprentice.local.contract import (
    LocalAnswer,
    LocalQuestion,
    Reason,
    Unavailable,
)
from autotune_platform.apprentice.local.exchanging import ModelServers
from autotune_platform.apprentice.local.sagemaker import EndpointInvocations
from autotune_platform.apprentice.pairs import Pair
from autotune_platform.outbound.connections import connection_pool
from autotune_platform.runtime import clients
from autotune_platform.runtime.sagemaker import SageMakerRuntime
from autotune_platform.storage.table import Table
from functions.apprentice import sweep_hostings
from local.endpoint import REGION
from tests.support.apprentice import OUTPUT_SCHEMA
from tests.support.apprentice_items import document, store_evidence
from tests.support.clock import StandingClock
from tests.support.lambdas import LambdaContext, handler
from tests.support.local_sagemaker import BUCKET, Lab, serving, until

PREFIX = "autotune"
FIRST, SECOND = "ml.g5.xlarge", "ml.g5.2xlarge"
BASE = WantedBase(f"s3://{BUCKET}/bases/small/", (FIRST,), rank=16)
BOTH = BASE._replace(instance_types=(FIRST, SECOND))
QUESTION = LocalQuestion("Tell intents apart.", "I lost my card.", OUTPUT_SCHEMA)
_PROGRESS = frozenset({"Creating", "Updating", "Deleting"})
LMI_HOST = str(Path(__file__).with_name("lmi_host.py"))
ADAPTER = {"adapter_config.json": '{"r": 16}', "adapter_model.safetensors": "weights"}


class Hosted:
    """A task's hostings, the sweeper that looks after them, and who asks them.

    Attributes:
        lab: SageMaker.
        clock: everybody's here.
    """

    def __init__(self, lab: Lab, servers: ModelServers) -> None:
        self.lab = lab
        self.clock = StandingClock()
        self.task_id = new_id("apt")
        self.table = Table("apprentice", clients.dynamodb())
        self.repository = HostingRepository(self.table)
        self.hostings = Hostings(repository=self.repository, prefix=PREFIX, clock=self.clock)
        self._servers = servers
        self._numbers: dict[str, int] = {}
        self.configure()
        self._put(counts_key("h"), examples=50)

    @property
    def advancing(self) -> HostingAdvancing:
        """What the function looks at hostings with."""
        made = sweep_hostings.parts().hosting_sweeping.advancing
        made.steps.clock = self.clock
        return made

    def wanted(
        self, model: str, *, base: WantedBase = BASE, files: Mapping[str, str] = ADAPTER
    ) -> Wanted:
        """Return what is wanted of a model, whose artifact is there."""
        uri = self.lab.archive(f"{model}/model.tar.gz", files)
        return Wanted(self.task_id, f"{self.task_id}-{model}", uri, 30, base)

    def want(self, model: str, **options: Any) -> Hosting:
        return self.hostings.want(self.wanted(model, **options))

    def sweep(self, **passes: float) -> int:
        """Have the function look, after so much time, once SageMaker is done with what it does."""
        self.clock.turn(**(passes or {"seconds": 60}))
        until(lambda: not self.under_way())
        assert self.advancing.clock is self.clock
        looked: int = handler("functions.apprentice.sweep_hostings")({}, LambdaContext(60))[
            "looked"
        ]
        return looked

    def hosts_answer(self, **settings: Any) -> None:
        """Have hosts of adapters answer otherwise from now on; see ``lmi_host``."""
        (self.lab.directory.parent / "lmi.json").write_text(json.dumps(settings))

    def under_way(self) -> list[str]:
        """Return what SageMaker is making, changing or deleting."""
        found = self.lab.sagemaker.list_endpoints()["Endpoints"]
        components = self.lab.sagemaker.list_inference_components()["InferenceComponents"]
        states = {one["EndpointName"]: one["EndpointStatus"] for one in found}
        for one in components:
            states[one["InferenceComponentName"]] = one["InferenceComponentStatus"]
        return [name for name, state in states.items() if state in _PROGRESS]

    def ready(self, model: str, *, number: int, **options: Any) -> Hosting:
        """Have a model hosted, and a version made of it."""
        wanted = self.wanted(model, **options)
        for _ in range(8):
            if self.hostings.want(wanted).state == "ready":
                break
            self.sweep()
        found = self.hostings.want(wanted)
        assert found.state == "ready", found
        self.add_version(found, number)
        return found

    def configure(self, number: int = 1, **fields: Any) -> None:
        """Put a configuration of the task."""
        made = json.dumps(document(**fields))
        self._put(f"configuration#{number:06d}", version=number, definition_hash="h", document=made)

    def judge(self, number: int, *scores: float, attempt: int) -> Evidence:
        """Store what pairs of a version say by the first configuration."""
        rules = rules_of(document(), attempt=attempt)
        pairs = (
            Pair(sequence=place, score=score, is_drawn=True, at=0.0)
            for place, score in enumerate(scores, 1)
        )
        evidence = folded(pairs, rules)
        store_evidence(self.table, self.task_id, evidence, rules, version=number)
        return evidence

    def add_version(self, hosting: Hosting, number: int, **fields: Any) -> None:
        self._put(
            f"version#{number:06d}",
            number=number,
            definition_hash="h",
            backend="sagemaker",
            model=hosting.name,
            endpoint=hosting.served.endpoint,
            created_by="key_x",
            **fields,
        )

    def retire(self, hosting: Hosting, number: int) -> None:
        at = self.clock.now().isoformat()
        self.add_version(hosting, number, state="retired", retired_at=at)

    def state(self, hosting: Hosting) -> str:
        found = self.repository.find(self.task_id, hosting.name)
        return found.state if found else "forgotten"

    def base_of(self, hosting: Hosting) -> Hosting:
        assert hosting.base is not None
        found = self.repository.find(self.task_id, hosting.base)
        assert found is not None
        return found

    def ask(
        self, hosting: Hosting, *, timeout_ms: int = 20_000, idle_minutes: int = 30
    ) -> LocalAnswer | Unavailable:
        """Ask a version, as another process than the one before."""
        notes = HostingCalls(repository=self.repository, clock=self.clock)
        client = SageMakerClient(
            invoke=EndpointInvocations(SageMakerRuntime(self._servers.send)),
            served=hosting.served,
            notes=notes,
            idle_minutes=idle_minutes,
        )
        return client.ask(QUESTION, timeout_ms=timeout_ms)

    def there(self) -> set[str]:
        """Return the names of all that SageMaker has."""
        sagemaker = self.lab.sagemaker
        return {
            *(one["ModelName"] for one in sagemaker.list_models()["Models"]),
            *(one["EndpointName"] for one in sagemaker.list_endpoints()["Endpoints"]),
            *(
                one["EndpointConfigName"]
                for one in sagemaker.list_endpoint_configs()["EndpointConfigs"]
            ),
            *(
                one["InferenceComponentName"]
                for one in sagemaker.list_inference_components()["InferenceComponents"]
            ),
        }

    def _put(self, sk: str, **fields: Any) -> None:
        self.table.put(
            {
                "pk": self.task_id,
                "sk": sk,
                "task_id": self.task_id,
                "organization_id": new_id("org"),
                "created_at": self.clock.now().isoformat(),
                "created_by": "key_x",
                **fields,
            }
        )


def training_on(*types: str) -> dict[str, Any]:
    """Return the fields of a configuration whose models may have instances of some types."""
    return {
        "training": {
            "backend": "sagemaker",
            "fineTuneBatchSize": 50,
            "baseModel": "small",
            "instanceTypes": list(types),
        },
        "local": {"backend": "sagemaker", "hosting": "inference_component"},
        "budgets": {"daily": "10", "trainingMonthly": "100"},
    }


def reason_of(found: LocalAnswer | Unavailable) -> Reason:
    """Return why a version did not answer."""
    assert isinstance(found, Unavailable), found
    return found.reason


def sum_of(hosted: Hosted) -> HostingDay:
    """Return what the instances of all days come to."""
    days = hosted.repository.costs(hosted.task_id, "2000-01-01", "2100-01-01").values()
    return HostingDay(*map(sum, zip(*days, strict=True)))


def teardown(*options: str) -> tuple[int, list[list[str]]]:
    """Run ``autotune ops teardown``; return its exit code, and the words of what it printed."""
    with patch.object(ops_teardown, "BETWEEN_LOOKS_SECONDS", 0.05):
        result = CliRunner().invoke(app, ["ops", "teardown", "--region", REGION, *options])
    return result.exit_code, [line.split() for line in result.stdout.splitlines()]


@contextmanager
def hosted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosted]:
    """Provide a task and a SageMaker for it."""
    (folder / "lmi.json").write_text("{}")
    images = {"*djl*": [sys.executable, LMI_HOST, str(folder / "lmi.json")]}
    boto3.client("s3").create_bucket(Bucket=BUCKET)
    with (
        serving(folder / "sagemaker", images=images) as lab,
        connection_pool(admit_private=True) as pool,
    ):
        for service in ("SAGEMAKER", "SAGEMAKER_RUNTIME"):
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", lab.url)
        lab.upload("bases/small/weights", "weights")
        clients._client.cache_clear()
        sweep_hostings.parts.cache_clear()
        yield Hosted(lab, ModelServers(pool))
        for one in lab.s3.list_objects_v2(Bucket=BUCKET)["Contents"]:
            lab.s3.delete_object(Bucket=BUCKET, Key=one["Key"])
    sweep_hostings.parts.cache_clear()
    clients._client.cache_clear()
