"""Batches that are jobs of a provider: created once, paid once, and every result comes home."""

from collections import Counter
from typing import Any

import pytest

from tests.support.ledger import Ledger

MODELS = {"openai": "gpt-5-mini", "azure": "gpt-5-mini"}
PRICES = {
    "gpt-5-mini": {
        "inputUsd": "0.25",
        "outputUsd": "2",
        "batchInputUsd": "0.125",
        "batchOutputUsd": "1",
        "batchCachedInputUsd": "0.0125",
    }
}


def connect(ledger: Ledger, provider: str, **fields: Any) -> str:
    base = {"openai": "/v1", "azure": ""}[provider]
    return ledger.connect(
        provider=provider,
        baseUrl=f"{ledger.fake.base_url}{base}",
        prices=PRICES,
        **fields,
    )


def enqueue(ledger: Ledger, provider: str, count: int = 6, **fields: Any) -> list[str]:
    connection = connect(ledger, provider, **fields)
    users = [f"question {number}" for number in range(count)]
    return ledger.enqueue(connection, *users, model=MODELS[provider])


def assert_paid_once(ledger: Ledger, ids: list[str]) -> None:
    bill = ledger.fake.world.bill()["total_nano_usd"]
    assert sum(ledger.read(one)["costNanoUsd"] or 0 for one in ids) == bill
    spent, reserved = ledger.spent_and_reserved("day")
    assert (spent, reserved) == (bill, 0)
    ran = Counter(one.custom_id for one in ledger.fake.world.executions)
    assert set(ran.values()) <= {1}
    assert ledger.fake.world.bugs == []


@pytest.mark.parametrize("provider", sorted(MODELS))
def test_rows_go_in_one_job_and_come_home(ledger: Ledger, provider: str) -> None:
    ids = enqueue(ledger, provider)
    ledger.run_jobs()
    for one in ids:
        found = ledger.read(one)
        assert found["status"] == "completed", (
            found["error"],
            ledger.batches(),
            ledger.fake.world.refusals,
        )
        assert found["rawOutput"]
    (batch,) = ledger.batches()
    assert batch["status"] == "completed"
    assert batch["counts"]["completed"] == 6
    assert_paid_once(ledger, ids)
    assert ledger.fake.world.files == {}


CALM = [
    ("create_answer_lost", {}),
    ("create_429", {}),
    ("create_500", {}),
    ("upload_429", {}),
    ("upload_500", {}),
    ("upload_answer_lost", {}),
    ("upload_not_visible", {}),
    ("get_429", {}),
    ("get_500", {}),
    ("get_404_after_create", {"looks": 3}),
    ("list_lags", {"looks": 3}),
    ("list_pages", {}),
    ("download_500", {}),
    ("download_502", {}),
    ("download_cut", {}),
    ("output_id_later", {"seconds": 900}),
    ("output_id_empty", {}),
    ("counts_zero", {}),
    ("counts_absent", {}),
    ("expires_partial", {}),
    ("expires_empty", {}),
    ("rows_shuffled", {}),
    ("rows_doubled_alike", {}),
    ("rows_doubled_conflicting", {}),
    ("rows_unknown_id", {}),
    ("rows_foreign_id", {}),
    ("jsonl_empty_lines", {}),
    ("jsonl_long_line", {"bytes": 14_000_000}),
    ("succeeds_late", {}),
    ("token_limit", {}),
    ("finish_length", {}),
    ("finish_refusal", {}),
    ("cached_tokens", {}),
    ("other_model", {}),
    ("row_error", {"status": 500}),
    ("row_error", {"status": 429}),
    ("row_error", {"status": 0}),
    ("file_500", {}),
]
"""Traps after which every row is answered, and paid exactly once, at any provider."""


@pytest.mark.parametrize("provider", sorted(MODELS))
@pytest.mark.parametrize(
    ("trap", "params"), CALM, ids=[f"{name}-{number}" for number, (name, _) in enumerate(CALM)]
)
def test_a_trap_costs_time_and_nothing_else(
    ledger: Ledger, provider: str, trap: str, params: dict[str, Any]
) -> None:
    ledger.fake.world.traps.arm(name=trap, times=1, params=params)
    if trap.startswith("list"):
        ledger.fake.world.traps.arm(name="create_answer_lost", times=1)
    ids = enqueue(ledger, provider)
    ledger.run_jobs()
    assert [ledger.read(one)["status"] for one in ids] == ["completed"] * len(ids)
    assert_paid_once(ledger, ids)
    assert [one.trap for one in ledger.fake.world.traps.firings if one.trap == trap]
