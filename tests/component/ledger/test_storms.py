"""Many runs of one task call at once: bill ≤ committed ≤ limit, in both budgets, at each moment.

The same storm runs with a guard taken out of the code, and has to find that out.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from botocore.exceptions import ReadTimeoutError

from autotune_platform.budgets.money import MoneyBudgets
from autotune_platform.budgets.scopes import COMMITTED, SPENT
from autotune_platform.ledger.batch_repository import BatchRepository
from autotune_platform.runtime import clients
from autotune_platform.storage.counting import Addition, Canceled
from autotune_platform.storage.table import Table
from tests.support.platform import Platform
from tests.support.reserving import Turning
from tests.support.storming import SCOPES, Storm, Watch
from tests.support.tables import items_of_tables

_THREADS = 8
_MOST_SECONDS = 90


@pytest.fixture
def table(platform: Platform) -> Iterator[str]:
    """A table that nothing else uses."""
    assert platform
    keys = ("pk", "sk")
    clients.dynamodb().create_table(
        TableName="storm",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in keys],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    )
    yield "storm"
    # What is left in tables at the end is looked at, and this is none of the platform's.
    left = items_of_tables()["storm"]
    Table("storm", clients.dynamodb()).delete_many((one["pk"]["S"], one["sk"]["S"]) for one in left)


def play(table: str, tmp_path: Path, *, share: float, killed: float, count: int) -> list[str]:
    """Play a storm; return how its runs ended, once all that was found is right.

    Raises:
        AssertionError: something was overspent, lost, or counted twice.
    """
    clock = Turning(tmp_path / "midnight")
    storm = Storm(clients.dynamodb(), table, clock, share=share, killed=killed)
    watch = Watch(Storm(clients.dynamodb(), table, clock), lost_after=3)
    watch.begin()
    deadline = time.monotonic() + _MOST_SECONDS
    with ThreadPoolExecutor(_THREADS) as threads:
        told = [threads.submit(storm.one) for _ in range(count)]
        while not all(one.done() for one in told):
            watch.look()
            if killed:
                watch.sweep()
            time.sleep(0.02)
            storm.is_over = bool(watch.wrong) or time.monotonic() > deadline
    assert time.monotonic() < deadline, "the storm does not end"
    while watch.sweep():
        assert time.monotonic() < deadline, "what was lost is not ended"
        time.sleep(0.2)
    watch.look()
    assert watch.wrong == []
    ends = dict(one.result() for one in told)
    admitted = {run for run, end in ends.items() if end != "refused"}
    runs = {one["pk"]: one for one in watch.all("apr_")}
    rows = {one["pk"]: one for one in watch.all("llm_") if one["sk"] == "state"}
    assert set(runs) == admitted
    states = {"answered": "answered", "killed": "lost"}
    assert {run: one["state"] for run, one in runs.items()} == {
        run: states[ends[run]] for run in admitted
    }
    # Each run has what its row cost, and both budgets have all of them.
    assert len(rows) == len(runs)
    assert all(one["cost"] == rows[one["row"]]["cost_nano_usd"] for one in runs.values())
    cost = sum(one["cost"] for one in runs.values())
    for scope in SCOPES:
        numbers = storm.money.standing(scope).numbers
        spent = {value for name, value in numbers.items() if name.startswith(SPENT)}
        committed = {value for name, value in numbers.items() if name.startswith(COMMITTED)}
        assert spent == committed == {cost}
    warnings = [one for one in watch.all("money#") if one.get("type") == "budget.warning"]
    assert len(warnings) == 2 * 3
    return list(ends.values())


@pytest.mark.parametrize(
    ("share", "killed", "count", "least", "most"),
    [
        pytest.param(1.0, 0.0, 160, 100, 100, id="actual-is-the-bound"),
        # At least 95 percent of the limit is used, and 251 of these are the whole of it.
        pytest.param(0.4, 0.0, 300, 239, 251, id="actual-is-less"),
        pytest.param(1.0, 0.2, 160, 100, 100, id="callers-are-killed"),
    ],
)
def test_runs_of_a_task_never_cost_more_than_its_budget(
    table: str, tmp_path: Path, share: float, killed: float, count: int, least: int, most: int
) -> None:
    ends = Counter(play(table, tmp_path, share=share, killed=killed, count=count))
    assert least <= ends["answered"] + ends["killed"] <= most
    assert bool(ends["killed"]) == bool(killed)


def without_conditions(of: Any, **gone: Any) -> Callable[..., Addition]:
    return lambda *given, **named: replace(of(*given, **named), **gone)


def unanswered(is_same: bool) -> Any:
    """Lose the answer of each third reservation; what is asked again is the same, or another."""
    write, written = Table.write_together, Counter[str]()

    def lost(self: Table, additions: Any, *, token: str) -> Canceled | None:
        written[token] += 1
        once = token if is_same else f"{token}{written[token]}"
        canceled = write(self, additions, token=once)
        if canceled is None and written[token] == 1 and len(written) % 3 == 0:
            raise ReadTimeoutError(endpoint_url="memory")
        return canceled

    return patch.object(Table, "write_together", lost)


def no_room_needed() -> list[AbstractContextManager[Any]]:
    of = MoneyBudgets._addition
    return [patch.object(MoneyBudgets, "_addition", without_conditions(of, at_most={}))]


def settled_however_often() -> list[AbstractContextManager[Any]]:
    return [
        patch.object(BatchRepository, name, without_conditions(of, only_if={}))
        for name, of in (
            ("settling_with", BatchRepository.settling_with),
            ("settling_row", BatchRepository.settling_row),
        )
    ]


def reserved_again() -> list[AbstractContextManager[Any]]:
    of = BatchRepository.opening_row
    return [
        unanswered(is_same=False),
        patch.object(BatchRepository, "opening_row", without_conditions(of, only_if={})),
        patch.object(Storm, "_run", without_conditions(Storm._run, only_if={})),
    ]


@pytest.mark.parametrize(
    ("mutation", "count"),
    # What is reserved twice leaves room for fewer, and all of these have room.
    [(no_room_needed, 120), (settled_however_often, 120), (reserved_again, 60)],
)
def test_a_guard_that_is_gone_is_found_out(
    table: str,
    tmp_path: Path,
    mutation: Callable[[], list[AbstractContextManager[Any]]],
    count: int,
) -> None:
    with ExitStack() as gone:
        for one in mutation():
            gone.enter_context(one)
        with pytest.raises(AssertionError):
            play(table, tmp_path, share=1.0, killed=0.0, count=count)


def test_a_reservation_whose_answer_is_lost_is_made_once(table: str, tmp_path: Path) -> None:
    with unanswered(is_same=True):
        ends = Counter(play(table, tmp_path, share=1.0, killed=0.0, count=120))
    assert ends["answered"] == 100
