"""``python -m tests.support.storming``: one of several processes that make calls of one task.

Each is a call of the ledger, whole: reserved in two budgets with its row and its run, asked, ended
and settled with both. The provider keeps a bill of its own, which is no budget. Some of the callers
die as they ask, before or after they are billed; ``Watch`` sweeps them. Others are swept although
they live, which has to change nothing.
"""

import argparse
import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from autotune.protocol.llm_requests import EnqueueLlmRequest
from autotune_platform.access.models import Caller
from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.budgets.scopes import COMMITTED, MoneyLimits
from autotune_platform.budgets.uses import task_scope
from autotune_platform.ledger.apprenticed import Apprenticed, NotOpenedError
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.ledger.call_settling import CallSettling
from autotune_platform.ledger.calling import LedgerCalls
from autotune_platform.ledger.calls import Answer, Outcome
from autotune_platform.ledger.costs import CostRepository
from autotune_platform.ledger.ending import RowEnds
from autotune_platform.ledger.models import Connection, Row
from autotune_platform.ledger.planning import RowPlanner
from autotune_platform.ledger.prices import TOKENS_PER_MESSAGE, Prices, most_input_tokens
from autotune_platform.ledger.row_repository import RowRepository
from autotune_platform.ledger.texts import RowTexts
from autotune_platform.ledger.usage import Usage
from autotune_platform.runtime.clock import Clock
from autotune_platform.runtime.errors import BudgetExhaustedError, UnavailableError
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.item_format import item_from_wire
from autotune_platform.storage.table import Item, Table
from tests.support.reserving import (
    AT_ONCE,
    BEFORE_ALL_TURN,
    ORGANIZATION,
    Turning,
    client_of,
    pause,
)

TASK_ID = "apt_00000000000000000000000000"
SCOPES = (task_scope(ORGANIZATION, TASK_ID), ORGANIZATION)
BOUND = (len("q{}") + TOKENS_PER_MESSAGE + 869) * 1_000
"""Of one call: bytes, a message and the most tokens of an answer, at a dollar for a million."""

LIMIT = BOUND * 100 + BOUND // 2
_SWEPT_THOUGH_ALIVE = 0.3
_CONNECTION = Connection(
    id="llc_00000000000000000000000000",
    organization_id=ORGANIZATION,
    name="storm",
    provider="simulated",
    base_url="https://models.example/v1",
    prices={"small": {"input_usd": "1", "output_usd": "1"}},
    created_at=BEFORE_ALL_TURN,
    updated_at=BEFORE_ALL_TURN,
)
_REQUEST = EnqueueLlmRequest.model_validate(
    {
        "connectionId": _CONNECTION.id,
        "purpose": "apprentice",
        "model": "small",
        "input": {"user": "q"},
        "params": {"maxTokens": 869},
    }
)
_CALLER = Caller(
    key_id="key_x",
    organization_id=ORGANIZATION,
    principal_id="usr_x",
    role="admin",
    request_id="req_x",
)


class Killed(BaseException):
    """The process ended here."""


class _Connections:
    def get_of(self, *_: str) -> Connection:
        return _CONNECTION


@dataclass
class Provider:
    """Answers at some share of the bound, and bills it; has callers die as they ask.

    What it bills is added to its bill before it answers, by the periods that were reserved in.
    """

    table: Table
    share: float
    killed: float

    def once(self, _: Connection, row: Row, text: object, params: object) -> Answer:
        assert text is not None
        assert params is not None
        assert row.bound_nano_usd == BOUND
        most = most_input_tokens(row.input_bytes, row.messages)
        usage = Usage(
            input_tokens=round(most * self.share), output_tokens=round(row.max_tokens * self.share)
        )
        dies = random.random() < self.killed
        if not dies or random.random() < 0.5:
            paid = (usage.input_tokens + usage.output_tokens) * 1_000
            numbers = {f"paid#{name}": paid for name in row.periods}
            bill = Addition(table=self.table.name, pk="bill", sk="state", numbers=numbers)
            while not self.table.add_together([bill]):
                pause()
        if dies:
            raise Killed
        return Answer("VERDICT", "stop", usage)


