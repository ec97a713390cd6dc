"""Costs and bounds: exact, and no call costs more than its bound."""

import warnings
from fractions import Fraction
from typing import Any

import genai_prices
from genai_prices import data_snapshot
from hypothesis import given
from hypothesis import strategies as st

from autotune_platform.ledger.price_lists import Rate, Tier
from autotune_platform.ledger.prices import (
    TOKENS_PER_MESSAGE,
    PriceSnapshot,
    bound,
    cost,
    most_input_tokens,
)
from tests.unit.ledger.sold import DAY, THEIRS, Used, a_dollar, find, price


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
