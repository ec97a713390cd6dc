"""A batch that left rows in its queue is followed by the next at once, and no other is."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from autotune_platform.ledger.batch_rows import portions
from autotune_platform.ledger.choosing import Chosen
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.prices import PriceSnapshot
from tests.component.ledger.test_jobs import MODELS, connect
from tests.support.ledger import Ledger


def made_at_once(ledger: Ledger) -> list[int]:
    """Have batches made without the sweeper; return how many rows each has."""
    while new := ledger.started():
        for state in new:
            ledger.step(state)
    return sorted(batch["counts"]["rows"] for batch in ledger.batches())


def test_a_job_that_bytes_cut_is_followed_at_once(ledger: Ledger) -> None:
    connection = connect(ledger, "openai", maxBytes=100_000)
    text = "x" * 30_000
    ledger.enqueue(connection, *(f"{n} {text}" for n in range(7)), model=MODELS["openai"])
    assert made_at_once(ledger) == [1, 3, 3]


@pytest.mark.parametrize(("rows", "made"), [(6, [3, 3]), (7, [1, 3, 3])])
def test_a_job_that_rows_cut_is_followed_at_once(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, rows: int, made: list[int]
) -> None:
    connection = connect(ledger, "openai", maxRows=3)
    ledger.enqueue(connection, *(f"q{number}" for number in range(rows)), model=MODELS["openai"])
    executions = 0
    step = ledger.step

    def counted(*given: Any, **named: Any) -> Any:
        nonlocal executions
        executions += 1
        return step(*given, **named)

    monkeypatch.setattr(ledger, "step", counted)
    assert made_at_once(ledger) == made
    assert executions == len(made), "an execution found nothing"


def row(number: int, together: int | None = None, halved_of: str | None = None) -> Row:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Row(
        id=f"llm_{number}",
        organization_id="org_1",
        connection_id="llc_1",
        provider="openai",
        model="small",
        purpose="scoring",
        together=together,
        halved_of=halved_of,
        input_bytes=10,
        messages=1,
        max_tokens=10,
        bound_nano_usd=5,
        price=PRICE,
        created_at=now,
        updated_at=now,
    )


PRICE = PriceSnapshot.model_construct()


@pytest.mark.parametrize(
    ("rows", "ids", "is_cut"),
    [
        ([row(1), row(2)], 2, False),
        ([row(1, together=1), row(2)], 1, True),
        ([row(1), row(2, together=1)], 1, True),
        ([row(1), row(2), row(3), row(4)], 3, True),
        ([row(1), row(2, 3, "lbt_1"), row(3)], 2, True),
        ([row(1, 3, "lbt_1"), row(2, 3, "lbt_2"), row(3, 3, "lbt_1"), row(4)], 2, True),
    ],
)
def test_what_may_share_no_batch_is_left_over(rows: list[Row], ids: int, is_cut: bool) -> None:
    chosen = Chosen(3, bytes_left=None)
    for one in rows:
        if not chosen.add(one, None):
            break
    assert (len(chosen.ids), chosen.is_cut) == (ids, is_cut)


def test_what_has_no_money_is_not_followed_at_once() -> None:
    chosen = Chosen(3, bytes_left=None)
    assert chosen.add(row(1), 9)
    assert not chosen.add(row(2), 9)
    assert (chosen.is_cut, chosen.is_short_of_money) == (False, True)


def test_questions_are_read_as_many_at_a_time_as_there_is_memory_for() -> None:
    rows: Any = [SimpleNamespace(input_bytes=size) for size in (3, 4, 9, 20, 1, 1)]
    found = [[one.input_bytes for one in some] for some in portions(rows, most_bytes=10)]
    assert found == [[3, 4], [9], [20], [1, 1]]
    assert list(portions([], most_bytes=10)) == []
