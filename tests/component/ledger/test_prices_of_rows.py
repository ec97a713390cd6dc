"""A request says how it is sent, at which price, and what an attempt costs at most."""

from datetime import UTC, datetime
from typing import Any

from autotune_platform.ledger.models import Row
from autotune_platform.ledger.prices import Prices
from autotune_platform.ledger.wire import summary_on_wire
from tests.component.ledger.test_jobs import MODELS, connect
from tests.support.exports import export
from tests.support.ledger import Ledger
from tests.unit.ledger.asking import connection as connection_of

MODEL = MODELS["openai"]
SINGLE = {
    "processing": "standard",
    "source": "own",
    "inputUsd": "0.25",
    "outputUsd": "2",
    "cachedInputUsd": None,
    "cacheWriteUsd": None,
    "reasoningUsd": None,
    "tiers": [],
}
IN_JOBS = {
    **SINGLE,
    "processing": "batch",
    "inputUsd": "0.125",
    "outputUsd": "1",
    "cachedInputUsd": "0.0125",
}


def paid(found: dict[str, Any]) -> tuple[str, Any, int]:
    return found["mode"], found["price"], found["boundNanoUsd"]


def test_a_request_says_how_it_is_sent_and_at_which_price(ledger: Ledger) -> None:
    ids = []
    # A byte, two of no format, and a message count as 131 tokens; 100 are answered at most.
    expected = [("calls", SINGLE, 131 * 250 + 100 * 2_000), ("job", IN_JOBS, 131 * 125 + 100_000)]
    for batches in ("never", "always"):
        connection = connect(ledger, "openai", batches=batches, maxWaitSeconds=0)
        ids += ledger.enqueue(connection, "a", model=MODEL)
    assert [paid(ledger.read(one)) for one in ids] == expected
    listed = ledger.platform.call("GET", "/api/v1/llm-requests").json["requests"]
    assert {one["id"]: paid(one) for one in listed} == dict(zip(ids, expected, strict=True))
    ledger.run_jobs()
    records = {one["id"]: one for one in export(ledger.platform, shape="llm_requests").records}
    for one, (mode, price, bound) in zip(ids, expected, strict=True):
        known = {name: value for name, value in price.items() if value is not None}
        assert paid(records[one]) == (mode, known, bound)
        assert records[one]["priceRef"] == ledger.read(one)["priceRef"]


def test_what_leaves_the_queue_of_jobs_says_so(ledger: Ledger) -> None:
    connection = connect(ledger, "openai", batches="always", minRows=10, maxWaitSeconds=3_600)
    (waits,) = ledger.enqueue(connection, "a", model=MODEL)
    assert ledger.read(waits)["mode"] == "job"
    ledger.platform.call(
        "PATCH", f"/api/v1/llm-connections/{connection}", {"batches": "never", "maxWaitSeconds": 0}
    )
    ledger.run_jobs(hours=2)
    assert paid(ledger.read(waits)) == ("calls", SINGLE, 131 * 250 + 100 * 2_000)


def test_a_price_by_length_has_its_tiers() -> None:
    model, now = "gemini-2.5-pro", datetime.now(UTC)
    gemini = connection_of("gemini")
    price = Prices().find(gemini, model)
    assert price is not None
    row = Row(
        id="llm_0",
        organization_id="org_0",
        connection_id=gemini.id,
        provider="gemini",
        model=model,
        purpose="scoring",
        input_bytes=1,
        messages=1,
        max_tokens=1,
        bound_nano_usd=1,
        price=price,
        created_at=now,
        updated_at=now,
    )
    shown = summary_on_wire(row).price
    assert (shown.source, shown.input_usd, shown.output_usd) == ("genai-prices", "1.25", "10")
    (tier,) = shown.tiers
    assert (tier.above_input_tokens, tier.input_usd, tier.output_usd) == (200_000, "2.5", "15")
