"""One round: a platform, a fake of the providers, and executions whose steps the seed orders.

Time is simulated, and everything runs on one thread: whatever is under way at the same time is
under way because the seed says that one step begins in the midst of another, at a call of a table
or of a provider. So a round is the same each time that it is run.
"""

import heapq
import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from autotune.protocol import ids
from autotune_platform.ledger import asking, models
from autotune_platform.ledger.exchanges import Exchanges
from autotune_platform.runtime import threads
from autotune_platform.runtime.clock import Clock
from autotune_platform.storage.item_format import Item, item_from_wire
from tests.chaos_ledger.store import RefusalError, Store
from tests.providers.server import FakeServer
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.platform import Platform

START = 1_795_000_000.0
_MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:submit_llm_batch"
_MOST_TRIES = 12  # as the state machine has it
_DEEPEST = 2
# Until then rows come; what follows is waiting for jobs and for budgets, mostly.
_BUSY_SECONDS = 5 * 3600
_WRITES = frozenset(["PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"])
_BUSY = ("ProvisionedThroughputExceededException", "ThrottlingException")


class KilledError(BaseException):
    """The process is gone: nothing catches it."""


@dataclass
class Frame:
    """An invocation under way.

    Attributes:
        kill_at: the number of the call at which it is killed; None to let it live.
        asked: executions at the fake that its calls came to, by place in its list.
    """

    skew: float = 0.0
    kill_at: int | None = None
    kill_after: bool = False
    is_dead: bool = False
    calls: int = 0
    asked: list[int] = field(default_factory=list)


@dataclass
class Execution:
    """A run of the state machine; a ``ghost`` is a second one of the same state."""

    state: dict[str, Any]
    tries: int = 0


class Inline:
    """Does at once what an executor does on threads, in the order in which it is handed in."""

    def __init__(self, **_: Any) -> None:
        pass

    def __enter__(self) -> "Inline":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, work: Callable[..., Any], *given: Any, **named: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(work(*given, **named))
        except BaseException as error:  # noqa: BLE001 - as an executor hands it on
            done.set_exception(error)
        return done


