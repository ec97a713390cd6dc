"""One round: a platform, a fake of the providers, and executions whose steps the seed orders.

Time is simulated, and everything runs on one thread: whatever is under way at the same time is
under way because the seed says that one step begins in the midst of another, at a call of a table
or of a provider. So a round is the same each time that it is run.
"""

import heapq
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from autotune_platform.storage.item_format import Item, item_from_wire
from tests.chaos_ledger.calls import by_half, changed
from tests.chaos_ledger.simulation import KilledError, Simulation
from tests.chaos_ledger.store import RefusalError, Store
from tests.providers.server import FakeServer
from tests.support.lambdas import LambdaContext, forget_processes, handler
from tests.support.platform import Platform

START = 1_795_000_000.0
_MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:submit_llm_batch"
_MOST_TRIES = 12  # as the state machine has it
_DEEPEST = 2
_MOST_GHOST_STEPS = 12
# How likely something else is done in the midst of a call; a provider takes far longer to answer.
_CHANCE_AT_TABLE = 0.004
_CHANCE_AT_PROVIDER = 0.05
_SECONDS_OF_A_CALL = 0.1
# Until then rows come; what follows is waiting for jobs and for budgets, mostly.
_BUSY_SECONDS = 5 * 3600
_BUSY = ("ProvisionedThroughputExceededException", "ThrottlingException")


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


class Context(LambdaContext):
    """Says how much time is left when it is asked."""

    def __init__(self, seconds_left: Callable[[], float]) -> None:
        super().__init__()
        self._seconds_left = seconds_left

    def get_remaining_time_in_millis(self) -> int:
        return int(self._seconds_left() * 1000)


@dataclass
class Execution:
    """A run of the state machine.

    Attributes:
        ghost_steps: how many steps are left of one that is a second one of the same state; None
            for the first. With no end, and doubled in their turn, they would be thousands in a day.
    """

    state: dict[str, Any]
    tries: int = 0
    ghost_steps: int | None = None


