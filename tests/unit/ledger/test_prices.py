"""Prices, costs and bounds: exact, never guessed, and never 0 for what is not known."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import genai_prices
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
from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.ledger import price_lists
from autotune_platform.ledger.price_lists import Rate, Tier
from autotune_platform.ledger.prices import (
    TOKENS_PER_MESSAGE,
    Prices,
    PriceSnapshot,
    bound,
    cost,
    most_input_tokens,
)

DAY = datetime(2026, 11, 23, 12, tzinfo=UTC)
THEIRS = {"openai": "openai", "anthropic": "anthropic", "gemini": "google"}


@dataclass(frozen=True)
class Sold:
    """A connection, as far as prices look at it."""

    provider: str
    prices: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Used:
    input_tokens: int
    output_tokens: int
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


def find(provider: str, model: str, **more: Any) -> PriceSnapshot | None:
    return Prices().find(Sold(provider), model, **{"at": DAY, **more})


def price(**rates: Any) -> PriceSnapshot:
    given_rates = {
        name: Rate(base=rate) if type(rate) is int else rate for name, rate in rates.items()
    }
    return PriceSnapshot.model_validate(
        {
            "source": "own",
            "version": "1",
            "listed_by": "openai",
            "model": "m",
            "processing": "standard",
            "day": DAY.date(),
            "input": Rate(base=0),
            "output": Rate(base=0),
            **given_rates,
        }
    )


def a_dollar(millionths: str) -> int:
    """Return USD for a million tokens as femto-USD a token."""
    return int(Decimal(millionths) * 10**9)


# --- what is found ----------------------------------------------------------------------------


def test_a_listed_price_as_it_is_kept() -> None:
    found = find("openai", "gpt-4o-2024-08-06", processing="batch")
    assert found is not None
    assert json.loads(found.model_dump_json(exclude_none=True)) == {
        "source": "genai-prices",
        "version": genai_prices.__version__,
        "listed_by": "openai",
        "model": "gpt-4o",
        "processing": "batch",
        "day": "2026-11-23",
        "input": {"base": a_dollar("1.25"), "tiers": []},
        "output": {"base": a_dollar("5"), "tiers": []},
        "cached_input": {"base": a_dollar("1.25"), "tiers": []},
    }
    assert PriceSnapshot.model_validate_json(found.model_dump_json()) == found


def test_a_batch_costs_less_than_single_calls_where_it_is_sold() -> None:
    for provider, model in (
        ("openai", "gpt-5"),
        ("anthropic", "claude-sonnet-4-5"),
        ("gemini", "gemini-2.5-pro"),
    ):
        batch, single = find(provider, model, processing="batch"), find(provider, model)
        assert batch is not None
        assert single is not None
        assert batch.input.base * 2 == single.input.base
        assert batch.output.base * 2 == single.output.base


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("azure", "gpt-4o"),
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("openrouter", "openai/gpt-4o"),
    ],
)
def test_no_batch_price_is_none_where_the_package_answers_with_the_standard_one(
    provider: str, model: str
) -> None:
    their = {"azure": "azure", "bedrock": "aws", "openrouter": "openrouter"}[provider]
    usage = genai_prices.Usage(input_tokens=1000, output_tokens=100)
    batch, single = (
        genai_prices.calc_price(usage, model, provider_id=their, price_context=context)
        for context in ({"processing": "batch"}, None)
    )
    assert batch.total_price == single.total_price  # the trap
    assert find(provider, model) is not None
    assert find(provider, model, processing="batch") is None


def test_there_was_no_batch_price_before_it_was_listed() -> None:
    day = datetime(2026, 10, 13, 23, tzinfo=UTC)
    assert find("openai", "gpt-4o", processing="batch", at=day) is None
    assert find("openai", "gpt-4o", processing="batch", at=day + timedelta(hours=1)) is not None
    west = timezone(timedelta(hours=-5))
    assert find("openai", "gpt-4o", processing="batch", at=day.astimezone(west)) is None


def test_a_price_is_that_of_its_day() -> None:
    before, after = datetime(2025, 6, 9, tzinfo=UTC), datetime(2025, 6, 10, tzinfo=UTC)
    found = [find("openai", "o3", at=at) for at in (before, after)]
    assert [one and one.input.base for one in found] == [a_dollar("10"), a_dollar("2")]
    assert [one and one.day for one in found] == [date(2025, 6, 9), date(2025, 6, 10)]


def test_azure_sells_what_openai_lists() -> None:
    found = find("azure", "gpt-4o")
    assert found is not None
    assert found.listed_by == "openai"
    for model in ("deepseek-chat", "claude-sonnet-4-5", "grok-4"):
        assert find("azure", model) is None
        # The package takes the makers' own prices for these.
        usage = genai_prices.Usage(input_tokens=1000, output_tokens=100)
        assert genai_prices.calc_price(usage, model, provider_id="azure").total_price > 0


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-4o-that-is-none"),
        ("openai", "ft:gpt-4o:org::x"),
        ("openai", "claude-sonnet-4-5"),
        ("openai", ""),
        ("openai", "gpt-4o" + "x" * 100_000),
        ("openai", "text-embedding-3-small"),
        ("openai", "whisper-1"),
        ("openai", "tts-1"),
        ("simulated", "gpt-4o"),
        ("litellm", "openai/gpt-4o"),
        ("nobody", "gpt-4o"),
        ("openrouter", "openrouter/auto"),
        ("openrouter", "openai/gpt-oss-20b:free"),  # the package says 0
        # These search, or make images or sound, at prices beyond those of the tokens of a text.
        ("openai", "gpt-4o-search-preview"),
        ("openai", "gpt-4o-mini-search-preview"),  # the package says that it is gpt-4o-mini
        ("openai", "gpt-5-search-api"),
        ("openai", "o3-deep-research"),
        ("openai", "gpt-audio"),
        ("gemini", "gemini-2.5-flash-image"),
        ("gemini", "gemini-nano-banana-2.1"),
        ("openrouter", "perplexity/sonar"),
        ("openrouter", "openai/GPT-4o-Search-Preview"),
        ("openrouter", "perplexity/llama-3.1-sonar-large-128k-online"),
    ],
)
def test_what_is_not_known_is_none(provider: str, model: str) -> None:
    assert find(provider, model) is None
    assert find(provider, model, processing="batch") is None


def test_own_prices_go_before_lists() -> None:
    own = {"input_usd": "0.15", "output_usd": "0.000000001", "cached_input_usd": None}
    connection = Sold("openai", {"gpt-4o": own, "mine": {**own, "cache_write_usd": "2"}})
    found = Prices().find(connection, "gpt-4o", at=DAY)
    assert found is not None
    assert found.source == "own"
    assert (found.input.base, found.output.base, found.cached_input) == (a_dollar("0.15"), 1, None)
    mine = Prices().find(connection, "mine", at=DAY)
    assert mine is not None
    assert mine.cache_write == Rate(base=a_dollar("2"))
    assert mine.version != found.version
    other = Prices().find(connection, "gpt-4o-mini", at=DAY)
    assert other is not None
    assert other.source == "genai-prices"


def test_own_prices_of_batches_are_prices_of_their_own() -> None:
    own = {"input_usd": "9", "output_usd": "9"}
    connection = Sold("azure", {"gpt-4o": own})
    assert Prices().find(connection, "gpt-4o", processing="batch", at=DAY) is None
    # OpenAI's own list has a price in batches, which says nothing of this connection's.
    listed = Sold("openai", {"gpt-4o": own})
    assert Prices().find(listed, "gpt-4o", processing="batch", at=DAY) is None
    assert Prices().find(Sold("openai", {}), "gpt-4o", processing="batch", at=DAY) is not None
    batch = {"batch_input_usd": "1", "batch_output_usd": "0"}
    found = Prices().find(
        Sold("azure", {"gpt-4o": {**own, **batch}}), "gpt-4o", processing="batch", at=DAY
    )
    assert found is not None
    assert (found.input.base, found.output.base) == (a_dollar("1"), 0)


def test_what_is_free_has_a_price() -> None:
    free = Sold("simulated", {"llama": {"input_usd": "0", "output_usd": "0"}})
    found = Prices().find(free, "llama", at=DAY)
    assert found is not None
    assert cost(Used(10, 10), found) == 0
    assert bound(10, 1, 10, found) == 0


def test_the_clock_says_what_day_it_is_where_nobody_else_does() -> None:
    found = Prices().find(Sold("openai"), "gpt-4o")
    assert found is not None
    assert abs(found.day - datetime.now(UTC).date()) <= timedelta(days=1)


# --- lists that nobody should rely on -----------------------------------------------------------


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


# --- costs and bounds -----------------------------------------------------------------------------


def test_the_cost_of_a_call_from_its_row() -> None:
    found = price(
        input=a_dollar("2"),
        output=a_dollar("8"),
        cached_input=a_dollar("0.5"),
        reasoning=a_dollar("9"),
    )
    used = Used(1000, 100, cached_input_tokens=400, reasoning_tokens=40)
    # 600 * 2 + 400 * 0.5 + 60 * 8 + 40 * 9 micro-USD
    assert cost(used, found) == 2_240_000
    assert cost(None, found) is None
    assert cost(used, None) is None


def test_a_cost_is_rounded_up_once() -> None:
    found = price(input=1, output=1)
    assert cost(Used(0, 0), found) == 0
    assert cost(Used(1, 0), found) == 1
    assert cost(Used(500_000, 500_000), found) == 1
    assert cost(Used(500_000, 500_001), found) == 2


def test_a_tier_is_of_all_tokens_of_a_call() -> None:
    tiers = (Tier(above=200, rate=a_dollar("2")), Tier(above=400, rate=a_dollar("1.5")))
    found = price(
        input=Rate(base=a_dollar("1"), tiers=tiers), output=Rate(base=a_dollar("4"), tiers=tiers)
    )
    assert cost(Used(200, 10), found) == 240_000
    assert cost(Used(201, 10), found) == 422_000
    assert cost(Used(401, 10), found) == 616_500
    # What is beyond reach is not feared, and a cheaper tier does not hide a dearer one.
    least = 200 - TOKENS_PER_MESSAGE
    assert bound(least, 1, 10, found) == 200_000 + 40_000
    assert bound(least + 1, 1, 10, found) == 402_000 + 40_000
    assert bound(least + 301, 1, 10, found) == 1_002_000 + 40_000


def test_parts_that_are_more_than_the_whole_are_charged() -> None:
    found = price(input=10**6, output=10**6, cached_input=10**6, cache_write=10**6)
    assert (
        cost(Used(1, 1, cached_input_tokens=5, cache_write_tokens=6, reasoning_tokens=7), found)
        == 18
    )


rates = st.builds(
    lambda base, tiers: Rate(
        base=base,
        tiers=tuple(Tier(above=above, rate=rate) for above, rate in sorted(tiers.items())),
    ),
    st.integers(0, 10**13),
    st.dictionaries(st.integers(0, 3000), st.integers(0, 10**13), max_size=3),
)
optional = st.none() | rates
snapshots = st.builds(
    price,
    input=rates,
    output=rates,
    cached_input=optional,
    cache_write=optional,
    long_cache_write=optional,
    reasoning=optional,
)


@st.composite
def usages(draw: st.DrawFn, most_input: int = 4000, most_output: int = 4000) -> Used:
    read, written = draw(st.integers(0, most_input)), draw(st.integers(0, most_output))
    cached = draw(st.integers(0, read))
    return Used(
        read, written, cached, draw(st.integers(0, read - cached)), draw(st.integers(0, written))
    )


@given(st.data(), snapshots, st.integers(0, 4000), st.integers(1, 5), st.integers(0, 4000))
def test_no_call_costs_more_than_its_bound(
    data: st.DataObject, found: PriceSnapshot, size: int, messages: int, most_output: int
) -> None:
    used = data.draw(usages(most_input_tokens(size, messages), most_output))
    assert cost(used, found) <= bound(size, messages, most_output, found)


@given(snapshots, usages())
def test_a_cost_is_the_exact_sum_rounded_up(found: PriceSnapshot, used: Used) -> None:
    def rate(of: Rate | None, otherwise: Rate) -> Fraction:
        chosen = of or otherwise
        femto = chosen.base
        for tier in chosen.tiers:
            femto = tier.rate if used.input_tokens > tier.above else femto
        return Fraction(femto, 10**6)

    plain = used.input_tokens - used.cached_input_tokens - used.cache_write_tokens
    exact = (
        plain * rate(found.input, found.input)
        + used.cached_input_tokens * rate(found.cached_input, found.input)
        + used.cache_write_tokens * rate(found.cache_write, found.input)
        + (used.output_tokens - used.reasoning_tokens) * rate(found.output, found.output)
        + used.reasoning_tokens * rate(found.reasoning, found.output)
    )
    assert 0 <= cost(used, found) - exact < 1
    again = PriceSnapshot.model_validate_json(found.model_dump_json())
    assert cost(used, again) == cost(used, found)


def every_model() -> list[tuple[str, str]]:
    snapshot = data_snapshot.get_snapshot()
    lists = {provider.id: provider for provider in snapshot.providers}
    return [(ours, model.id) for ours, theirs in THEIRS.items() for model in lists[theirs].models]


@given(st.data(), st.sampled_from(["standard", "batch"]), usages(500_000, 100_000))
def test_a_cost_is_what_the_package_says(data: st.DataObject, processing: Any, used: Used) -> None:
    provider, model = data.draw(st.sampled_from(every_model()))
    found = find(provider, model, processing=processing)
    if found is None:
        return
    usage = genai_prices.Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_read_tokens=used.cached_input_tokens,
        cache_write_tokens=used.cache_write_tokens,
    )
    context = {"processing": "batch"} if processing == "batch" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = genai_prices.calc_price(
            usage,
            model,
            provider_id=THEIRS[provider],
            genai_request_timestamp=DAY,
            price_context=context,
        )
    assert theirs.model.id == found.model
    assert 0 <= cost(used, found) - theirs.total_price * 10**9 < 1
    assert cost(used, found) <= bound(used.input_tokens, 1, used.output_tokens, found)


def test_most_models_of_providers_that_sell_batches_have_both_prices() -> None:
    known = {
        way: sum(find(*one, processing=way) is not None for one in every_model())
        for way in ("standard", "batch")
    }
    assert known["standard"] > 140
    assert known["batch"] > 60


def test_the_package_is_imported_when_a_price_is_looked_for() -> None:
    script = """
import sys
from datetime import datetime, UTC
from autotune_platform.ledger import prices
assert "genai_prices" not in sys.modules
class Own:
    provider = "simulated"
    prices = {"m": {"input_usd": "1", "output_usd": "2"}}
assert prices.Prices().find(Own, "m") is not None
assert prices.Prices().find(Own, "n") is None
assert "genai_prices" not in sys.modules
class Listed:
    provider = "openai"
    prices = {}
assert prices.Prices().find(Listed, "gpt-4o") is not None
assert "genai_prices" in sys.modules
"""
    path = os.pathsep.join(sys.path)
    subprocess.run(
        [sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": path}
    )


def test_names_that_nobody_lists_are_not_kept_by_the_package() -> None:
    snapshot = data_snapshot.get_snapshot()
    before = len(snapshot._provider_misses), len(snapshot._provider_cache)
    for place in range(2_000):
        find("openai", f"none-{place}")
    assert (len(snapshot._provider_misses), len(snapshot._provider_cache)) == before
    assert price_lists.listed.cache_info().currsize <= 1_024
