"""Prices as tests of them look for them, and usage that costs something."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from autotune_platform.ledger.price_lists import Rate
from autotune_platform.ledger.prices import (
    Prices,
    PriceSnapshot,
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
