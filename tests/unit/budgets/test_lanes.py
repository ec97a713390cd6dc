"""Rounds that hold a function for a few slots are as few as the slots allow."""

import random

import pytest

from autotune_platform.budgets.permits import CONCURRENT_CALLS
from autotune_platform.budgets.repository import BudgetRepository
from autotune_platform.budgets.slots import Slots
from tests.support.clock import StandingClock
from tests.unit.budgets.memory_table import MemoryTable


@pytest.mark.parametrize("limit", [1, 8, 10, 16, 32, 64])
@pytest.mark.parametrize("seed", range(5))
def test_no_more_rounds_hold_slots_than_take_all_of_them(limit: int, seed: int) -> None:
    random.seed(seed)
    slots = Slots(budgets=BudgetRepository(MemoryTable()), clock=StandingClock())  # type: ignore[arg-type]
    taken = [
        slots.take("llc_1", f"{number}", wanted=CONCURRENT_CALLS, limit=limit, seconds=300).slots
        for number in range(200)
    ]
    assert sum(taken) == limit
    assert sum(1 for each in taken if each) == -(-limit // CONCURRENT_CALLS)
