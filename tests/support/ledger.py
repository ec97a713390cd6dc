"""Connections to a fake provider on loopback, and batches, step by step."""

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from autotune.protocol.ids import new_id
from autotune.protocol.periods import BudgetPeriod
from autotune_platform.budgets.scopes import kind_of, periods_of, settled_names
from autotune_platform.runtime.clock import Clock
from tests.providers.server import FakeServer, serve
from tests.support.executions import inputs_of
from tests.support.lambdas import LambdaContext, handler
from tests.support.platform import Platform
from tests.support.tables import items_of_tables

MODEL = "small"
KEY = "fake-key"
PRICES = {MODEL: {"inputUsd": "0.1", "outputUsd": "0.4"}}
# A step that never ends by itself would hide what waits.
_MOST_STEPS = 50
_MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:submit_llm_batch"


class _NeverError(BaseException):
    """Nothing raises it."""


class Ledger:
    """A platform, a fake provider, and a connection between them."""

    def __init__(self, platform: Platform, fake: FakeServer) -> None:
        self.platform = platform
        self.fake = fake
        self._done: set[str] = set()
        self.passed = 0.0

    def connect(self, **fields: Any) -> str:
        """Make a connection to the fake, as to a vLLM server; return its id."""
        body = {
            "name": "fake",
            "provider": "simulated",
            "baseUrl": f"{self.fake.base_url}/served/v1",
            "apiKey": KEY,
            "prices": PRICES,
            "minRows": 1,
            **fields,
        }
        answer = self.platform.call("POST", "/api/v1/llm-connections", body)
        assert answer.status == 201, answer.text
        made: str = answer.json["connection"]["id"]
        return made

    def enqueue(
        self, connection_id: str, *users: str, key: str | None = None, **fields: Any
    ) -> Any:
        """Enqueue a row for each text; return the ids."""
        rows = [row(connection_id, user, **fields) for user in users]
        answer = self.platform.call(
            "POST",
            "/api/v1/llm-requests/batch",
            {"requests": rows},
            headers={"idempotency-key": key or new_id("req")},
        )
        assert answer.status == 202, answer.text
        return answer.json["requestIds"]

    def read(self, request_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self._get(f"llm-requests/{request_id}")["request"]
        return found

    def batches(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._get("llm-batches")["batches"]
        return found

    def budget(self) -> dict[str, dict[str, Any]]:
        """What each present period has used, by its kind."""
        return {one["period"]: one for one in self._get("llm-budget")["periods"]}

    def _get(self, path: str) -> Any:
        return self.platform.call("GET", f"/api/v1/{path}").json

    def spent_and_reserved(self, period: str) -> tuple[int, int]:
        """What periods of a kind have used together, those that were over of late too."""
        items = items_of_tables()["budgets"]
        sums: Counter[str] = Counter()
        today = Clock().now().date()
        for one in items:
            for name, value in one.items():
                kind, _, of = name.partition("#")
                is_money = one["pk"]["S"].startswith("money#") and settled_names([of], today)
                if of and is_money and kind_of(of) == period:
                    sums[kind] += int(value["N"])
        return sums["spent"], sums["committed"] - sums["spent"]

    def sweep(self) -> int:
        due: int = handler("functions.ledger.sweep_ledger")({}, LambdaContext(60))["due"]
        return due

    def step(self, state: dict[str, Any], *, seconds: float = 300) -> dict[str, Any]:
        """Do one step of an execution; return the state that it leaves."""
        event = {"step": state, "state_machine_arn": _MACHINE}
        left: dict[str, Any] = handler("functions.ledger.work_batch")(event, LambdaContext(seconds))
        return left

    def run(self) -> None:
        """Run every execution that was started and not run, to its end; waits pass at once."""
        while new := self.started():
            for state in new:
                self.finish(self.step(state))

    def finish(self, state: dict[str, Any]) -> None:
        """Do the further steps of an execution; waits pass at once."""
        for _ in range(_MOST_STEPS):
            if state["done"]:
                break
            state = self.step(state)

    def run_jobs(self, *, hours: float = 100, killed_by: type[BaseException] = _NeverError) -> None:
        """Let time pass for the platform and the provider, until no row is under way.

        Executions do their steps when these are due, and the sweeper runs each minute in which it
        finds something: without steps between, no other minute can be told from one without it.

        Args:
            killed_by: what a step is killed by; Step Functions repeats it then.
        """
        waiting: list[tuple[float, dict[str, Any]]] = []
        swept = self.passed
        ends = self.passed + hours * 3600
        while self.passed < ends:
            with later(timedelta(seconds=self.passed)):
                if self.passed >= swept:
                    with suppress(killed_by):
                        self.sweep()
                    swept = self.passed + 60
                waiting += [(self.passed, state) for state in self.started()]
                now = [state for due, state in waiting if due <= self.passed]
                waiting = [one for one in waiting if one[0] > self.passed]
                for state in now:
                    try:
                        left = self.step(state)
                    except killed_by:
                        left = {**state, "done": False, "wait_seconds": 10}
                    if not left["done"]:
                        waiting.append((self.passed + left["wait_seconds"], left))
            if not waiting and self._is_over():
                return
            due = min([self._next_sweep(swept), *(due for due, _ in waiting), ends])
            if due > self.passed:
                self.fake.world.clock.advance(due - self.passed)
                self.passed = due
        raise AssertionError(f"rows are under way after {hours} hours")

    def _next_sweep(self, swept: float) -> float:
        """When there is next something due, in whole minutes after ``swept``."""
        due = [one["due_at"]["S"] for one in items_of_tables()["ledger"] if "open_shard" in one]
        if not due:
            return math.inf
        ahead = (datetime.fromisoformat(min(due)) - Clock().now()).total_seconds() - swept
        return swept + 60 * max(0, math.ceil(ahead / 60))

    def _is_over(self) -> bool:
        return not any(
            one["sk"]["S"] == "state" and one.get("status", {}).get("S") in ("queued", "submitted")
            for one in items_of_tables()["ledger"]
        )

    def started(self) -> list[dict[str, Any]]:
        """The inputs of executions that were started since this was asked before."""
        found = inputs_of("submit_llm_batch")
        new = [state for arn, state in found.items() if arn not in self._done]
        self._done.update(found)
        return new


@contextmanager
def later(passed: timedelta) -> Iterator[None]:
    """Have the platform's clock ahead, as after a while."""
    now = Clock.now
    with patch.object(Clock, "now", lambda self: now(self) + passed):
        yield


@contextmanager
def in_one(period: BudgetPeriod, *, lasting: timedelta = timedelta(hours=2)) -> Iterator[None]:
    """Have the platform's clock in a period that goes on for so long.

    It is the next one where the present one is over before: what a budget has no room for would
    begin with that otherwise, as time passes for a test.
    """
    now = Clock().now()
    first, last = (periods_of(at.date())[period] for at in (now, now + lasting))
    with later(timedelta() if first == last else lasting):
        yield


def row(connection_id: str, user: str = "q", **fields: Any) -> dict[str, Any]:
    """A request as a caller sends it."""
    return {
        "connectionId": connection_id,
        "purpose": "scoring",
        "model": MODEL,
        "input": {"user": user},
        "params": {"maxTokens": 100},
        **fields,
    }


@contextmanager
def ledger(platform: Platform) -> Iterator[Ledger]:
    """Provide a fake provider, and what is asked of it through the platform."""
    with serve() as fake:
        fake.world.prices.add("compatible", MODEL, (0.1, 0.1, 0.4))
        yield Ledger(platform, fake)
