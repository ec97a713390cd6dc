"""A sweep that is killed after any call, which is before the next one, leaves nothing half made."""

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from autotune.protocol.ids import new_id
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.examples.items import counts_key
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.hosting.advancing import HostingAdvancing
from autotune_platform.apprentice.hosting.hosts import Hosts, HostSettings
from autotune_platform.apprentice.hosting.models import Hosting, Lack, Wanted, WantedBase
from autotune_platform.apprentice.hosting.needing import TaskNeeds
from autotune_platform.apprentice.hosting.repository import HostingDay, HostingRepository
from autotune_platform.apprentice.hosting.service import Hostings
from autotune_platform.apprentice.hosting.stepping import HostingSteps
from autotune_platform.apprentice.instance_prices import InstancePrices
from autotune_platform.apprentice.training.repository import TrainingRepository
from autotune_platform.runtime import clients
from autotune_platform.runtime.sagemaker_control import HostLimitError
from autotune_platform.storage.table import Table
from local.sagemaker.hosts import NO_CAPACITY
from tests.support.apprentice_items import document
from tests.support.clock import StandingClock

_MINUTES_OFF = 5
FIRST, SECOND = "ml.g5.xlarge", "ml.g5.2xlarge"
LIMIT = "The account-level service limit 'ml.g5.xlarge for endpoint usage' is 0 Instances"
BASE = WantedBase("s3://models/base/", (FIRST,), rank=16)


class KilledError(Exception):
    """The process is gone."""


class Killer:
    """Ends a process after one of its calls; ``at`` None ends none.

    Attributes:
        writes: the how many-th calls changed something.
    """

    def __init__(self) -> None:
        self.at: int | None = None
        self.calls = 0
        self.writes: list[int] = []

    def around(self, call: Any, *, is_write: bool = True) -> Any:
        def killed(*arguments: Any, **options: Any) -> Any:
            self.calls += 1
            if is_write:
                self.writes.append(self.calls)
            is_due = self.calls == self.at
            answer = call(*arguments, **options)
            if is_due:
                raise KilledError
            return answer

        return killed


class SageMakerInMemory:
    """What SageMaker has: everything is in service at once, and a name is taken once.

    Attributes:
        lacks: why instances of a type are not to be had.
        instances: of which types endpoints were asked for, one after the other.
    """

    def __init__(self) -> None:
        self.has: dict[str, dict[str, Any]] = {}
        self.created: list[str] = []
        self.lacks: dict[str, Lack] = {}
        self.instances: list[str] = []

    def find(self, operation: str, **named: Any) -> dict[str, Any] | None:
        if operation == "list_tags":
            return {"Tags": self.has[named["ResourceArn"]]["Tags"]}
        found = self.has.get(_arn(operation, named))
        return dict(found) if found else None

    def do(self, operation: str, **request: Any) -> bool:
        arn = _arn(operation, request)
        if operation.startswith("create"):
            if arn in self.has:
                return False
            lack = self._lack(request) if operation == "create_endpoint" else None
            if lack == "quota":
                raise HostLimitError(LIMIT)
            self.created.append(arn)
            self.has[arn] = {
                **request,
                "EndpointStatus": "Failed" if lack else "InService",
                "FailureReason": NO_CAPACITY if lack else "",
                "InferenceComponentStatus": "InService",
                "RuntimeConfig": {"CurrentCopyCount": 1},
                **dict.fromkeys(_ARNS, arn),
            }
        elif operation.startswith("update"):
            copies = request["DesiredRuntimeConfig"]["CopyCount"]
            self.has[arn]["RuntimeConfig"] = {"CurrentCopyCount": copies}
        else:
            self.has.pop(arn, None)
        return True

    def refusal(self, operation: str, **request: Any) -> str | None:
        return None if self.do(operation, **request) else "SageMaker has that already."

    def _lack(self, request: Any) -> Lack | None:
        config = self.has[f"endpoint_config/{request['EndpointConfigName']}"]
        self.instances.append(config["ProductionVariants"][0]["InstanceType"])
        return self.lacks.get(self.instances[-1])


_ARNS = ("EndpointArn", "InferenceComponentArn", "EndpointConfigArn", "ModelArn")


