"""The same stream through the deployed stack, and what it decided otherwise than one process.

Inputs go one after the other through the API of a local stack, whose tables, streams, queues,
functions and trainings are those that are deployed. The paid model is a server of its own with a
bill of its own. Then this process plays the same inputs, and each run is compared.

A process of the stack knows a task for 30 seconds. So inputs go in blocks, each within fewer
seconds; this process looks as often. After a block all of it has to be counted, a training that is
due has to end, and if the task stands otherwise than before, whoever knows it has to forget it.
"""

import math
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import boto3

from autotune import AutotuneClient
from autotune.protocol.apprentice_runs import ApprenticeRun
from autotune_platform.apprentice.configuration.repository import TaskRepository
from autotune_platform.apprentice.folding.repository import EvidenceRepository
from autotune_platform.apprentice.runs.wire import summary_on_wire
from autotune_platform.apprentice.standing import KNOWN_SECONDS, Standing
from autotune_platform.apprentice.versions.models import ModelVersion
from autotune_platform.apprentice.versions.repository import VersionRepository
from autotune_platform.ledger.connection_repository import ConnectionRepository
from autotune_platform.storage.table import Table
from benchmarks.apprentice.ours import Apprenticeship, Log
from benchmarks.apprentice.playing import Played
from benchmarks.apprentice.streams import Query
from benchmarks.apprentice.tasks import NAME, Asked, document_of
from benchmarks.apprentice.teacher import MODEL, PRICES, Teacher
from local.endpoint import REGION
from local.stack import LocalStack
from tests.providers.answers import Ask, Reply, Usage
from tests.providers.server import FakeServer, serve

AT_ONCE: Final = 40
"""Inputs of a block at most."""
LONGEST_BLOCK_S: Final = 18.0
_PATIENCE_S: Final = 180.0
_LOOK_EVERY_S: Final = 0.2
_KEY = "apprentice-demo-key"
_AS_SURE = 1e-5
"""Functions have another build of numpy, whose sums are rounded otherwise in the last digits."""
# What the two do not share: ids of rows, of which each has its own.
_OWN = {"request_ids", "additional_request_ids"}


class StackedError(RuntimeError):
    """The stack did not come as far as it has to before anything can be compared."""