class Storm:
    """Calls of one task, with all that they write in one table."""

    def __init__(
        self, client: Any, table: str, clock: Clock, *, share: float = 1, killed: float = 0
    ) -> None:
        self.table = Table(table, client)
        self.is_over = False
        self.money = MoneyBudgets(
            table=self.table, outbox=self.table, clock=clock, tried_seconds=120
        )
        self.rows, self.batches = RowRepository(self.table), BatchRepository(self.table)
        # No text here outgrows its item.
        texts = RowTexts(table=self.table, bucket="none", s3=cast("Any", None), clock=clock)
        ends = RowEnds(rows=self.rows, texts=texts, clock=clock)
        self.settling = CallSettling(
            rows=self.rows,
            texts=texts,
            batches=self.batches,
            ends=ends,
            money=self.money,
            costs=CostRepository(self.table),
            lost=self._lost,
            clock=clock,
        )
        self.calls = LedgerCalls(
            planner=RowPlanner(
                connections=cast("Any", _Connections()), prices=Prices(clock=clock), clock=clock
            ),
            rows=self.rows,
            texts=texts,
            batches=self.batches,
            asking=cast("Any", Provider(self.table, share, killed)),
            ends=ends,
            money=self.money,
            settling=self.settling,
            clock=clock,
        )

    def one(self) -> tuple[str, str]:
        """Make a run of one call, once there is room; return its id, and what became of it."""
        run_id = f"apr_{uuid4().hex}"
        while not self.is_over:
            try:
                row, outcome = self.calls.call(_CALLER, _REQUEST, of=self._of(run_id))
            except Killed:
                return run_id, "killed"
            except NotOpenedError:
                # It was written, although that was not answered.
                return run_id, "killed"
            except BudgetExhaustedError:
                uses = [use for scope in SCOPES for use in self.money.uses(scope)[:1]]
                if any((use.room or 0) < BOUND and use.reserved <= 0 for use in uses):
                    return run_id, "refused"
            except UnavailableError:
                pass
            else:
                assert isinstance(outcome, Answer)
                if random.random() < _SWEPT_THOUGH_ALIVE:
                    self._sweep_late(row)
                return run_id, "answered"
            pause()
        return run_id, "refused"

    def lost(self, row_id: str) -> None:
        """End what nobody works on any more."""
        row = self.rows.get(row_id)
        assert row is not None
        self.settling.recover(row)

    def _sweep_late(self, row: Row) -> None:
        """Sweep a row that was read before it ended."""
        before = {"status": "submitted", "attempts": (), "cost_nano_usd": 0, "usage": None}
        self.settling.recover(row.model_copy(update=before))

    def _of(self, run_id: str) -> Apprenticed:
        def opening(row: Row) -> Sequence[Addition]:
            return [self._run(run_id, None, {"state": "pending", "row": row.id})]

        def closing(row: Row, _: Outcome) -> Sequence[Addition]:
            return [self._run(run_id, "pending", {"state": "answered", "cost": row.cost_nano_usd})]

        return Apprenticed(TASK_ID, run_id, opening, closing)

    def _lost(self, row: Row) -> Sequence[Addition]:
        assert row.apprentice_run_id is not None
        ended = {"state": "lost", "cost": row.cost_nano_usd}
        return [self._run(row.apprentice_run_id, "pending", ended)]

    def _run(self, run_id: str, was: str | None, changes: Mapping[str, Any]) -> Addition:
        return Addition(
            table=self.table.name, pk=run_id, sk="run", changes=changes, only_if={"state": was}
        )


@dataclass
class Watch:
    """Looks at bill and budgets while they are used, and sweeps what was lost."""

    storm: Storm
    lost_after: float
    looks: int = 0
    wrong: list[str] = field(default_factory=list)
    seen: dict[str, float] = field(default_factory=dict)

    def begin(self) -> None:
        for scope in SCOPES:
            limits = MoneyLimits(day=LIMIT, week=LIMIT, month=LIMIT)
            self.storm.money.set_limits(scope, limits)

    def look(self) -> None:
        """Require of each period, at this moment: bill ≤ committed ≤ limit."""
        # In this order: what is on the bill is committed until it is settled, and then spent.
        bill = self.storm.table.get("bill", "state") or {}
        for scope in SCOPES:
            for name, committed in self.storm.money.standing(scope).numbers.items():
                kind, _, of = name.partition("#")
                paid = bill.get(f"paid#{of}", 0)
                if f"{kind}#" == COMMITTED and not paid <= committed <= LIMIT:
                    self.wrong.append(f"{scope} {of}: {paid} paid, {committed} committed")
        self.looks += 1

    def sweep(self) -> bool:
        """End what has been under way for too long; return whether anything is under way."""
        now = time.monotonic()
        open_rows = [one["pk"] for one in self.all("llm_") if one.get("status") == "submitted"]
        for row_id in open_rows:
            if now - self.seen.setdefault(row_id, now) >= self.lost_after:
                self.storm.lost(row_id)
        return bool(open_rows)

    def all(self, prefix: str) -> Iterator[Item]:
        """Yield items whose key begins so."""
        pages = self.storm.table._client.get_paginator("scan")
        for page in pages.paginate(TableName=self.storm.table.name, ConsistentRead=True):
            yield from (
                one for one in map(item_from_wire, page["Items"]) if one["pk"].startswith(prefix)
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("endpoint")
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--share", type=float, required=True, help="of its bound that each costs")
    parser.add_argument("--midnight", type=Path, help="a file: once it is there, midnight passed")
    parser.add_argument("--killed", type=float, default=0, help="share of callers that die")
    asked = parser.parse_args()
    client = client_of(asked.endpoint)
    clock = Turning(asked.midnight)
    storm = Storm(client, asked.table, clock, share=asked.share, killed=asked.killed)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(lambda _: storm.one(), range(asked.count)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
