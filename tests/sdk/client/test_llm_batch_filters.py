"""Batches are listed by filter."""

from datetime import UTC, datetime, timedelta

import pytest

from autotune import AutotuneClient
from autotune.client import InvalidInputError

LONG_AGO = "2026-01-01T00:00:00Z"


@pytest.fixture
def client(ledger):
    with AutotuneClient(base_url=ledger.base_url, api_key=ledger.api_key) as made:
        yield made


def ids(listing):
    return [one.id for one in listing]


def test_filters_go_along(ledger, client):
    old = ledger.new_batch(createdAt=LONG_AGO, model="old")
    done = ledger.new_batch(status="completed", connectionId="llc_1")
    assert ids(client.llm.batches.list(status="completed")) == [done]
    assert ids(client.llm.batches.list(connection_id="llc_1")) == [done]
    assert ids(client.llm.batches.list(model="old")) == [old]
    month = datetime.now(UTC) - timedelta(days=30)
    assert ids(client.llm.batches.list(created_before=month)) == [old]
    assert ids(client.llm.batches.list(created_after=month, page_size=1)) == [done]


def test_what_is_no_filter_is_not_sent(ledger, client):
    before = len(ledger.received)
    with pytest.raises(InvalidInputError, match="status"):
        list(client.llm.batches.list(status="open"))
    assert len(ledger.received) == before