@dataclass
class Stacked:
    """A task on a deployed stack, and the same one in this process.

    Attributes:
        client: of the stack.
        dynamodb: client of its tables, to look at.
        ours: the same task in this process.
        log: what happens is written to.
        ended: runs of the stack, in the order of their inputs.
        blocks: how many inputs each block had.
    """

    client: AutotuneClient
    dynamodb: Any
    ours: Apprenticeship
    log: Log
    ended: list[ApprenticeRun] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._evidence = EvidenceRepository(table_of(self.dynamodb, "apprentice"))
        self._versions = VersionRepository(table_of(self.dynamodb, "apprentice"))

    def play(self, queries: Sequence[Query]) -> None:
        """Put queries through both."""
        left = list(queries)
        while left:
            before = _stands(self.ours.played.look())
            block = self._block(left)
            del left[: len(block)]
            self.blocks.append(len(block))
            self.ours.answer(block, at_once=len(block))
            self._until(self._is_counted, "counts")
            self._until(self._has_trained, "trainings")
            self.log(f"{len(self.ended)} inputs, phase {self.ours.played.look().derived.phase}")
            if _stands(self.ours.played.look()) != before:
                time.sleep(KNOWN_SECONDS + 1)

    def differences(self) -> list[str]:
        """Return what the stack decided, stored or paid otherwise than this process."""
        played, known = self.ours.played, self.ours.played.known
        found = []
        for place, (one, other) in enumerate(zip(self.ended, played.runs, strict=True)):
            found += different(place, one, summary_on_wire(other))
        stored = {one.version: one for one in self._evidence.all_of(played.asked.task.id)}
        for number, advance in known.advances.items():
            rules = advance.rules
            if stored[number].evidence(rules).wealth != advance.evidence.wealth:
                found.append(f"evidence of version {number} is another one")
        theirs = self.versions()
        if [one.canary_at for one in known.versions.values()] != [one.canary_at for one in theirs]:
            found.append("versions are others")
        return found

    def versions(self) -> list[ModelVersion]:
        """Return the versions of the stack."""
        return self._versions.all_of(self.ours.played.asked.task.id)

    def _block(self, left: Sequence[Query]) -> list[Query]:
        """Put some through the stack: until it takes too long, or a training is due."""
        due = self.ours.due()
        missing, began, block = due.needed - due.examples, time.monotonic(), []
        for query in left[:AT_ONCE]:
            self.ended.append(self._ask(query))
            block.append(query)
            routing = self.ended[-1].routing
            missing -= routing is not None and bool(routing.request_ids)
            if missing <= 0 or time.monotonic() - began > LONGEST_BLOCK_S:
                break
        return block

    def _ask(self, query: Query) -> ApprenticeRun:
        value = {"text": query.text}
        run = self.client.apprentice.run(
            NAME, input=value, wait=25, idempotency_key=str(query.place)
        )

        def has_ended() -> bool:
            nonlocal run
            if run.state == "pending" or (run.routing and run.routing.check == "due"):
                run = self.client.apprentice.get_run(run.id)
            return run.state != "pending" and not (run.routing and run.routing.check == "due")

        self._until(has_ended, f"run {run.id}")
        return run

    def _is_counted(self) -> bool:
        task, known = self.ours.played.asked.task, self.ours.played.known
        stored = {one.version: one.sequence for one in self._evidence.all_of(task.id)}
        counted = sum(one.begun for one in self._evidence.days(task.id, "0", "9"))
        examples = self._evidence.examples_of(task.id, task.definition_hash)
        own = {number: one.evidence.sequence for number, one in known.advances.items()}
        return (counted, examples, stored) == (known.counts["begun"], len(known.examples), own)

    def _has_trained(self) -> bool:
        newest = next(iter(self.client.apprentice.trainings.list(NAME)), None)
        number = 0 if newest is None else newest.number
        return number == self.ours.last.number and (newest is None or newest.ended_at is not None)

    def _until(self, has_come: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + _PATIENCE_S
        while not has_come():
            if time.monotonic() > until:
                raise StackedError(f"{what}: not there after {_PATIENCE_S:.0f} s")
            time.sleep(_LOOK_EVERY_S)


def compared(queries: Sequence[Query], settings: Mapping[str, Any], log: Log) -> dict[str, Any]:
    """Put queries through a stack of their own and through this process.

    Returns:
        What differs, both bills, and how long it took, in seconds.

    Raises:
        StackedError: the stack does not come along.
    """
    billed = Teacher(queries)
    with _provider(billed) as fake, _stack() as (client, dynamodb):
        connection = client.llm.connections.create(
            name="teacher",
            provider="simulated",
            base_url=f"{fake.base_url}/served/v1",
            api_key=_KEY,
            prices=PRICES,
        )
        intents = {query.intent for query in queries}
        configuration = document_of(intents, connection.id, **settings)
        client.apprentice_tasks.put(NAME, configuration=configuration)
        asked = _asked(client, dynamodb, connection.id)
        teacher = Teacher(queries)
        one = Stacked(client, dynamodb, Apprenticeship(Played(asked, teacher), log), log)
        began = time.monotonic()
        one.play(queries)
        seconds = time.monotonic() - began
        bill = fake.world.bill()["total_nano_usd"]
        paid = sum(run.routing.cost_nano_usd for run in one.ended if run.routing)
        found = one.differences()
        digests = {version.digest for version in one.versions()}
    if not bill == billed.bill == paid == teacher.bill:
        found.append(f"the bill is {bill}, runs cost {paid}, and here it is {teacher.bill}")
    derived = one.ours.played.stood
    return {
        "inputs": len(one.ended),
        "blocks": one.blocks,
        "phases": sorted({int(stood.phase) for stood in derived}),
        "inCanary": sum(run.in_canary for run in one.ours.played.runs),
        "checked": sum(run.check == "done" for run in one.ours.played.runs),
        "trainings": one.ours.trainings,
        "alarms": one.ours.alarms,
        "modelsAreTheSameToTheBit": digests
        == {version.digest for version in one.ours.played.known.versions.values()},
        "billNanoUsd": bill,
        "runsNanoUsd": paid,
        "inProcessNanoUsd": teacher.bill,
        "secondsOfStack": round(seconds, 1),
        "differences": found,
    }


def different(place: int, one: ApprenticeRun, other: ApprenticeRun) -> list[str]:
    """Return how two runs of one input differ, in words."""
    found = []
    if (one.id, one.state) != (other.id, other.state):
        found.append(f"input {place}: {one.id} {one.state}, and here {other.id} {other.state}")
    theirs, ours = (
        {} if run.routing is None else run.routing.model_dump(exclude=_OWN) for run in (one, other)
    )
    found += [
        f"input {place}, {name}: {theirs.get(name)!r}, and here {ours.get(name)!r}"
        for name in sorted(theirs.keys() | ours.keys())
        if not _is_same(name, theirs.get(name), ours.get(name))
    ]
    return found


def _is_same(name: str, one: Any, other: Any) -> bool:
    if name.endswith("confidence") and one is not None and other is not None:
        return math.isclose(one, other, abs_tol=_AS_SURE)
    return bool(one == other)


def table_of(dynamodb: Any, part: str) -> Table:
    """Return a table of a stack by a part of its name."""
    names = dynamodb.list_tables()["TableNames"]
    return Table(next(name for name in names if part in name.casefold()), dynamodb)


def _stands(standing: Standing) -> tuple[Any, ...]:
    """Return what of a standing decides."""
    return standing.derived, standing.canary_share, dict(standing.rates)


def _asked(client: AutotuneClient, dynamodb: Any, connection_id: str) -> Asked:
    """Return the task as it is stored, with its key."""
    tasks = TaskRepository(table_of(dynamodb, "apprentice"))
    stored = ConnectionRepository(table_of(dynamodb, "registry")).get(connection_id)
    assert stored is not None
    task = tasks.find(stored.organization_id, client.apprentice_tasks.get(NAME).name)
    assert task is not None
    configuration = tasks.configuration(task.id, task.version)
    assert configuration is not None
    return Asked(task=task, configuration=configuration, connection=stored)


@contextmanager
def _provider(teacher: Teacher) -> Iterator[FakeServer]:
    def answer(ask: Ask) -> Reply:
        text = ask.texts[-1]
        said, read, wrote = teacher.answer(ask.system, text, text)
        return Reply(said, usage=Usage(read, wrote), has_token=False)

    with serve() as fake:
        read, wrote = (float(PRICES[MODEL][name]) for name in ("input_usd", "output_usd"))
        fake.world.prices.add("compatible", MODEL, (read, read, wrote))
        fake.world.keys["compatible"] = {_KEY: "main"}
        fake.world.answers.answerer = answer
        yield fake


@contextmanager
def _stack() -> Iterator[tuple[AutotuneClient, Any]]:
    """Bring a stack up in a folder of its own; its trainings compute as this process does."""
    with (
        tempfile.TemporaryDirectory(prefix="autotune-bench-") as folder,
        LocalStack(directory=Path(folder), environment={"OPENBLAS_NUM_THREADS": "1"}) as profile,
        AutotuneClient(base_url=profile.base_url, api_key=profile.api_key) as client,
    ):
        session = boto3.Session("test", "test", region_name=REGION)
        yield client, session.client("dynamodb", endpoint_url=profile.aws_endpoint_url)
