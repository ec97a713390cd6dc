"""Prices: never guessed, and never 0 for what is not known."""

import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone

import genai_prices
import pytest
from genai_prices import data_snapshot

from autotune_platform.ledger.price_lists import Rate
from autotune_platform.ledger.prices import (
    Prices,
    PriceSnapshot,
    bound,
    cost,
)
from autotune_platform.ledger.usage import Usage
from tests.unit.ledger.sold import DAY, Sold, Used, a_dollar, find


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


def test_a_long_input_in_a_batch_costs_as_much_less_as_a_short_one() -> None:
    # The list has this tier for single calls alone.
    found = find("openai", "gpt-5.5-pro", processing="batch")
    assert found is not None
    long = {"above": 272_000, "rate": a_dollar("30")}
    assert found.input.model_dump() == {"base": a_dollar("15"), "tiers": (long,)}
    long = {"above": 272_000, "rate": a_dollar("135")}
    assert found.output.model_dump() == {"base": a_dollar("90"), "tiers": (long,)}
    usage = Usage(input_tokens=300_000, output_tokens=10)
    assert cost(usage, found) == (300_000 * 30 + 10 * 135) * 1_000


def test_wherever_tiers_of_batches_are_listed_they_are_as_much_less_as_what_is_below_them() -> None:
    compared = 0
    for name in ("openai", "anthropic", "google"):
        (seller,) = [one for one in data_snapshot.get_snapshot().providers if one.id == name]
        for model in seller.models:
            sold = {"google": "gemini"}.get(name, name)
            batch, single = find(sold, model.id, processing="batch"), find(sold, model.id)
            for part in ("input", "output"):
                one, other = getattr(batch, part, None), getattr(single, part, None)
                if one and other and other.tiers:
                    compared += 1
                    shares = [
                        (mine.above == its.above, mine.rate * other.base == its.rate * one.base)
                        for mine, its in zip(one.tiers, other.tiers, strict=True)
                    ]
                    assert set(shares) == {(True, True)}, model.id
    assert compared > 20


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


def test_a_connections_own_price_is_read_once_until_it_is_another() -> None:
    own = {"m": {"input_usd": "1", "output_usd": "2", "batch_input_usd": "0.5"}}

    def found(day: datetime = DAY, **changed: str) -> PriceSnapshot:
        sold = Sold("openai", {"m": {**own["m"], **changed}})
        price = Prices().find(sold, "m", at=day)
        assert price is not None
        return price

    assert found() is found()
    assert found(output_usd="3").output.base == a_dollar("3")
    assert found(output_usd="3").version != found().version
    assert found(DAY + timedelta(days=1)).day == found().day + timedelta(days=1)
    assert Prices().find(Sold("openai", own), "m", processing="batch", at=DAY) is None
