"""Money is reserved before it is spent: together never more than the limit, at any concurrency."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from autotune_platform.budgets.money import MoneyBudgets, NoRoom, Reserved
from autotune_platform.budgets.scopes import MoneyLimits
from autotune_platform.budgets.uses import ITEM, partition, task_scope
from autotune_platform.runtime import clients
from autotune_platform.runtime.clock import Clock
from autotune_platform.runtime.errors import UnavailableError
from autotune_platform.storage.counting import Addition
from autotune_platform.storage.table import Table
from benchmarks.boundary import item_bytes
from tests.support.platform import Platform
from tests.support.tables import items_of_tables

ORGANIZATION = "org_00000000000000000000000000"
TASK = task_scope(ORGANIZATION, "triage")
BOUND = 1_000
OVER = datetime(2027, 1, 1, tzinfo=UTC)


class SetClock(Clock):
    """A clock that stands where it is set; sleeping moves it, and takes no time."""

    def __init__(self, at: datetime) -> None:
        self.at = at
        self.slept = 0.0

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.slept

    def sleep(self, seconds: float) -> None:
        self.slept += seconds


@pytest.fixture
def clock() -> SetClock:
    return SetClock(datetime(2026, 12, 31, 23, 59, tzinfo=UTC))


@pytest.fixture
def money(platform: Platform, clock: SetClock) -> MoneyBudgets:
    assert platform
    return another(clock)


def another(clock: Clock) -> MoneyBudgets:
    """Return what another process has of the same budgets."""
    return MoneyBudgets(
        table=Table("budgets", clients.dynamodb()),
        outbox=Table("ledger", clients.dynamodb()),
        clock=clock,
    )


def attempt(name: str) -> Callable[[list[str]], list[Addition]]:
    def what_for(periods: list[str]) -> list[Addition]:
        new = {"changes": {"periods": periods}, "only_if": {"periods": None}}
        return [Addition(table="ledger", pk=f"llm_{name}", sk="state", **new)]

    return what_for


def reserve(money: MoneyBudgets, amount: int = BOUND, *scopes: str) -> list[str] | None:
    name = uuid4().hex
    found = money.reserve(scopes or [ORGANIZATION], amount, attempt(name))
    return found.periods if isinstance(found, Reserved) else None


def short(found: Any) -> tuple[str, str, datetime]:
    assert isinstance(found, NoRoom)
    return found.scope, found.use.period, found.resets_at


def give_back(
    money: MoneyBudgets, periods: list[str], *scopes: str, reserved: int, spent: int
) -> None:
    settlement = money.settlement(scopes or [ORGANIZATION], periods, reserved=reserved, spent=spent)
    while not money.table.add_together(settlement):
        pass


def used(money: MoneyBudgets, scope: str = ORGANIZATION) -> dict[str, tuple[int, int]]:
    return {use.period: (use.spent, use.reserved) for use in money.uses(scope)}


def item_of(scope: str) -> dict[str, Any]:
    items = items_of_tables()["budgets"]
    (found,) = [one for one in items if one["pk"]["S"] == partition(scope)]
    return found


class Calls:
    """Counts calls of tables, and lets one of them fail."""

    def __init__(self) -> None:
        self.operations: list[str] = []
        self.fail: Callable[[str], None] = lambda _: None

    @contextmanager
    def counted(self) -> Iterator["Calls"]:
        client = clients.dynamodb()
        made = type(client)._make_api_call

        def call(of: Any, operation: str, params: Any) -> Any:
            self.operations.append(operation)
            self.fail(f"before {operation}")
            answer = made(of, operation, params)
            self.fail(f"after {operation}")
            return answer

        with patch.object(type(client), "_make_api_call", call):
            yield self


@pytest.mark.parametrize("period", ["day", "week", "month"])
def test_as_many_are_admitted_as_fit_and_no_more(money: MoneyBudgets, period: str) -> None:
    money.set_limits(ORGANIZATION, MoneyLimits(**{period: BOUND * 100 + BOUND // 2}))
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(lambda _: reserve(money), range(160))
        admitted = [one for one in found if one is not None]
    assert len(admitted) == 100
    assert used(money)[period] == (0, BOUND * 100)
    for periods in admitted:
        give_back(money, periods, reserved=BOUND, spent=BOUND)
    assert used(money)[period] == (BOUND * 100, 0)
    assert reserve(money) is None
    assert reserve(money, BOUND // 2) is not None


def test_what_is_not_spent_can_be_reserved_again(money: MoneyBudgets) -> None:
    limit = BOUND * 100 + BOUND // 2
    money.set_limits(ORGANIZATION, MoneyLimits(day=limit))
    actual = BOUND * 4 // 10
    count = 0
    while (periods := reserve(money)) is not None:
        give_back(money, periods, reserved=BOUND, spent=actual)
        count += 1
    spent, reserved = used(money)["day"]
    assert (spent, reserved) == (count * actual, 0)
    assert 0.95 * limit <= spent <= limit


def test_a_bound_above_the_limit_is_refused_although_nothing_was_spent(money: MoneyBudgets) -> None:
    money.set_limits(ORGANIZATION, MoneyLimits(month=BOUND - 1))
    refused = money.reserve([ORGANIZATION], BOUND, attempt("a"))
    assert short(refused) == (ORGANIZATION, "month", OVER)
    assert used(money)["month"] == (0, 0)


def test_money_goes_back_to_the_periods_that_it_was_taken_from(
    money: MoneyBudgets, clock: SetClock
) -> None:
    money.set_limits(ORGANIZATION, MoneyLimits(day=BOUND, month=BOUND))
    before = reserve(money)
    assert before == ["2026-12-31", "2026-W53", "2026-12"]
    clock.at += timedelta(minutes=2)  # a new day, month and year, in the same week
    after = reserve(money)
    assert after == ["2027-01-01", "2026-W53", "2027-01"]
    give_back(money, before, reserved=BOUND, spent=BOUND // 2)
    assert used(money) == {"day": (0, BOUND), "week": (BOUND // 2, BOUND), "month": (0, BOUND)}
    item = item_of(ORGANIZATION)
    over = {name: int(item[name]["N"]) for name in ("spent#2026-12-31", "committed#2026-12-31")}
    assert set(over.values()) == {BOUND // 2}


def test_a_day_that_is_over_is_reserved_in_by_nobody(money: MoneyBudgets, clock: SetClock) -> None:
    """A clock that is behind reserves in the day that the item is in."""
    money.set_limits(ORGANIZATION, MoneyLimits(day=BOUND))
    behind = another(SetClock(clock.at))
    assert reserve(behind) == ["2026-12-31", "2026-W53", "2026-12"]
    clock.at += timedelta(minutes=2)
    assert reserve(money) == ["2027-01-01", "2026-W53", "2027-01"]
    assert reserve(behind) is None
    give_back(money, ["2027-01-01", "2026-W53", "2027-01"], reserved=BOUND, spent=0)
    assert reserve(behind) == ["2027-01-01", "2026-W53", "2027-01"]


def test_old_periods_go_and_do_not_come_back(money: MoneyBudgets, clock: SetClock) -> None:
    late = reserve(money)
    assert late is not None
    sizes = []
    for _ in range(100):
        clock.at += timedelta(days=1)
        money.set_limits(ORGANIZATION, MoneyLimits(day=10**15, week=10**15, month=10**15))
        assert reserve(money, 10**12) is not None
        money.refused(ORGANIZATION)
        give_back(money, ["2026-01-01"], reserved=1, spent=1)
        sizes.append(item_bytes(item_of(ORGANIZATION)))
    assert max(sizes) < 1_024  # a write unit
    before = item_of(ORGANIZATION)
    # What is settled in periods that are long over, or were reserved before names were these.
    give_back(money, late, reserved=BOUND, spent=BOUND)
    give_back(money, ["day#2027-04-10", "month#2027-04"], reserved=BOUND, spent=BOUND)
    assert item_of(ORGANIZATION) == before


def test_a_lowered_limit_holds_at_once_also_where_another_was_seen(
    money: MoneyBudgets, clock: SetClock
) -> None:
    owner = another(clock)
    owner.set_limits(ORGANIZATION, MoneyLimits(day=10 * BOUND))
    assert reserve(money) is not None
    owner.set_limits(ORGANIZATION, MoneyLimits(day=BOUND))
    assert reserve(money) is None
    owner.set_limits(ORGANIZATION, MoneyLimits(week=3 * BOUND))
    assert [reserve(money) is None for _ in range(3)] == [False, False, True]
    owner.set_limits(ORGANIZATION, MoneyLimits())
    assert reserve(money, 1_000 * BOUND) is not None


def test_a_task_and_its_organisation_both_have_room_or_nothing_is_reserved(
    money: MoneyBudgets,
) -> None:
    money.set_limits(TASK, MoneyLimits(day=2 * BOUND))
    money.set_limits(ORGANIZATION, MoneyLimits(month=3 * BOUND))
    both = [TASK, ORGANIZATION]
    first = reserve(money, BOUND, *both)
    assert first is not None
    assert reserve(money, BOUND, *both) is not None
    assert short(money.reserve(both, BOUND, attempt("no room in the task"))) == (TASK, "day", OVER)
    assert used(money)["month"] == (0, 2 * BOUND)
    assert reserve(money) is not None
    give_back(money, first, *both, reserved=BOUND, spent=0)
    assert reserve(money) is not None
    refused = money.reserve(both, BOUND, attempt("no room beside it"))
    assert short(refused) == (ORGANIZATION, "month", OVER)
    assert used(money, TASK)["day"] == (0, BOUND)
    # The narrowest is named where neither has room.
    assert short(money.reserve(both, 9 * BOUND, attempt("neither"))) == (TASK, "day", OVER)


def test_a_reservation_is_one_call_and_a_day_that_begins_one_read_more(
    money: MoneyBudgets, clock: SetClock
) -> None:
    money.set_limits(TASK, MoneyLimits(day=9 * BOUND))
    with Calls().counted() as calls:
        reserve(money, BOUND, TASK, ORGANIZATION)
        assert calls.operations == ["GetItem", "GetItem", "TransactWriteItems"]
        calls.operations.clear()
        reserve(money, BOUND, TASK, ORGANIZATION)
        assert calls.operations == ["TransactWriteItems"]
        calls.operations.clear()
        # A refusal says where the scope stands.
        assert reserve(money, 10 * BOUND, TASK, ORGANIZATION) is None
        assert calls.operations == ["TransactWriteItems"]
        calls.operations.clear()
        clock.at += timedelta(days=1)
        reserve(money, BOUND, TASK, ORGANIZATION)
        assert calls.operations == ["GetItem", "GetItem", "TransactWriteItems"]


def timed_out() -> Exception:
    return ReadTimeoutError(endpoint_url="https://dynamodb")


def in_progress() -> Exception:
    return refusal("TransactionInProgressException", status=400)


def broken() -> Exception:
    return refusal("InternalServerError", status=500)


def refusal(code: str, *, status: int) -> Exception:
    error: Any = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(error, "TransactWriteItems")


@pytest.mark.parametrize("error", [timed_out, in_progress, broken])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_an_unclear_answer_is_asked_for_again_and_reserves_once(
    money: MoneyBudgets, clock: SetClock, error: Callable[[], Exception], moment: str
) -> None:
    money.set_limits(ORGANIZATION, MoneyLimits(day=BOUND))
    calls = Calls()

    def once(at: str) -> None:
        if at == f"{moment} TransactWriteItems":
            calls.fail = lambda _: None
            clock.at += timedelta(minutes=2)  # the same transaction, although its day is over
            raise error()

    with calls.counted():
        calls.fail = once
        assert reserve(money) == ["2026-12-31", "2026-W53", "2026-12"]
    assert calls.operations.count("TransactWriteItems") == 2
    assert int(item_of(ORGANIZATION)["committed#2026-12-31"]["N"]) == BOUND


def test_the_same_transaction_has_the_same_token_and_another_has_another(
    money: MoneyBudgets,
) -> None:
    tokens: list[str] = []
    write = Table.write_together
    fail = iter([timed_out(), timed_out()])

    def seen(self: Table, additions: Any, *, token: str) -> Any:
        tokens.append(token)
        for error in fail:
            raise error
        return write(self, additions, token=token)

    with patch.object(Table, "write_together", seen):
        assert reserve(money) is not None
        assert reserve(money) is not None
    assert len(tokens) == 4
    assert len(set(tokens)) == 2
    assert tokens[:3] == [tokens[0]] * 3


def test_others_at_the_item_are_no_refusal_until_the_time_is_up(
    money: MoneyBudgets, clock: SetClock
) -> None:
    conflict: Any = {
        "Error": {"Code": "TransactionCanceledException"},
        "CancellationReasons": [{"Code": "None"}, {"Code": "TransactionConflict"}],
    }
    clients_error = clients.dynamodb().exceptions.TransactionCanceledException
    busy = [30]

    def conflicting(at: str) -> None:
        if at == "before TransactWriteItems" and busy[0]:
            busy[0] -= 1
            raise clients_error(conflict, "TransactWriteItems")

    calls = Calls()
    with calls.counted():
        calls.fail = conflicting
        busy[0] = 8
        assert reserve(money) is not None
        busy[0] = 10_000
        with pytest.raises(UnavailableError):
            reserve(money)
    assert 9 <= clock.slept < 20
    assert used(money)["day"] == (0, BOUND)


def test_what_trying_again_cannot_mend_is_raised_at_once(
    money: MoneyBudgets, clock: SetClock
) -> None:
    def refuse(at: str) -> None:
        if at == "before TransactWriteItems":
            raise refusal("AccessDeniedException", status=400)

    calls = Calls()
    with calls.counted():
        calls.fail = refuse
        with pytest.raises(ClientError):
            reserve(money)
    assert clock.slept == 0


def test_what_another_wrote_under_the_same_id_reserves_nothing(money: MoneyBudgets) -> None:
    other = {"pk": "llm_mine", "sk": "state", "periods": ["2025-12-31", "2026-W01", "2025-12"]}
    Table("ledger", clients.dynamodb()).put(other)
    assert money.reserve([ORGANIZATION], BOUND, attempt("mine")) is None
    assert used(money)["day"] == (0, 0)


def test_limits_from_before_are_kept(money: MoneyBudgets) -> None:
    """The item had the limits alone, and periods were items of their own."""
    pk = partition(ORGANIZATION)
    money.table.put({"pk": pk, "sk": ITEM, "day": BOUND})
    money.table.put({"pk": pk, "sk": "day#2026-12-31", "committed": BOUND, "reserved": BOUND})
    assert used(money)["day"] == (0, 0)
    assert [reserve(money) is None for _ in range(2)] == [False, True]
    money.table.delete(pk, "day#2026-12-31")
