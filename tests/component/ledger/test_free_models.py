"""A model that costs nothing, as on one's own machine, is asked like any other."""

from tests.component.ledger.test_journeys import statuses
from tests.support.ledger import MODEL, Ledger


def test_a_free_model_is_asked_batch_after_batch_and_costs_nothing(ledger: Ledger) -> None:
    free = {MODEL: {"inputUsd": "0", "outputUsd": "0"}}
    connection = ledger.connect(prices=free, maxRows=3)
    ids = ledger.enqueue(connection, *(f"q{n}" for n in range(7)))
    ledger.run()
    assert statuses(ledger, ids) == {"completed": 7}
    assert {one["status"] for one in ledger.batches()} == {"completed"}
    verified = ledger.platform.call(
        "POST", f"/api/v1/llm-connections/{connection}/verify", {"model": MODEL}
    )
    assert (verified.status, verified.json["works"]) == (200, True)
    assert ledger.spent_and_reserved("day") == (0, 0)
