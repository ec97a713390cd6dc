"""Lists of batches by filter: which they show, and how much a page looks at."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.ledger import MODEL, PRICES, Ledger

LISTS = "autotune_platform.ledger.batch_lists"
OTHER = "other"


def pages(ledger: Ledger, **query: str) -> Iterator[Any]:
    """Yield pages of the list of batches."""
    while True:
        answer = ledger.platform.call("GET", "/api/v1/llm-batches", query=query)
        assert answer.status == 200, answer.text
        yield answer.json
        if (token := answer.json.get("nextToken")) is None:
            return
        query["nextToken"] = token


def listed(ledger: Ledger, **query: str) -> list[str]:
    return [one["id"] for page in pages(ledger, **query) for one in page["batches"]]


def batch_of(ledger: Ledger, connection_id: str, **fields: Any) -> str:
    """Have one request asked in a batch of its own; return the batch."""
    (row_id,) = ledger.enqueue(connection_id, "q", **fields)
    ledger.run()
    return str(ledger.read(row_id)["batchId"])


def batches_of(ledger: Ledger, connection_id: str, count: int) -> set[str]:
    """Have requests asked in batches of one each; return the batches."""
    ids = ledger.enqueue(connection_id, *map(str, range(count)))
    ledger.run()
    return {str(ledger.read(one)["batchId"]) for one in ids}


def test_batches_are_listed_by_status_connection_model_and_time(ledger: Ledger) -> None:
    ledger.fake.world.prices.add("compatible", OTHER, (0.1, 0.1, 0.4))
    prices = {**PRICES, OTHER: PRICES[MODEL]}
    one, two = ledger.connect(prices=prices), ledger.connect(prices=prices)
    first = batch_of(ledger, one)
    between = datetime.now(UTC).isoformat()
    second = batch_of(ledger, one, model=OTHER)
    third = batch_of(ledger, two)
    assert listed(ledger) == [third, second, first]
    assert listed(ledger, connectionId=one) == [second, first]
    assert listed(ledger, model=OTHER) == [second]
    assert listed(ledger, connectionId=one, model=MODEL) == [first]
    assert listed(ledger, createdAfter=between) == [third, second]
    assert listed(ledger, createdBefore=between) == [first]
    assert listed(ledger, createdAfter=between, createdBefore=between) == []
    assert listed(ledger, status="completed", connectionId=two) == [third]
    assert listed(ledger, status="queued") == []
    assert listed(ledger, connectionId="llc_none") == []


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_pages_have_each_batch_once_and_say_where_the_last_is(ledger: Ledger, size: int) -> None:
    connection = ledger.connect(maxRows=1)
    wanted = batches_of(ledger, connection, 3)
    batch_of(ledger, ledger.connect())
    found = listed(ledger, limit=str(size), connectionId=connection)
    assert (set(found), len(found)) == (wanted, 3)
    assert len(list(pages(ledger, limit=str(size)))) == -(-4 // size)


def test_a_page_looks_at_a_bounded_number_and_leads_on(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{LISTS}.MOST_LOOKED_AT", 2)
    monkeypatch.setattr(f"{LISTS}._AT_A_TIME", 2)
    wanted = batch_of(ledger, connection := ledger.connect())
    assert len(batches_of(ledger, ledger.connect(maxRows=1), 4)) == 4
    found = [
        [one["id"] for one in page["batches"]] for page in pages(ledger, connectionId=connection)
    ]
    assert found == [[], [], [wanted]]


def test_a_filter_that_is_none_is_named(ledger: Ledger) -> None:
    for query, field in (
        ({"status": "open"}, "status"),
        ({"createdAfter": "yesterday"}, "createdAfter"),
        ({"connection": "x"}, "connection"),
    ):
        answer = ledger.platform.call("GET", "/api/v1/llm-batches", query=query)
        assert (answer.status, list(answer.fields)) == (422, [field])
