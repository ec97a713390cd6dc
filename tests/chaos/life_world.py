"""The platform in one process, whose functions are killed at calls of AWS and throttled.

Whatever happens is drawn from a seed. A function that is killed is begun anew, as Lambda, a queue,
a stream or a state machine does it; and nobody remembers then what they knew of a task.
"""

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

from botocore.awsrequest import AWSResponse

from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import SYSTEM_CLOCK
from autotune_platform.storage.table import Table
from local.deployment import REPOSITORY_ROOT
from tests.chaos.apprentice_invariants import Kept
from tests.chaos.student import case_in, intent_of, permuted_intent_of
from tests.chaos.tables import Item, plain
from tests.chaos.teacher import Teacher
from tests.providers.answers import Ask, Reply
from tests.support.apprentice_runs import Runs
from tests.support.executions import inputs_of
from tests.support.killing import Killed, Killer
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.ledger import later
from tests.support.tables import stream_records

POISON = "poisoned"
"""Where this is asked, the labels are permuted: what an input says has no say in its intent."""

KILLED_SHARE, DOUBLED_SHARE, THROTTLED_SHARE = 0.12, 0.1, 0.05
CALLS_KILLED_SHARE = 0.04
"""Of inputs: a run whose worker was killed while it asked ends ten minutes later."""

MOST_CALLS = 12
"""Of AWS, before one that is killed."""

MOST_TRIES, TRIED_AGAIN = 40, 4
"""The machine tries a step that is killed so often, and what is busy for an hour."""

TRAINED_WITHIN = 900.0
"""Seconds, of which a job takes one on a quiet machine."""

_MACHINE = REPOSITORY_ROOT / "statemachines" / "train_student.asl.json"
_SHARES = {"runs": CALLS_KILLED_SHARE}
_CODE = "ProvisionedThroughputExceededException"
_COUNTED = (clients.dynamodb, clients.sqs, clients.s3, clients.stepfunctions)
"""Whose calls a ``Killer`` counts by itself."""

_OTHERS = (clients.brief_dynamodb, clients.brief_sqs)
_Done = TypeVar("_Done")


class BusyError(Exception):
    """Somebody did not answer, and is asked again."""


class Throttle:
    """Refuses the next calls of DynamoDB as DynamoDB does."""

    def __init__(self) -> None:
        self.left = self.refused = 0

    def over(self, client: Any) -> None:
        """Refuse calls of a client."""
        client.meta.events.register_first("before-call.dynamodb", self._refuse)

    def _refuse(self, **_: Any) -> tuple[AWSResponse, dict[str, Any]] | None:
        if self.left <= 0:
            return None
        self.left -= 1
        self.refused += 1
        answer = AWSResponse("", 400, {}, None)
        metadata = {"HTTPStatusCode": 400, "HTTPHeaders": {}, "RetryAttempts": 0}
        return answer, {"Error": {"Code": _CODE, "Message": "busy"}, "ResponseMetadata": metadata}


class LifeTeacher(Teacher):
    """The paid model, whose labels are permuted where that is asked for.

    Attributes:
        meanwhile: what happens while it is asked.
    """

    meanwhile: Callable[[], None] | None = None

    def answer(self, ask: Ask) -> Reply:
        """Answer as the case in a question has it."""
        if self.meanwhile is not None:
            self.meanwhile()
        case = case_in(ask.prompt)
        self.asked.append(case)
        intent = permuted_intent_of(case) if POISON in ask.prompt else intent_of(case)
        return Reply(f'{{"intent": "{intent}"}}', has_token=False)