class Storm:
    """Lets executions run, and interrupts them.

    Attributes:
        faults: how often each fault of ours struck.
        lost: executions at the fake whose answer a killed or failed step may have lost.
        unanswered: those whose request came to no answer at all.
        written: is shown each item that a call changes, before and after.
        wild: no more faults are begun once this is False.
    """

    def __init__(self, platform: Platform, fake: FakeServer, store: Store, seed: int) -> None:
        self.platform, self.fake, self.store = platform, fake, store
        self.random = random.Random(seed)
        self.faults: Counter[str] = Counter()
        self.lost: set[int] = set()
        self.unanswered: set[int] = set()
        self.written: Callable[[str, Item, Item], None] = lambda _key, _before, _after: None
        self.wild = True
        self.calm_after = float("inf")
        self.logs: list[str] = []
        self._queue: list[tuple[float, int, Execution]] = []
        self._actions: list[tuple[float, int, Callable[[], bool]]] = []
        self._count = 0
        self._frames: list[Frame] = []
        self._periodic: set[Callable[[], bool]] = set()
        self._swept = 0.0
        self._throttled_until = 0.0
        store.around = self._around

    @property
    def now(self) -> float:
        return self.fake.world.clock.now() - START

    def at(self, seconds: float, act: Callable[[], bool]) -> None:
        """Have something done at a time, or in the midst of a step about then."""
        self._count += 1
        heapq.heappush(self._actions, (seconds, self._count, act))

    def every(self, seconds: float, act: Callable[[], object]) -> None:
        """Have something done again and again, which is never doubled and never killed."""

        def again() -> bool:
            self._frames.append(Frame())
            wild, self.wild = self.wild, False
            try:
                act()
            finally:
                self.wild = wild
                self._frames.pop()
            self.every(seconds, act)
            return True

        self._count += 1
        heapq.heappush(self._actions, (self.now + seconds, self._count, again))
        self._periodic.add(again)

    def run(self, *, hours: float, is_over: Callable[[], bool]) -> bool:
        """Let time pass until all is over; return False where it is not by then."""
        while self.now < hours * 3600:
            if self.wild and self.now > self.calm_after:
                self.wild = False
                self.fake.world.traps.disarm()
            self._take_started()
            if self._one():
                continue
            if not self._queue and is_over():
                return True
            due = min([self._swept, *(one[0] for one in (*self._queue[:1], *self._actions[:1]))])
            self.fake.world.clock.advance(max(due - self.now, 0.001))
        return False

    def _take_started(self) -> None:
        started, self.store.started = self.store.started, []
        for state in started:
            self._push(self.random.uniform(0, 4), Execution(state))

    def _push(self, seconds: float, execution: Execution) -> None:
        self._count += 1
        heapq.heappush(self._queue, (self.now + seconds, self._count, execution))

    def _one(self) -> bool:
        """Do one thing that is due, chosen by chance; return False where nothing is."""
        now = self.now
        if self._swept <= now and self.random.random() < 0.5:
            self._swept = now + self._until_sweep()
            self._invoke(self._sweep)
            return True
        due = []
        while self._queue and self._queue[0][0] <= now:
            due.append(heapq.heappop(self._queue))
        if due:
            chosen = due.pop(self.random.randrange(len(due)))
            for one in due:
                heapq.heappush(self._queue, one)
            self._step(chosen[2])
            return True
        if self._actions and self._actions[0][0] <= now:
            self._act(heapq.heappop(self._actions)[2])
            return True
        if self._swept <= now:
            self._swept = now + self._until_sweep()
            self._invoke(self._sweep)
            return True
        return False

    def _until_sweep(self) -> float:
        often = [60, 60, 300] if self.now < _BUSY_SECONDS else [300, 900]
        return self.random.choice(often)

    def _act(self, act: Callable[[], bool]) -> None:
        """Have a caller ask something, and ask again as it was where no answer came."""
        if act in self._periodic:
            self._periodic.discard(act)
            act()
            return
        if self._invoke(act) is None:
            self.faults["requests repeated"] += 1
            self.at(self.now + self.random.choice([1, 40, 90]), act)
        elif self.wild and self.random.random() < 0.1:
            self.faults["messages doubled"] += 1
            self.at(self.now + self.random.choice([1, 40, 4000]), act)

    def _step(self, execution: Execution) -> None:
        state, chance = execution.state, self.random.random
        if self.wild and chance() < 0.04:
            self.faults["executions doubled"] += 1
            self._push(self.random.choice([0, 1, 30, 400]), Execution(dict(state)))
        if self.wild and chance() < 0.01:
            self.faults["executions lost"] += 1
            return
        event = {"step": state, "state_machine_arn": _MACHINE}
        seconds = self.random.choice([300, 300, 300, 40])
        left = self._invoke(
            lambda: handler("functions.ledger.work_batch")(event, LambdaContext(seconds))
        )
        if left is None:
            execution.tries += 1
            if execution.tries <= _MOST_TRIES:
                self._push(min(2.0 * 2**execution.tries, 300) * chance(), execution)
        elif not left["done"]:
            self._push(left["wait_seconds"], Execution(left))

    def _sweep(self) -> Any:
        return handler("functions.ledger.sweep_ledger")({}, LambdaContext(60))

    def _invoke(self, work: Callable[[], Any]) -> Any:
        """Do a function's work, maybe killed; return None where it did not end."""
        frame = Frame()
        if self.wild:
            frame.skew = self.random.choice([0, 0, 0, -20, -3, 3, 20])
            self.faults["skewed clocks"] += frame.skew != 0
            if self.random.random() < 0.12:
                frame.kill_at = int(self.random.expovariate(1 / 40)) + 1
                frame.kill_after = self.random.random() < 0.5
            if not self._frames and self.random.random() < 0.004:
                self.faults["processes new"] += 1
                forget_processes()
        self._frames.append(frame)
        try:
            return work()
        except KilledError:
            self.lost.update(frame.asked)
            return None
        except Exception as error:  # noqa: BLE001 - Step Functions tries again whatever it was
            self.faults[f"steps failed by {type(error).__name__}"] += 1
            self.logs.append(f"{self.now:.0f} {type(error).__name__}: {error}"[:300])
            self.lost.update(frame.asked)
            return None
        finally:
            self._frames.pop()

    def _around(self, name: str, asked: dict[str, Any], do: Callable[[], Any]) -> Any:
        """Do a call of AWS, unless the process that makes it is killed or refused."""
        if not self._frames:
            return do()
        frame = self._frames[-1]
        self._pass_point(frame)
        self._kill(frame, after=False)
        if (refused := self._refused(name, asked)) is not None:
            return refused
        answer = self._done(name, asked, do)
        self._kill(frame, after=True)
        return answer

    def _done(self, name: str, asked: dict[str, Any], do: Callable[[], Any]) -> Any:
        """Do a call, and show whoever watches what it changed of an item."""
        if name != "UpdateItem" or asked["TableName"] != "ledger":
            return do()
        key = asked["Key"]["pk"]["S"]
        if not key.startswith(("llm_", "lbt_")):
            return do()
        before = self.store.item("ledger", asked["Key"])
        answer = do()
        after = self.store.item("ledger", asked["Key"])
        self.written(key, item_from_wire(before), item_from_wire(after))
        return answer

    def exchange(self, send: Callable[[], Any]) -> Any:
        """Do a request to a provider, likewise."""
        frame = self._frames[-1] if self._frames else Frame()
        self._pass_point(frame)
        self._kill(frame, after=False)
        before = len(self.fake.world.executions)
        try:
            answer = send()
        except Exception:
            self.unanswered.update(range(before, len(self.fake.world.executions)))
            raise
        finally:
            frame.asked += range(before, len(self.fake.world.executions))
        self._kill(frame, after=True)
        self._pass_point(frame)
        return answer

    def _kill(self, frame: Frame, *, after: bool) -> None:
        frame.calls += not after
        is_now = frame.calls == frame.kill_at and frame.kill_after == after
        if is_now and not frame.is_dead:
            self.faults[f"workers killed {'after' if after else 'before'} a call"] += 1
            frame.is_dead = True
        if frame.is_dead:
            raise KilledError

    def _pass_point(self, frame: Frame) -> None:
        """Have something else done in the midst of a step, now and then."""
        if not self.wild or frame.is_dead or not self._frames or len(self._frames) > _DEEPEST:
            return
        if self.random.random() >= 0.004:
            return
        self._take_started()
        if self._queue and self._queue[0][0] <= self.now + 30:
            self.faults["steps in the midst of another"] += 1
            self._step(heapq.heappop(self._queue)[2])
        else:
            self.faults["sweeps in the midst of a step"] += 1
            self._invoke(self._sweep)

    def _refused(self, name: str, asked: dict[str, Any]) -> dict[str, Any] | None:
        """Refuse a call, mostly while the tables are busy; return an answer by half."""
        chance = self.random.random
        if not self.wild:
            return None
        if chance() < 0.0005:
            self._throttled_until = self.now + self.random.choice([0.5, 5, 60])
        if chance() >= (0.03 if self.now < self._throttled_until else 0.0008):
            return None
        if name == "TransactWriteItems":
            self.faults["transactions canceled"] += 1
            code = self.random.choice(["TransactionConflict", "ThrottlingError"])
            reasons = [{"Code": code}, *({"Code": "None"} for _ in asked["TransactItems"][1:])]
            raise RefusalError(
                "TransactionCanceledException", "canceled", CancellationReasons=reasons
            )
        if name == "BatchGetItem":
            self.faults["reads by half"] += 1
            return {"Responses": {}, "UnprocessedKeys": asked["RequestItems"]}
        if name == "BatchWriteItem":
            self.faults["writes by half"] += 1
            return {"UnprocessedItems": asked["RequestItems"]}
        self.faults["calls throttled"] += 1
        raise RefusalError(self.random.choice(_BUSY), "busy")

    def time(self) -> datetime:
        """Return the time as whoever runs at present has it."""
        skew = self._frames[-1].skew if self._frames else 0.0
        return datetime.fromtimestamp(self.fake.world.clock.now(), UTC) + timedelta(seconds=skew)


