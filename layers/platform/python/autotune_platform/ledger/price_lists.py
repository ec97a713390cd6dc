"""What the tokens of a listed model cost on a day, from the package genai-prices.

It is imported when a price is first asked for: it takes an eighth of a second and 8 MB. It answers
more than it knows, and these answers are not taken:

- the standard price for a batch, where it has no batch price of the provider's own;
- the first of several prices, where none is of the day;
- 0, where a model is listed without prices, as OpenRouter's free ones are;
- another provider's price, but for Azure, which sells OpenAI's models at OpenAI's prices;
- the price of tokens alone, where a model searches by itself or answers in images or sound: what
  it takes for these is beyond the bound of a call.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from autotune_platform.runtime.frozen_model import FrozenModel

if TYPE_CHECKING:
    from genai_prices.types import (
        ConditionalPrice,
        ModelInfo,
        ModelPrice,
        StartDateConstraint,
        TieredPrices,
        TimeOfDateConstraint,
    )

    Constraint = StartDateConstraint | TimeOfDateConstraint | None

Processing = Literal["standard", "batch"]
"""Whether a call is answered at once, or in a provider's batch, which most sell for half."""

_MOST_MODEL_CHARACTERS = 200
_KEPT = 1_024
_KEPT_LISTS = 8
FEMTO_A_TOKEN = Decimal(10**9)
"""Of a US dollar for a million tokens."""


# Where a provider's models are listed; the first list is its own.
_LISTS: Mapping[str, tuple[str, ...]] = {
    "openai": ("openai",),
    "azure": ("azure", "openai"),
    "anthropic": ("anthropic",),
    "gemini": ("google",),
    "openrouter": ("openrouter",),
    "bedrock": ("aws",),
}
_RATES = {
    "input_mtok": "input",
    "output_mtok": "output",
    "cache_read_mtok": "cached_input",
    "cache_write_mtok": "cache_write",
    "cache_write_1h_mtok": "long_cache_write",
    "output_reasoning_mtok": "reasoning",
}
# What a call with texts alone has none of. A price for anything else makes the whole unknown.
_OF_OTHER_MEDIA = ("audio", "image", "video", "document", "searches")
_ANSWERS_IN_OTHER_MEDIA = re.compile(r"output_(audio|image|video)")
# Models that search, or make images or sound, without being asked to: only their names tell.
_DOES_MORE = re.compile(
    r"(?:^|[-/:.~])(?:audio|deep-research|image|online|search|sonar|tts)(?:$|[-/:.])"
)


class Tier(FrozenModel):
    """The rate of all tokens of a call with more input tokens than ``above``."""

    above: int
    rate: int


class Rate(FrozenModel):
    """What a token costs, in femto-USD (10⁻¹⁵ USD, as is a nano-USD for a million tokens).

    Tiers go by all input tokens of the call, from the least.
    """

    base: int
    tiers: tuple[Tier, ...] = ()

    def of_call(self, input_tokens: int) -> int:
        """Return the rate in a call with so many input tokens."""
        reached = (tier.rate for tier in reversed(self.tiers) if input_tokens > tier.above)
        return next(reached, self.base)

    def dearest(self, input_tokens: int) -> int:
        """Return the highest rate in a call with at most so many input tokens."""
        reached = [tier.rate for tier in self.tiers if input_tokens > tier.above]
        return max(self.base, *reached) if reached else self.base


class Listing(FrozenModel):
    """The rates of a model by what they are of, and where they were found."""

    version: str
    listed_by: str
    model: str
    rates: Mapping[str, Rate]


@lru_cache(maxsize=_KEPT)
def listed(provider: str, model: str, processing: Processing, day: date) -> Listing | None:
    """Return what is listed for a model on a day in UTC, None if nothing is that can be relied on.

    The package's own search keeps each name that it was ever asked for, found or not; this goes
    around it.
    """
    names = _LISTS.get(provider, ())
    if not names or len(model) > _MOST_MODEL_CHARACTERS or _DOES_MORE.search(model.lower()):
        return None
    import genai_prices  # noqa: PLC0415
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

    lists = {one.id: one for one in get_snapshot().providers}
    for name in names:
        found = lists[name].find_model(model) if name in lists else None
        if found is not None:
            prices = _standard(found, day)
            if processing == "batch":
                prices = _batch(found, day) if prices and name == names[0] else None
            rates = _rates(prices) if prices else None
            if rates is None:
                return None
            if processing == "batch":
                rates = _with_tiers(rates, _standard(found, day))
            return Listing(
                version=genai_prices.__version__, listed_by=name, model=found.id, rates=rates
            )
    return None


