"""Tokens of a row are counted with the batch that they were used in, whichever is settled first."""

from datetime import UTC, datetime

import pytest

from autotune_platform.ledger.attempts import Attempt, Fault
from autotune_platform.ledger.models import Row
from autotune_platform.ledger.prices import PriceSnapshot
from autotune_platform.ledger.settling import totals_of
from autotune_platform.ledger.usage import Usage

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LOST = Attempt(
    number=1,
    batch_id="lbt_1",
    error=Fault(code="result_missing", message="no result"),
    cost_nano_usd=50,
    at=NOW,
)


def row(**fields: object) -> Row:
    return Row(
        **{  # type: ignore[arg-type]
            "id": "llm_1",
            "organization_id": "org_1",
            "connection_id": "llc_1",
            "provider": "openai",
            "model": "small",
            "purpose": "scoring",
            "input_bytes": 10,
            "messages": 1,
            "max_tokens": 20,
            "bound_nano_usd": 50,
            "price": PriceSnapshot.model_construct(),
            "trace": {"experiment_id": "e"},
            "created_at": NOW,
            "updated_at": NOW,
            **fields,
        }
    )


WAITS = row(attempt=2, attempts=[LOST])
ANSWERED = row(
    attempt=2,
    attempts=[LOST, Attempt(number=2, batch_id="lbt_2", cost_nano_usd=7, at=NOW)],
    batch_id="lbt_2",
    status="completed",
    usage=Usage(
        input_tokens=5,
        cached_input_tokens=1,
        cache_write_tokens=2,
        output_tokens=3,
        reasoning_tokens=1,
    ),
)


@pytest.mark.parametrize("then", [WAITS, ANSWERED])
def test_a_retry_that_ends_first_counts_its_tokens_once(then: Row) -> None:
    first, second = totals_of([then], "lbt_1"), totals_of([ANSWERED], "lbt_2")
    at_its_bound = {
        "input_tokens": 10 + 128,
        "cached_input_tokens": 0,
        "cache_write_tokens": 0,
        "output_tokens": 20,
        "reasoning_tokens": 0,
    }
    as_counted = {
        "input_tokens": 5,
        "cached_input_tokens": 1,
        "cache_write_tokens": 2,
        "output_tokens": 3,
        "reasoning_tokens": 1,
    }
    assert first.by_purpose["scoring"].numbers == {"rows": 1, "cost_nano_usd": 50, **at_its_bound}
    assert second.by_purpose["scoring"].numbers == {"rows": 1, "cost_nano_usd": 7, **as_counted}
    for totals in (first, second):
        traced = totals.by_trace.dearest(1)["experiment_id", "e"]
        assert traced == totals.by_purpose["scoring"]