@dataclass
class World:
    """Everything that runs.

    Attributes:
        draw: chance.
        teacher: the paid model.
        killed: functions, by their names.
        doubled: what was done once more.
        forgot_at: when nobody remembered anything, Unix seconds.
        after: is called after each deed, with its name.
    """

    runs: Runs
    draw: random.Random
    killed: Counter[str] = field(default_factory=Counter)
    doubled: Counter[str] = field(default_factory=Counter)
    forgot_at: list[float] = field(default_factory=lambda: [0.0])
    after: Callable[[str], None] = lambda _: None
    _followed: int = 0
    _machines: dict[str, "Machine"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Have what kills, throttles and teaches."""
        self.killer, self.throttle = Killer(), Throttle()
        self._known = [one() for one in _COUNTED]
        self.throttle.over(clients.dynamodb())
        self._meet(_OTHERS)
        self.teacher = LifeTeacher(self.runs.ledger.fake)
        self.runs.ledger.fake.world.answers.answerer = self.teacher.answer

    def amid(
        self,
        name: str,
        deed: Callable[[], _Done],
        *,
        most_kills: int = MOST_TRIES,
        share: float = KILLED_SHARE,
    ) -> _Done:
        """Do something whose process may be killed at any call, until it is done.

        Args:
            name: of the function.
            deed: changes nothing twice.
            most_kills: after so many it is given up.
            share: how many of all are to be killed.

        Raises:
            Killed: it was killed that often.
            BusyError: it was tried too often.
        """
        kills = 0
        for left in range(MOST_TRIES, 0, -1):
            was_killed = False
            try:
                with self._danger(share):
                    done = deed()
                    # Some catch what ends them, as no end of a process is caught.
                    was_killed = self.is_killed
                if not was_killed:
                    return done
            except Killed:
                was_killed = True
            except BusyError:
                if left == 1:
                    raise
            finally:
                self.after(name)
            if was_killed:
                kills += 1
                self.killed[name] += 1
                self.forget()
                if kills == most_kills:
                    raise Killed
        raise BusyError(name)

    @property
    def is_killed(self) -> bool:
        """Whether the process that is at work was ended."""
        return any(left < 0 for left in self.killer.calls_left.values())

    @contextmanager
    def _danger(self, share: float) -> Iterator[None]:
        if self.draw.random() < share:
            moment = self.draw.choice(("before-call", "after-call"))
            self.killer.kill(moment, after=self.draw.randrange(MOST_CALLS))
        if self.draw.random() < THROTTLED_SHARE:
            self.throttle.left = self.draw.randrange(1, 3)
        try:
            yield
        finally:
            self.killer.spare()
            self.throttle.left = 0

    def forget(self) -> None:
        """Have no process remember what it knew."""
        forget_processes()
        self.forgot_at.append(SYSTEM_CLOCK.unix())
        # A process that begins has clients of its own.
        self._meet((*_COUNTED, *_OTHERS))

    def _meet(self, makers: Sequence[Callable[[], Any]]) -> None:
        """Have clients end their process, and be throttled, as others were."""
        for make in makers:
            client = make()
            if not any(client is one for one in self._known):
                self._known.append(client)
                self.killer.also(client)
                if client.meta.service_model.service_name == "dynamodb":
                    self.throttle.over(client)

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Ask the API until it answers; return what it says, with ``status``."""

        def ask() -> Any:
            answer = self.runs.platform.call(method, path, body, **options)
            if self.is_killed:
                raise Killed
            if answer.status in (429, 500, 502, 503, 504):
                raise BusyError(f"{method} {path}: {answer.text}")
            return {"status": answer.status, **(answer.json if answer.text else {})}

        name = path.rsplit("/", 1)[-1]
        return self.amid(name, ask, share=_SHARES.get(name, KILLED_SHARE))

    def invoke(self, function: str, event: dict[str, Any] | None = None) -> Any:
        """Have a function do what it does by its schedule."""
        run = handler(f"functions.apprentice.{function}")

        def do() -> Any:
            try:
                return run(event or {}, LambdaContext(900))
            except Killed:
                raise
            except Exception as error:
                raise BusyError(f"{function}: {error!r}") from error

        return self.amid(function, do)

    def follow(self) -> None:
        """Have the table's stream followed to its end, now and then some of it once more."""
        records = stream_records("apprentice")
        due = records[self._followed :]
        if records and self.draw.random() < DOUBLED_SHARE:
            first = self.draw.randrange(len(records))
            due = [*records[first : first + 20], *due]
            self.doubled["stream records"] += 1
        for first in range(0, len(due), 25):
            self.invoke("follow_runs", {"Records": due[first : first + 25]})
        self._followed = len(records)

    def work(self) -> None:
        """Have the queue's messages worked on, each twice now and then."""
        bodies = self.runs.messages()
        if bodies and self.draw.random() < DOUBLED_SHARE:
            bodies.append(bodies[0])
            self.doubled["messages"] += 1
        for body in bodies:
            self.amid(
                "work_runs",
                lambda body=body: self.runs.work(body),  # type: ignore[misc]
                share=CALLS_KILLED_SHARE,
            )

    def train(self, hasten: Callable[[], None] = lambda: None) -> None:
        """Have all executions of trainings go on until none is left.

        Args:
            hasten: has hosts that are being made looked at, which takes half a minute by itself.
        """
        until = time.monotonic() + TRAINED_WITHIN
        while self.train_on(hasten) and time.monotonic() < until:
            pass

    def train_on(self, hasten: Callable[[], None]) -> bool:
        """Have each execution of a training go through a state; return whether any was left."""
        for arn, given in inputs_of("train_student").items():
            self._machines.setdefault(arn, Machine(self, given))
        going = [one for one in self._machines.values() if not one.is_over]
        for one in going:
            one.step()
        if going:
            hasten()
            self.invoke("sweep_hostings")
        return bool(going)

    def settle(self, run_ids: list[str]) -> None:
        """Let time pass for runs whose worker was killed: calls are charged, messages come back."""
        for minutes in (1, 11, 12, 13, 14):
            with later(timedelta(minutes=minutes)):
                if minutes > 10:
                    self.runs.ledger.sweep()
                for run_id in run_ids:
                    self.runs.work(run_id)
                self.follow()
                self.work()
        self.follow()

    @staticmethod
    def kept() -> Kept:
        """Return what the tables have."""
        return Kept.of(list(_items("apprentice")), list(_items("ledger")))

    @staticmethod
    def budget(scope: str) -> Item:
        """Return the item of a scope of money."""
        return dict(Table("budgets", clients.dynamodb()).get(scope, "limits") or {})


def _items(table: str) -> Iterator[Item]:
    for page in clients.dynamodb().get_paginator("scan").paginate(TableName=table):
        yield from map(plain, page["Items"])


class Machine:
    """An execution of ``train_student``, as its definition has it, a state at a time."""

    def __init__(self, world: World, given: dict[str, Any]) -> None:
        definition = json.loads(_MACHINE.read_text())
        self._world, self.event = world, dict(given)
        self._states, self._state = definition["States"], definition["StartAt"]
        self.is_over = False

    def step(self) -> None:
        """Go through one state: a task is tried four times at most."""
        state = self._states[self._state]
        kind = state["Type"]
        if kind == "Task":
            self._task(state)
        elif kind == "Choice":
            chosen = (
                one["Next"]
                for one in state["Choices"]
                if self.event.get(one["Variable"].removeprefix("$.")) is one["BooleanEquals"]
            )
            self._state = next(chosen, state["Default"])
        elif kind == "Wait":
            time.sleep(0.05)
            self._state = state["Next"]
        else:
            self.is_over = True

    def _task(self, state: dict[str, Any]) -> None:
        function = _snake(re.sub(r"\$\{(\w+)FunctionArn\}", r"\1", state["Resource"]))
        run = handler(f"functions.apprentice.{function}")

        def do() -> Any:
            try:
                return run(dict(self.event), LambdaContext(900))
            except Killed:
                raise
            except Exception as error:
                raise BusyError(f"{function}: {error!r}") from error

        try:
            self.event = self._world.amid(function, do, most_kills=TRIED_AGAIN)
        except (Killed, BusyError):
            self._state = next(iter(state["Catch"]))["Next"] if "Catch" in state else ""
            self._world.killed["executions"] += 1
            return
        if "Next" in state:
            self._state = state["Next"]
        else:
            self.is_over = True


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