@lru_cache(maxsize=_KEPT_LISTS)
def listed_models(provider: str, day: date) -> tuple[str, ...]:
    """Return the models of a provider whose single calls have a price on a day in UTC."""
    names = _LISTS.get(provider, ())
    if not names:
        return ()
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

    models = [model for one in get_snapshot().providers if one.id in names for model in one.models]
    return tuple({model.id for model in models if listed(provider, model.id, "standard", day)})


def _with_tiers(batch: dict[str, Rate], standard: "ModelPrice | None") -> dict[str, Rate]:
    """Return rates in a batch, with the tiers of single calls where the list leaves them out.

    Each tier is taken to be as much less than that of single calls as what is below it: so it is
    wherever both are listed. Without it a long input would be charged, and bounded, as a short one.
    """
    single = _rates(standard) if standard else None
    return {
        name: _tiered(rate, single[name]) if single and name in single else rate
        for name, rate in batch.items()
    }


def _tiered(batch: Rate, single: Rate) -> Rate:
    if batch.tiers or not single.tiers or not single.base:
        return batch
    tiers = tuple(
        Tier(above=tier.above, rate=-(-tier.rate * batch.base // single.base))
        for tier in single.tiers
    )
    return batch.model_copy(update={"tiers": tiers})


def rate_of(dollars: Decimal) -> Rate:
    """Return the rate of USD a million tokens, rounded to femto-USD a token, but never to 0.

    Some prices are listed as 1.0399999999999998.
    """
    return Rate(base=_femto(dollars))


def _standard(model: "ModelInfo", day: date) -> "ModelPrice | None":
    if isinstance(model.prices, list) and not _has_one_of(model.prices, day):
        return None
    return model.get_prices(_midnight(day))


def _has_one_of(prices: "Iterable[ConditionalPrice]", day: date) -> bool:
    """Return whether there is a price of a day, whatever the hour."""
    constraints = [price.constraint for price in prices]
    return not any(_is_by_the_hour(one) for one in constraints) and any(
        one is None or one.active(_midnight(day)) for one in constraints
    )


def _batch(model: "ModelInfo", day: date) -> "ModelPrice | None":
    """Return the price in a batch, if input and output have one; the cache may cost as ever."""
    context = {"processing": "batch"}
    for variant in model.price_variants or ():
        if variant.when == context and not _is_by_the_hour(variant.constraint):
            has_begun = variant.constraint is None or variant.constraint.active(_midnight(day))
            if has_begun and {"input_mtok", "output_mtok"} <= variant.prices.__dict__.keys():
                return model.get_prices(_midnight(day), context)
    return None


def _is_by_the_hour(constraint: "Constraint") -> bool:
    from genai_prices.types import TimeOfDateConstraint  # noqa: PLC0415

    return isinstance(constraint, TimeOfDateConstraint)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _rates(prices: "ModelPrice") -> dict[str, Rate] | None:
    """Return the rates of texts, None where they are not all that such a call costs."""
    rates: dict[str, Rate] = {}
    for key, value in prices.__dict__.items():
        if value is not None and _ANSWERS_IN_OTHER_MEDIA.match(key):
            return None
        if value is None or any(medium in key for medium in _OF_OTHER_MEDIA):
            continue
        if key not in _RATES:
            return None
        rates[_RATES[key]] = _rate(value)
    return rates if {"input", "output"} <= rates.keys() else None


def _rate(price: "Decimal | TieredPrices") -> Rate:
    if isinstance(price, Decimal):
        return rate_of(price)
    tiers = tuple(Tier(above=tier.start, rate=_femto(tier.price)) for tier in price.tiers)
    return Rate(base=_femto(price.base), tiers=tiers)


def _femto(dollars: Decimal) -> int:
    return int((dollars * FEMTO_A_TOKEN).to_integral_value()) or int(dollars > 0)
