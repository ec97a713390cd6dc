"""Listed prices that nobody should rely on are none."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from genai_prices import data_snapshot
from genai_prices.types import (
    ClauseEquals,
    ConditionalPrice,
    ModelInfo,
    ModelPrice,
    PriceVariant,
    Provider,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)
from genai_prices.types import Tier as ListedTier

from autotune_platform.ledger import price_lists
from autotune_platform.ledger.price_lists import Rate, Tier
from tests.unit.ledger.sold import DAY, a_dollar, find


def listed(monkeypatch: pytest.MonkeyPatch, **fields: Any) -> Any:
    """Return the price of the one model of a list, in both ways of processing."""
    model = ModelInfo(id="m", match=ClauseEquals(equals="m"), **fields)
    provider = Provider(id="openai", name="OpenAI", api_pattern="", models=[model])
    lists = data_snapshot.DataSnapshot(providers=[provider], from_auto_update=False)
    monkeypatch.setattr(data_snapshot, "_custom_snapshot", lists)
    price_lists.listed.cache_clear()
    try:
        return [price_lists.listed("openai", "m", way, DAY.date()) for way in ("standard", "batch")]
    finally:
        price_lists.listed.cache_clear()


DOLLAR = Decimal(1)
BOTH = ModelPrice(input_mtok=DOLLAR, output_mtok=DOLLAR)
BATCH = {"processing": "batch"}


def test_a_price_that_has_not_begun_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    later = StartDateConstraint(start_date=date(2026, 11, 24))
    now = StartDateConstraint(start_date=date(2026, 11, 23))
    for constraint, is_known in ((later, False), (now, True), (None, True)):
        prices = [ConditionalPrice(prices=BOTH, constraint=constraint)]
        variants = [PriceVariant(when=BATCH, prices=BOTH)]
        found = listed(monkeypatch, prices=prices, price_variants=variants)
        assert [one is not None for one in found] == [is_known, is_known]


def test_a_price_by_the_hour_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    night = TimeOfDateConstraint(start_time=DAY.time(), end_time=DAY.time())
    prices = [ConditionalPrice(prices=BOTH), ConditionalPrice(prices=BOTH, constraint=night)]
    assert listed(monkeypatch, prices=prices) == [None, None]
    variants = [PriceVariant(when=BATCH, prices=BOTH, constraint=night)]
    standard, batch = listed(monkeypatch, prices=BOTH, price_variants=variants)
    assert standard is not None
    assert batch is None


@pytest.mark.parametrize(
    "variant",
    [
        PriceVariant(when=BATCH, prices=ModelPrice()),
        PriceVariant(when=BATCH, prices=ModelPrice(input_mtok=DOLLAR)),
        PriceVariant(when=BATCH, prices=ModelPrice(output_mtok=DOLLAR)),
        PriceVariant(when={**BATCH, "region": "eu"}, prices=BOTH),
        PriceVariant(when={"service_tier": "flex"}, prices=BOTH),
    ],
)
def test_half_a_batch_price_is_none(variant: PriceVariant, monkeypatch: pytest.MonkeyPatch) -> None:
    standard, batch = listed(monkeypatch, prices=BOTH, price_variants=[variant])
    assert standard is not None
    assert batch is None


@pytest.mark.parametrize(
    ("more", "is_known"),
    [
        ({}, True),
        ({"web_searches_kcount": DOLLAR}, True),
        ({"input_audio_mtok": DOLLAR}, True),
        ({"output_audio_mtok": DOLLAR}, False),
        ({"output_image_mtok": DOLLAR}, False),
        ({"output_image_mtok": None}, True),
        ({"requests_kcount": DOLLAR}, False),
        ({"input_text_mtok": DOLLAR}, False),
        ({"input_mchars": DOLLAR}, False),
        ({"requests_kcount": None}, True),
        ({"input_mtok": None}, False),
        ({"output_mtok": None}, False),
    ],
)
def test_a_price_is_known_where_all_that_a_call_costs_is(
    more: dict[str, Any], *, is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = ModelPrice(**{"input_mtok": DOLLAR, "output_mtok": DOLLAR, **more})
    assert (listed(monkeypatch, prices=prices)[0] is not None) == is_known


def test_rates_are_rounded_but_never_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tiers = TieredPrices(base=Decimal("1.0399999999999998"), tiers=[])
    tiers.tiers = [ListedTier(start=5, price=Decimal("1E-18"))]
    found, _ = listed(monkeypatch, prices=ModelPrice(input_mtok=tiers, output_mtok=Decimal(0)))
    assert found.rates["input"] == Rate(base=a_dollar("1.04"), tiers=(Tier(above=5, rate=1),))
    assert found.rates["output"] == Rate(base=0)


def test_names_that_nobody_lists_are_not_kept_by_the_package() -> None:
    snapshot = data_snapshot.get_snapshot()
    before = len(snapshot._provider_misses), len(snapshot._provider_cache)
    for place in range(2_000):
        find("openai", f"none-{place}")
    assert (len(snapshot._provider_misses), len(snapshot._provider_cache)) == before
    assert price_lists.listed.cache_info().currsize <= 1_024