class Storm:
    """Lets executions run, and interrupts them.

    Attributes:
        faults: how often each fault of ours struck.
        lost: executions at the fake whose answer a killed or failed step may have lost.
        unanswered: those whose request came to no answer at all.
        steps: how many steps each batch and queue took in each hour.
        written: is shown each item that a call changes, before and after.
        wild: no more faults are begun once this is False.
    """

    def __init__(
        self, platform: Platform, fake: FakeServer, store: Store, time: Simulation, seed: int
    ) -> None:
        self.platform, self.fake, self.store = platform, fake, store
        self.random = random.Random(seed)
        self.faults: Counter[str] = Counter()
        self.steps: Counter[tuple[str, int]] = Counter()
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
        time.exchange = self.exchange
        time.skew = lambda: self._frames[-1].skew if self._frames else 0.0

    @property
    def now(self) -> float:
        return self.fake.world.clock.now() - START

    def at(self, seconds: float, act: Callable[[], bool]) -> None:
        """Have something done at a time, or in the midst of a step about then."""
        self._count += 1
        heapq.heappush(self._actions, (seconds, self._count, act))

    def every(
        self, seconds: float, act: Callable[[], object], *, until: float = float("inf")
    ) -> None:
        """Have something done again and again, which is never doubled and never killed."""

        def again() -> bool:
            self._frames.append(Frame())
            wild, self.wild = self.wild, False
            try:
                act()
            finally:
                self.wild = wild
                self._frames.pop()
            if self.now + seconds <= until:
                self.every(seconds, act, until=until)
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
        ghost = execution.ghost_steps
        if ghost == 0:
            return
        self.steps[state.get("batch_id") or state["group"], int(self.now // 3600)] += 1
        if self.wild and ghost is None and chance() < 0.04:
            self.faults["executions doubled"] += 1
            steps = self.random.randint(1, _MOST_GHOST_STEPS)
            ghostly = Execution(dict(state), ghost_steps=steps)
            self._push(self.random.choice([0, 1, 30, 400]), ghostly)
        if self.wild and chance() < 0.01:
            self.faults["executions lost"] += 1
            return
        event = {"step": state, "state_machine_arn": _MACHINE}
        seconds = self.random.choice([300, 300, 300, 40])
        left = self._invoke(
            lambda: handler("functions.ledger.work_batch")(event, self._context(seconds))
        )
        if left is None:
            execution.tries += 1
            if execution.tries <= _MOST_TRIES:
                self._push(min(2.0 * 2**execution.tries, 300) * chance(), execution)
        elif not left["done"]:
            left_of_it = None if ghost is None else ghost - 1
            self._push(left["wait_seconds"], Execution(left, ghost_steps=left_of_it))

    def _sweep(self) -> Any:
        return handler("functions.ledger.sweep_ledger")({}, self._context(60))

    def _context(self, seconds: float) -> LambdaContext:
        """Return the context of an invocation whose time passes with each call that it makes."""
        frame = self._frames[-1]
        return Context(lambda: seconds - frame.calls * _SECONDS_OF_A_CALL)

    def _invoke(self, work: Callable[[], Any]) -> Any:
        """Do a function's work, maybe killed; return None where it did not end."""
        frame = Frame()
        if self.wild:
            frame.skew = self.random.choice([0.0, 0.0, 0.0, -20.0, -3.0, 3.0, 20.0])
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
        is_conditional = name == "UpdateItem" and "ConditionExpression" in asked
        if is_conditional or name == "TransactWriteItems":
            self._kill(frame, after=False, late=lambda: self._done(name, asked, do))
        else:
            self._kill(frame, after=False)
        if (refused := self._refused(name, asked)) is not None:
            return refused
        answer = self._done(name, asked, do)
        self._kill(frame, after=True)
        return answer

    def _done(self, name: str, asked: dict[str, Any], do: Callable[[], Any]) -> Any:
        """Do a call, and show whoever watches what it changed of an item."""
        keys = list(changed(name, asked))
        before = [self.store.item("ledger", key) for key in keys]
        answer = do()
        for key, was in zip(keys, before, strict=True):
            after = self.store.item("ledger", key)
            self.written(key["pk"]["S"], item_from_wire(was), item_from_wire(after))
        return answer

    def exchange(self, send: Callable[[], Any]) -> Any:
        """Do a request to a provider, likewise."""
        frame = self._frames[-1] if self._frames else Frame()
        self._pass_point(frame, _CHANCE_AT_PROVIDER)
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
        self._pass_point(frame, _CHANCE_AT_PROVIDER)
        return answer

    def _kill(self, frame: Frame, *, after: bool, late: Callable[[], object] | None = None) -> None:
        """Kill a process whose time has come; its last write may still be on its way."""
        frame.calls += not after
        is_now = frame.calls == frame.kill_at and frame.kill_after == after
        if is_now and not frame.is_dead:
            self.faults[f"workers killed {'after' if after else 'before'} a call"] += 1
            frame.is_dead = True
            if late is not None:
                self.at(self.now + self.random.choice([1, 600, 900]), lambda: self._land(late))
        if frame.is_dead:
            raise KilledError

    def _land(self, write: Callable[[], object]) -> bool:
        """Do a write of a process that is gone; what others wrote meanwhile has to refuse it."""
        self.faults["writes of the dead"] += 1
        with suppress(RefusalError):
            write()
        return True

    def _pass_point(self, frame: Frame, chance: float = _CHANCE_AT_TABLE) -> None:
        """Have something else done in the midst of a step, now and then."""
        if not self.wild or frame.is_dead or not self._frames or len(self._frames) > _DEEPEST:
            return
        if self.random.random() >= chance:
            return
        self._take_started()
        soon = self.now + 30
        if self._actions and self._actions[0][0] <= soon and self._is_callers(self._actions[0][2]):
            self.faults["requests in the midst of a step"] += 1
            self._act(heapq.heappop(self._actions)[2])
            return
        near = [place for place, one in enumerate(self._queue) if one[0] <= soon]
        if near:
            self.faults["steps in the midst of another"] += 1
            chosen = self._queue.pop(self.random.choice(near))
            heapq.heapify(self._queue)
            self._step(chosen[2])
        else:
            self.faults["sweeps in the midst of a step"] += 1
            self._invoke(self._sweep)

    def _is_callers(self, act: Callable[[], bool]) -> bool:
        return act not in self._periodic

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
        if (part := by_half(name, asked)) is not None:
            self.faults["reads by half" if name == "BatchGetItem" else "writes by half"] += 1
            return part
        self.faults["calls throttled"] += 1
        raise RefusalError(self.random.choice(_BUSY), "busy")