@contextmanager
def simulated(storm: Storm, seed: int) -> Iterator[None]:
    """Have time, chance and threads of the platform be the storm's."""
    chance = random.Random(f"names-{seed}")
    real = Exchanges.exchange
    reading = Exchanges.reading

    def exchange(self: Exchanges, *given: Any, **named: Any) -> Any:
        return storm.exchange(lambda: real(self, *given, **named))

    def read(self: Exchanges, *given: Any, **named: Any) -> Any:
        return storm.exchange(lambda: reading(self, *given, **named))

    drawn = SimpleNamespace(
        token_bytes=chance.randbytes,
        token_hex=lambda size: chance.randbytes(size).hex(),
        token_urlsafe=secrets.token_urlsafe,
    )
    ticking = SimpleNamespace(time_ns=lambda: int(storm.fake.world.clock.now() * 1e9))
    # Whose sleeps pass at once sees time pass all the same, or would wait for ever.
    slept = [0.0]

    def sleep(_: Clock, seconds: float) -> None:
        slept[0] += seconds

    with ExitStack() as stack:
        for change in (
            patch.object(Clock, "now", lambda _: storm.time()),
            patch.object(Clock, "monotonic", lambda _: time.monotonic() + slept[0]),
            patch.object(Clock, "sleep", sleep),
            patch.object(Exchanges, "exchange", exchange),
            patch.object(Exchanges, "reading", read),
            patch.object(threads, "ThreadPoolExecutor", Inline),
            patch.object(asking, "ThreadPoolExecutor", Inline),
            patch.object(ids, "secrets", drawn),
            patch.object(ids, "time", ticking),
            patch.object(models, "secrets", drawn),
        ):
            stack.enter_context(change)
        random.seed(seed)
        yield