def _arn(operation: str, named: Any) -> str:
    """Return the kind and the name of what an operation is about."""
    kind = operation.split("_", 1)[1].removesuffix("_runtime_config")
    name = f"{kind.title().replace('_', '')}Name"
    return f"{kind}/{named[name]}"


class Life:
    """An adapter from its wish to its end, with one process killed on the way."""

    def __init__(self) -> None:
        self.killer = Killer()
        self.sagemaker = SageMakerInMemory()
        self.clock = StandingClock()
        self.table = Table("apprentice", clients.dynamodb())
        self.task_id = new_id("apt")
        self._put(
            "configuration#000001", version=1, definition_hash="h", document=json.dumps(document())
        )
        self._put(counts_key("h"), examples=50)
        repository = HostingRepository(self.table)
        self.repository = repository
        self.hostings = Hostings(repository=repository, prefix="autotune", clock=self.clock)
        settings = HostSettings("autotune", "arn:aws:iam::1:role/host", "image")
        for name in ("add", "change", "want", "forget"):
            setattr(repository, name, self.killer.around(getattr(repository, name)))
        find, do = self.sagemaker.find, self.sagemaker.do
        setattr(self.sagemaker, "find", self.killer.around(find, is_write=False))  # noqa: B010
        setattr(self.sagemaker, "do", self.killer.around(do))  # noqa: B010
        tasks = TaskRepository(self.table)
        self.advancing = HostingAdvancing(
            repository=repository,
            needs=TaskNeeds(
                tasks=tasks,
                evidence=EvidenceRepository(self.table),
                ended_in_vain=TrainingRepository(self.table).ended_in_vain,
            ),
            tasks=tasks,
            hosts=Hosts(control=self.sagemaker, settings=settings),
            weights=lambda _: None,
            steps=HostingSteps(
                repository=repository,
                tasks=tasks,
                prices=InstancePrices(usd={FIRST: "3.6", SECOND: "7.2"}),
                clock=self.clock,
            ),
        )
        self.wanted = Wanted(self.task_id, f"{self.task_id}-1-aa", "s3://a.tar.gz", 30, BASE)

    def want(self) -> Hosting:
        """Want it, again where whoever did was killed."""
        while True:
            with suppress(KilledError):
                return self.hostings.want(self.wanted)

    def live(self) -> None:
        """Be wanted, serve, sleep, wake, be retired and go."""
        hosting = self.want()
        self.sweep()
        assert self.want().state == "ready"
        self._version(hosting.name, state="hosted")
        self.sweep(minutes=31)
        assert self.sagemaker_copies() == 0
        with suppress(KilledError):
            self.repository.want(self.task_id, str(hosting.base), self.clock.now(), idle_minutes=30)
        self.sweep()
        assert self.sagemaker_copies() == 1
        self._version(hosting.name, state="retired", retired_at=self.clock.now().isoformat())
        self.sweep(hours=25)
        self.sweep(hours=1)  # a base that nobody said was free is found within the hour
        assert self.sagemaker.has == {}

    def lack(self) -> None:
        """Be wanted, find room on the second type alone, in the second round, serve and go."""
        self.wanted = self.wanted._replace(base=BASE._replace(instance_types=(FIRST, SECOND)))
        self.sagemaker.lacks = {FIRST: "quota", SECOND: "capacity"}
        hosting = self.want()
        self.sweep()
        base = self.hostings.base_of(hosting)
        assert base is not None
        assert base.lacking is not None
        assert (base.state, base.lacking.lacks) == ("waiting", self.sagemaker.lacks)
        assert self.sagemaker.has == {}
        assert self.cost() == HostingDay()
        del self.sagemaker.lacks[SECOND]
        self.want()
        self.sweep(minutes=10)
        self.sweep()
        assert self.want().state == "ready"
        base = self.hostings.base_of(hosting)
        assert base is not None
        assert (base.instance_type, base.lacking) == (SECOND, None)
        self._version(hosting.name, state="retired", retired_at=self.clock.now().isoformat())
        self.sweep(hours=25)
        self.sweep(hours=1)
        assert self.sagemaker.has == {}

    def lack_for_a_day(self) -> None:
        """Be wanted, find no room on any type for a day, and be given up."""
        self.wanted = self.wanted._replace(base=BASE._replace(instance_types=(FIRST, SECOND)))
        self.sagemaker.lacks = {FIRST: "capacity", SECOND: "quota"}
        for _ in range(24):
            hosting = self.want()
            assert hosting.state == "creating"
            self.sweep(minutes=52)
        for minutes in (52, 52, 52, 1):
            self.want()
            self.sweep(minutes=minutes)
        hosting = self.want()
        assert (hosting.state, hosting.error) == ("gone", "no_capacity")
        base = self.hostings.base_of(hosting)
        assert base is not None
        assert base.error == "no_capacity"
        assert self.sagemaker.has == {}
        assert self.cost() == HostingDay()

    def sweep(self, **passes: float) -> None:
        """Have everything looked at for some minutes; the process that is killed comes again."""
        self.clock.turn(**(passes or {"minutes": 1}))
        for _ in range(8):
            for hosting in map(
                self.repository.read, self.repository.due(self.clock.now(), limit=10)
            ):
                with suppress(KilledError):
                    self.advancing.look(hosting)
            self.clock.turn(minutes=1)

    def sagemaker_copies(self) -> int:
        (copies,) = (
            one["RuntimeConfig"]["CurrentCopyCount"]
            for arn, one in self.sagemaker.has.items()
            if arn.startswith("inference_component") and arn.split("/")[1].count("-base-")
        )
        found: int = copies
        return found

    def cost(self) -> HostingDay:
        """Return the account of all days."""
        days = self.repository.costs(self.task_id, "2000-01-01", "2100-01-01").values()
        return HostingDay(*map(sum, zip(*days, strict=True)))

    def _version(self, model: str, **fields: Any) -> None:
        self._put(
            "version#000001",
            number=1,
            definition_hash="h",
            backend="sagemaker",
            model=model,
            **fields,
        )

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


