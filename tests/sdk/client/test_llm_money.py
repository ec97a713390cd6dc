"""What LLM requests cost, what they would at most, and what may be spent."""

from datetime import date
from decimal import Decimal

import pytest

from autotune import APIError, InvalidInputError
from autotune.protocol.llm_batches import EstimateLlmRequests
from tests.sdk.client.test_llm import row
from tests.support.http_faults import Fault


@pytest.fixture
def api(ledger):
    """The ledger's API in place of the platform's."""
    return ledger


@pytest.fixture
def connection_id(api):
    return api.new_connection()


def test_costs_are_read_by_group_and_day(client):
    costs = client.llm.costs(group_by="purpose", first=date(2026, 1, 2), last=date(2026, 2, 1))
    assert [(one.day, one.group) for one in costs] == [
        ("2026-01-02", "a purpose"),
        ("2026-02-01", "a purpose"),
    ]
    assert costs[0].cost_nano_usd == 1_250_000_000
    assert client.llm.costs()[0].group == "a model"
    traced = client.llm.costs(group_by="trace", trace_field="rubricId")
    assert traced[0].group == "a rubricId"


def test_the_budget_is_replaced_and_read(client):
    assert client.llm.budget().limits.day_usd is None
    set_to = client.llm.set_budget(day_usd=Decimal("1E+1"), month_usd="100.50")
    assert (set_to.limits.day_usd, set_to.limits.month_usd) == ("10", "100.50")
    assert [one.limit_nano_usd for one in client.llm.budget().periods] == [
        10_000_000_000,
        None,
        100_500_000_000,
    ]
    assert client.llm.set_budget(week_usd=5).limits.day_usd is None
    for wrong in (0.1, "1,5", -1, True):
        with pytest.raises(InvalidInputError, match=r"week_?[uU]sd"):
            client.llm.set_budget(week_usd=wrong)


def test_an_estimate_is_of_any_number_of_requests(api, client, connection_id, monkeypatch):
    rows = [row(connection_id, "abc") for _ in range(3)]
    one = client.llm.estimate(rows)
    assert (one.rows, one.input_bytes, one.bound_nano_usd, one.fits) == (3, 9, 201, True)
    monkeypatch.setattr("autotune.client.llm_packing.limits.MAX_LLM_ROWS", 1)
    assert client.llm.estimate(rows) == one
    # Each of the three fits, and all of them together do not.
    client.llm.set_budget(day_usd="0.0000002")
    assert client.llm.estimate(rows[:1]).fits
    assert not client.llm.estimate(rows).fits
    client.llm.set_budget(day_usd="0.000000201")
    assert client.llm.estimate(rows).fits
    assert api.rows == {}
    assert EstimateLlmRequests.model_validate({"requests": rows[:1]})


def test_a_budget_that_is_used_up_is_an_error_with_its_code(api, client, connection_id):
    api.misbehave(Fault(where="verify", status=402, code="budget_exhausted"))
    with pytest.raises(APIError) as caught:
        client.llm.connections.verify(connection_id, model="gpt-5")
    assert (caught.value.status, caught.value.code) == (402, "budget_exhausted")
