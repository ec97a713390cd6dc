"""Hundreds of calls at once under two budgets, as midnight, a week and a month pass among them.

Runs of a task, waited for or queued, and chat completions that are passed through share the budget
of their organisation; runs have one of their task's besides. Functions are killed while they ask
the paid model, answers of DynamoDB are lost, and calls are taken for lost whose callers live. The
provider keeps the bill that counts: at each look it is at most what is committed, and that at most
the limit, in each day, week and month.

First each call costs all that was set aside for it, so that a limit admits a number that is known
to the call. Then, on a later day, it costs less than half of that: refusing is no proof by itself.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from rich.console import Console

from autotune import AutotuneClient
from autotune_platform.budgets.uses import task_scope
from tests.chaos import apprentice_invariants as held
from tests.chaos import invariants
from tests.chaos.apprentice_invariants import Kept, is_assumed
from tests.chaos.apprentice_money import Looks
from tests.chaos.beside import Beside
from tests.chaos.faults import kill
from tests.chaos.invariants import Finding
from tests.chaos.patience import Patience
from tests.chaos.processes import API, CHATS, WORKER, FunctionDiedError, FunctionProcesses
from tests.chaos.spending_invariants import (
    all_is_used,
    bill_is_covered,
    periods_turned,
    spent_is_booked,
)
from tests.chaos.spending_load import Chats, SpendingLoad, case_of
from tests.chaos.spending_world import (
    OUTPUT_TOKENS,
    TIMEOUT_SECONDS,
    Left,
    LosingProxy,
    Payee,
    Size,
    configuration,
)
from tests.chaos.tables import PAST, Item, Tables
from tests.chaos.teacher import KEY, MODEL, PRICES, teaching
from tests.chaos.texts import TEXT
from tests.chaos.turning import TurnedClock, when_all_turn

SEED = 20_261_128
TASK = "spending"
CALLS = 500
CHEAP_SHARE = 0.4
INPUT_NANO, OUTPUT_NANO = 250, 2_000
"""The prices of a token, as ``PRICES`` has them."""

SLOW = {"name": "chat_slow", "probability": 0.25, "times": None, "params": {"seconds": 2}}
KILLED = (WORKER, CHATS, WORKER, API)
KILLED_EACH, LOST_EACH = 12, 5
"""Calls on the bill, after which another function is killed, or other calls are taken for lost."""

CONNECTED = "functions killed that were connected to the model"
TAKEN, UNDER_WAY = "calls taken for lost", "calls under way at midnight"
BEGINS_BEFORE, TURNED_BEFORE = timedelta(minutes=2), timedelta(seconds=30)
"""Of midnight: when calls begin, and when it comes at the latest, however slow the machine is."""

SETTLES_QUIET_SECONDS, SETTLES_MOST_SECONDS = 90, 900
LOST_AFTER = timedelta(minutes=11)
_NANO = 1_000_000_000


def spend(console: Console, *, calls: int = CALLS) -> list[Finding]:
    """Have money spent through everything; return what was found."""
    with TemporaryDirectory(prefix="autotune-spending-") as folder:
        directory = Path(folder)
        clock = TurnedClock(directory / "seconds-ahead")
        midnight = when_all_turn(datetime.now(UTC).date())
        clock.turn_to(midnight - timedelta(hours=1))

        with teaching(SEED) as teacher, LosingProxy(lambda: stack.port, seed=SEED) as proxy:
            environment = {**clock.environment, "AWS_ENDPOINT_URL_DYNAMODB": proxy.url}
            stack = FunctionProcesses(directory, environment)
            with stack, clock.signing(), stack.client() as client:
                began = time.monotonic()
                payee = Payee(teacher)
                storm = Storm(stack, client, payee, clock, midnight, proxy, Size(calls))
                found = storm.play(console)
                console.print(f"spending: {time.monotonic() - began:.0f} s", highlight=False)
                return found


@dataclass
class Storm:
    """One organisation with its task."""

    stack: FunctionProcesses
    client: AutotuneClient
    payee: Payee
    clock: TurnedClock
    midnight: datetime
    proxy: LosingProxy
    size: Size

    def __post_init__(self) -> None:
        """Have a task and a chat, whose calls can cost the same."""
        self._draw = random.Random(SEED)
        self._beside = Beside()
        self._tables = Tables(self.stack.profile.aws_endpoint_url)
        self._faults: Counter[str] = Counter({CONNECTED: 0, TAKEN: 0, UNDER_WAY: 0})
        self._killed: Counter[str] = Counter()
        self._billed_before = 0
        connection = self.client.llm.connections.create(
            name="teacher",
            provider="openai",
            base_url=self.payee.teacher.base_url,
            api_key=KEY,
            prices=PRICES,
            timeout_seconds=TIMEOUT_SECONDS,
        )
        self._configuration = configuration(connection.id)
        self._task_id = self.client.apprentice_tasks.put(
            TASK, configuration={**self._configuration, "budgets": {"daily": "1"}}
        ).id
        token = self.client.llm.tokens.create(name="chats", connection_id=connection.id)
        chats = Chats(
            self.stack.profile.base_url, token.secret, f"{connection.id}/{MODEL}", OUTPUT_TOKENS
        )
        self._bound, chats = self._equal_bounds(chats)
        self._load = SpendingLoad(self.client, chats, TASK)
        self._limits = {
            self._organization: self._limit(self.size.of_all),
            task_scope(self._organization, self._task_id): self._limit(self.size.of_task),
        }
        self._set_limits()
        self._looks = self._looking()

    def play(self, console: Console) -> list[Finding]:
        """Send all of it; return what was found."""
        self.clock.turn_to(self.midnight - BEGINS_BEFORE)
        with self.payee.teacher.fake.world.lock:
            trap = dict(SLOW)
            self.payee.teacher.fake.world.traps.arm(str(trap.pop("name")), **trap)
        self.proxy.is_on = True
        self._looks.start()
        self._beside.start(self._kill, self._take_for_lost, self._turn)
        began = time.monotonic()
        try:
            self._load.send(range(self.size.calls))
            console.print(f"spending: sent in {time.monotonic() - began:.0f} s", highlight=False)
            self._beside.stop()
            self.payee.teacher.disarm()
            self.proxy.is_on = False
            self._answer_queued()
            admitted = self._admitted()
            self._settle()
            dear = self._findings(admitted)
            self._tell(console)
            self._looks.stop()
            return [*dear, self._looks.finding(), *self._cheap(console)]
        finally:
            self._beside.stop()
            self._looks.stop()

    def _looking(self, *, billed_before: int = 0) -> Looks:
        return Looks(
            self._tables,
            self.payee.teacher,
            self._organization,
            self._limits,
            kinds=("day", "week", "month"),
            billed_before=billed_before,
        )

    @property
    def _organization(self) -> str:
        return self.stack.profile.organization_id

    @property
    def _billed(self) -> int:
        return self.payee.teacher.billed()

    def _equal_bounds(self, chats: Chats) -> tuple[int, Chats]:
        """Return the bound of a run, and chats that have the same: their questions are filled up.

        Answers cost a share of it from then on.
        """
        run = self.client.apprentice.run(TASK, input={"text": f"case-90000 {TEXT}"}, wait=25)
        while run.state == "pending":  # a machine that is busy
            time.sleep(1)
            run = self.client.apprentice.get_run(run.id)
        assert run.routing is not None, run
        bound = self.client.llm.get(run.routing.request_ids[0]).bound_nano_usd
        short = bound - self._bound_of(chats, "case-90001")
        chats = replace(chats, padding=short // INPUT_NANO)
        assert self._bound_of(chats, "case-90002") == bound
        self.payee.most_input = (bound - OUTPUT_TOKENS * OUTPUT_NANO) // INPUT_NANO
        return bound, chats

    def _bound_of(self, chats: Chats, case: str) -> int:
        answer = chats.ask(case)
        assert answer.is_success, answer.text
        return self.client.llm.get(answer.headers["x-autotune-llm-request"]).bound_nano_usd

    def _limit(self, bounds: int) -> int:
        return bounds * self._bound + self._bound // 2

    def _set_limits(self) -> None:
        of_task, of_all = (
            f"{Decimal(self._limit(bounds)) / _NANO:f}"
            for bounds in (self.size.of_task, self.size.of_all)
        )
        budgets = {"daily": of_task, "weekly": of_task, "monthly": of_task}
        self.client.apprentice_tasks.put(
            TASK, configuration={**self._configuration, "budgets": budgets}
        )
        self.client.llm.set_budget(day_usd=of_all, week_usd=of_all, month_usd=of_all)

    def _kill(self) -> None:
        """Kill functions in turn, of those that are connected to the paid model where there are."""
        for name in cycle(KILLED):
            if not self._after(KILLED_EACH):
                return
            workers = self.stack.workers(name)
            asking = [one for one in workers if self._asks(one)]
            if workers:
                kill(name, self._draw.choice(asking or workers), killed=self._killed)
                self._faults[CONNECTED] += bool(asking)

    def _after(self, calls: int, *, until: datetime | None = None) -> bool:
        """Wait until so many more calls are on the bill, or a time; return False where all ends."""
        wanted = len(self.payee.teacher.asked) + calls
        while len(self.payee.teacher.asked) < wanted and not (until and self.clock.now() >= until):
            if self._beside.is_over(after=0.05):
                return False
        return True

    def _asks(self, worker: psutil.Process) -> bool:
        port = int(self.payee.teacher.fake.base_url.rpartition(":")[2])
        with suppress(psutil.Error):
            return any(one.raddr and one.raddr.port == port for one in worker.net_connections())
        return False

    def _take_for_lost(self) -> None:
        """Have calls swept that are under way, as if their functions had been killed long ago."""
        while self._after(LOST_EACH):
            self._sweep_calls()

    def _sweep_calls(self) -> None:
        for row in self._open_calls():
            # Without its text it is known that the call was never made, and is charged nothing.
            if self._tables.item("Ledger", row["pk"], "input"):
                with suppress(self._tables.gone):
                    self._tables.set("Ledger", row, while_it_has="open_shard", due_at=PAST)
                    self._faults[TAKEN] += 1
        self._sweep()

    def _sweep(self) -> None:
        with suppress(FunctionDiedError):
            self.stack.sweep_ledger()

    def _open_calls(self) -> list[Item]:
        return [one for one in self._rows() if "open_shard" in one]

    def _rows(self) -> list[Item]:
        items = self._tables.items("Ledger")
        return [one for one in items if one["sk"] == "state" and one["pk"].startswith("llm_")]

    def _turn(self) -> None:
        """Have midnight pass while calls are under way, before it comes by itself."""
        if not self._after(self.size.turns_after, until=self.midnight - TURNED_BEFORE):
            return
        while not (under_way := len(self._open_calls())):
            if self._beside.is_over(after=0.05):
                return
        self._faults[UNDER_WAY] = under_way
        self._billed_before = self._billed
        self.clock.turn_to(self.midnight)

    def _answer_queued(self) -> None:
        """Have runs that still wait in the queue worked on, but for those whose call was lost."""
        self._hand_over(until=lambda left: len(left.runs) <= left.calls)

    def _settle(self) -> None:
        """Let ten minutes pass at once, after which lost calls are found, and their runs end."""
        self.clock.advance(LOST_AFTER)
        self._hand_over(until=lambda left: not any(left), meanwhile=self._sweep)

    def _hand_over(
        self, *, until: Callable[[Left], bool], meanwhile: Callable[[], None] = lambda: None
    ) -> None:
        """Have pending runs worked on again and again, as long as any of them ends."""
        left = self._left()
        patience = Patience(
            lambda: left, quiet_seconds=SETTLES_QUIET_SECONDS, most_seconds=SETTLES_MOST_SECONDS
        )
        while not until(left) and not patience.is_over():
            meanwhile()
            for run_id in left.runs:
                self.stack.hand_over(run_id)
            time.sleep(2)
            left = self._left()

    def _left(self) -> Left:
        runs = [id_ for id_, run in self._kept().runs.items() if run["state"] == "pending"]
        return Left(runs, len(self._open_calls()))

    def _kept(self) -> Kept:
        return Kept.of(list(self._tables.items("Apprentice")), list(self._tables.items("Ledger")))

    def _numbers(self, prefix: str) -> Mapping[str, Mapping[str, int]]:
        """Return numbers of all periods by scope."""
        return {
            scope: {
                name.removeprefix(prefix): int(value)
                for name, value in self._tables.item("Budgets", f"money#{scope}", "limits").items()
                if name.startswith(prefix)
            }
            for scope in self._limits
        }

    def _admitted(self) -> Mapping[str, int]:
        """Return how much each scope has committed on the day after midnight."""
        day = self.midnight.date().isoformat()
        return {scope: of.get(day, 0) for scope, of in self._numbers("committed#").items()}

    def _findings(self, admitted: Mapping[str, int]) -> list[Finding]:
        rows, kept = self._rows(), self._kept()
        ends = self._load.ends
        faults = {
            **self._faults,
            "answers of DynamoDB lost": self.proxy.lost,
            "calls charged that were lost": sum(map(is_assumed, rows)),
            **{f"{kind} refused": ends[f"{kind} refused"] for kind in ("run", "chat")},
            "queued runs refused": sum(one["state"] == "refused" for one in kept.runs.values()),
        }
        return [
            all_is_used(admitted, self._wanted()),
            held.every_run_ended(kept),
            self._looks.settled_finding(),
            spent_is_booked(rows, self._numbers("spent#")),
            periods_turned(self._numbers("spent#"), self.midnight),
            bill_is_covered(rows, self._billed, self._billed_before, self.midnight),
            invariants.every_fault_happened(faults),
        ]

    def _wanted(self) -> Mapping[str, int]:
        bounds = (self.size.of_all, self.size.of_task)
        return {
            scope: number * self._bound for scope, number in zip(self._limits, bounds, strict=True)
        }

    def _cheap(self, console: Console) -> list[Finding]:
        """Have calls cost less, on a later day: in the end there is no room for one more call."""
        self.clock.advance(timedelta(days=40))
        day = self.clock.now().date().isoformat()
        self.payee.share = CHEAP_SHARE
        self._load.ends.clear()
        self._looks = self._looking(billed_before=self._billed)
        self._looks.start()
        number = self.size.calls + self.size.cheap
        self._load.send(range(self.size.calls, number))
        self._answer_queued()
        while number < 2 * self.size.calls and self._load.run(case_of(number), 20) != "refused":
            number += 1
        self._looks.stop()
        scope = task_scope(self._organization, self._task_id)
        spent = self._numbers("spent#")[scope].get(day, 0)
        console.print(
            f"spending: {number - self.size.calls} cheap calls, {dict(self._load.ends)}; "
            f"{spent / self._limits[scope]:.1%} of the task's limit spent",
            highlight=False,
        )
        least = self._limits[scope] - self._bound
        violations = [] if spent > least else [f"spent {spent}, and {least} is too little"]
        return [
            Finding("calls that cost less use the limit up", self.size.cheap, violations),
            self._looks.finding(),
            self._looks.settled_finding(),
        ]

    def _tell(self, console: Console) -> None:
        console.print(
            f"spending: {len(self._rows())} calls, {dict(self._load.ends)}; "
            f"{self._looks.count} looks; billed {self._billed:,}; bound {self._bound:,}; "
            f"killed {dict(self._killed)}; calls that failed {dict(self._load.failed_calls)}; "
            f"faults {dict(self._faults)}, {self.proxy.lost} answers lost",
            highlight=False,
        )