@pytest.fixture
def lives(platform) -> Iterator[Life]:
    return (Life() for _ in count())


def test_a_sweep_may_be_killed_at_any_call(lives):
    whole = next(lives)
    whole.live()
    calls = whole.killer.calls
    assert calls > 40
    for at in range(1, calls + 1):
        life = next(lives)
        life.killer.at = at
        life.live()
        assert life.sagemaker.created == whole_names(whole, life), at
        # What was done a minute later was there a minute longer, or shorter; nothing counts twice.
        cost = life.cost()
        assert abs(cost.seconds - whole.cost().seconds) <= _MINUTES_OFF * 60, at
        assert cost == HostingDay(cost.seconds, 0, cost.seconds * 1_000_000)


def test_a_base_that_finds_no_room_may_be_killed_at_any_write(lives):
    whole = next(lives)
    whole.lack()
    asked = whole.sagemaker.instances
    assert asked[:2] + asked[-2:] == [FIRST, SECOND] * 2
    assert len(whole.killer.writes) > 40
    for at in whole.killer.writes:
        life = next(lives)
        life.killer.at = at
        life.lack()
        # A quota refuses again what a killed look asked for, and nothing else is asked twice.
        assert life.sagemaker.instances[-1] == SECOND, at
        assert len(life.sagemaker.instances) <= len(asked) + 1, at
        cost = life.cost()
        assert cost == HostingDay(cost.seconds, 0, cost.seconds * 2_000_000), at
        assert abs(cost.seconds - whole.cost().seconds) <= _MINUTES_OFF * 60, at


def test_a_base_without_room_for_a_day_is_given_up_with_its_adapter(lives):
    whole = next(lives)
    whole.lack_for_a_day()
    tries = len(whole.sagemaker.instances)
    assert 2 * 10 < tries < 2 * 20  # both types, in rounds that are further and further apart
    for at in whole.killer.writes[::41]:
        life = next(lives)
        life.killer.at = at
        life.lack_for_a_day()
        assert abs(len(life.sagemaker.instances) - tries) <= 2, at


def whole_names(whole: Life, life: Life) -> list[str]:
    """Return what was created in the life without a kill, by the names of another one."""
    names = (whole.task_id.replace("_", "-"), life.task_id.replace("_", "-"))
    return [arn.replace(*names) for arn in whole.sagemaker.created]
