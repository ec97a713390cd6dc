"""What a call of a language model costs, and the most that it can cost.

Money is integers of nano-USD (10⁻⁹ USD). Rates are integers too, a million times as fine. A price
is kept on the row as a ``PriceSnapshot``, from which alone the cost follows, so that it can be
computed again when lists have changed.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal, Protocol, overload

from autotune_platform.ledger.price_lists import Processing, Rate, listed, rate_of
from autotune_platform.runtime.clock import SYSTEM_CLOCK, Clock
from autotune_platform.runtime.frozen_model import FrozenModel
from autotune_platform.runtime.parts import part

TOKENS_PER_MESSAGE: Final = 128
"""Tokens that a message may have beside its own bytes: its role, and what a provider's template
puts before the first one."""

UNPRICED: Final = "no job for rows, and no price"
"""What is logged of rows that wait for a price, at each look at their queue."""

_FEMTO_IN_A_NANO = 1_000_000
_VERSION_DIGITS = 12
_KNOWN_OWN_PRICES = 256


class Tokens(Protocol):
    """What a call used.

    Adapters add up what their provider reports apart, as Anthropic does: input tokens are all of
    them, from the cache and to it included; output tokens are all of them, reasoning included.
    """

    @property
    def input_tokens(self) -> int:
        """All that the model read."""

    @property
    def cached_input_tokens(self) -> int:
        """Of these, what the provider had in its cache."""

    @property
    def cache_write_tokens(self) -> int:
        """Of these, what it wrote to its cache."""

    @property
    def output_tokens(self) -> int:
        """All that the model wrote."""

    @property
    def reasoning_tokens(self) -> int:
        """Of these, what it wrote before its answer."""


class Seller(Protocol):
    """Where models are called, with prices of its own by the models' names.

    Such a price has ``input_usd`` and ``output_usd``, and may have ``cached_input_usd`` and
    ``cache_write_usd``: decimal strings, in USD for a million tokens. A price in the provider's
    batches has the same four with ``batch_`` before them.
    """

    @property
    def provider(self) -> str:
        """The provider; what we serve ourselves (``simulated``) has no prices but its own."""

    @property
    def prices(self) -> Mapping[str, Mapping[str, str | None]]:
        """Its own prices."""


class PriceSnapshot(FrozenModel):
    """The price of a call, as it was on a day.

    Attributes:
        source: whether it stands in genai-prices, or is the connection's own.
        version: genai-prices' version, or a digest of the connection's price.
        listed_by: whose list it stands in, such as ``openai`` for what Azure sells.
        model: the model's name there.
        day: the day in UTC that it is the price of.
        cached_input: where it is None, tokens from the cache cost as input does.
        cache_write: where it is None, so do tokens that are written to it.
        long_cache_write: of writes that Anthropic keeps for an hour. ``bound`` allows for them;
            ``cost`` does not, for no request of ours asks for one.
        reasoning: where it is None, reasoning costs as other output does.
    """

    source: Literal["genai-prices", "own"]
    version: str
    listed_by: str
    model: str
    processing: Processing
    day: date
    input: Rate
    output: Rate
    cached_input: Rate | None = None
    cache_write: Rate | None = None
    long_cache_write: Rate | None = None
    reasoning: Rate | None = None


@part
class Prices:
    """Finds what a call costs."""

    clock: Clock = SYSTEM_CLOCK

    def find(
        self,
        connection: Seller,
        model: str,
        *,
        processing: Processing = "standard",
        at: datetime | None = None,
    ) -> PriceSnapshot | None:
        """Return the price of a model's tokens; one that is not known is None, and never 0.

        The connection's own price of a model stands in place of any list's: without a price in
        batches it has none there, because the list's may be far below it.

        Args:
            connection: where the model is called.
            model: its name there.
            processing: ``batch`` for the provider's batch API alone; a batch that is simulated by
                single calls is ``standard``.
            at: a time with a zone, now if there is none; its day in UTC counts.
        """
        day = (at or self.clock.now()).astimezone(UTC).date()
        own = _own(connection, model, processing, day)
        if own is not None or model in connection.prices:
            return own
        found = listed(connection.provider, model, processing, day)
        if found is None:
            return None
        return PriceSnapshot(
            source="genai-prices",
            version=found.version,
            listed_by=found.listed_by,
            model=found.model,
            processing=processing,
            day=day,
            input=found.rates["input"],
            output=found.rates["output"],
            cached_input=found.rates.get("cached_input"),
            cache_write=found.rates.get("cache_write"),
            long_cache_write=found.rates.get("long_cache_write"),
            reasoning=found.rates.get("reasoning"),
        )


@overload
def cost(usage: Tokens, price: PriceSnapshot) -> int: ...
@overload
def cost(usage: Tokens | None, price: PriceSnapshot | None) -> int | None: ...
def cost(usage: Tokens | None, price: PriceSnapshot | None) -> int | None:
    """Return what a call cost in nano-USD, None if its usage or its price is not known.

    The sum over all tokens is exact, and rounded up once: by less than a nano-USD a call. Where a
    provider counts more tokens of a part than of the whole, all of the part are charged.
    """
    if usage is None or price is None:
        return None
    cache = usage.cached_input_tokens + usage.cache_write_tokens
    read = max(usage.input_tokens, cache)
    tokens = (
        (read - cache, price.input),
        (usage.cached_input_tokens, price.cached_input or price.input),
        (usage.cache_write_tokens, price.cache_write or price.input),
        (max(usage.output_tokens - usage.reasoning_tokens, 0), price.output),
        (usage.reasoning_tokens, price.reasoning or price.output),
    )
    return _rounded_up(sum(count * rate.of_call(read) for count, rate in tokens))


def most_input_tokens(input_bytes: int, messages: int) -> int:
    """Return the most tokens that an input may be: a token has a byte at least.

    Args:
        input_bytes: of all that the model reads in UTF-8: the texts as they are sent, and the
            schema of the response format.
        messages: how many there are, that of the system included.
    """
    return input_bytes + TOKENS_PER_MESSAGE * messages


def bound(input_bytes: int, messages: int, max_tokens: int, price: PriceSnapshot) -> int:
    """Return the most nano-USD that a call can cost, rounded up.

    All input is taken to be at the dearest rate that can apply to it: of any tier that so many
    tokens reach, as input, from the cache or to it. So it is at least the ``cost`` of any usage
    with at most ``most_input_tokens`` and ``max_tokens``, whose parts are no more than the whole.
    """
    most = most_input_tokens(input_bytes, messages)
    inputs = (price.input, price.cached_input, price.cache_write, price.long_cache_write)
    outputs = (price.output, price.reasoning)
    input_rate = max(rate.dearest(most) for rate in inputs if rate is not None)
    output_rate = max(rate.dearest(most) for rate in outputs if rate is not None)
    return _rounded_up(most * input_rate + max_tokens * output_rate)


def _rounded_up(femto: int) -> int:
    return -(-femto // _FEMTO_IN_A_NANO)


def _own(connection: Seller, model: str, processing: Processing, day: date) -> PriceSnapshot | None:
    own = connection.prices.get(model)
    if own is None:
        return None
    return _own_price(connection.provider, model, processing, day, tuple(own.items()))


# A connection is read for each call; its prices seldom change.
@lru_cache(_KNOWN_OWN_PRICES)
def _own_price(
    provider: str,
    model: str,
    processing: Processing,
    day: date,
    members: tuple[tuple[str, str | None], ...],
) -> PriceSnapshot | None:
    own = dict(members)
    prefix = "batch_" if processing == "batch" else ""

    def rate(name: str) -> Rate | None:
        dollars = own.get(f"{prefix}{name}_usd")
        return None if dollars is None else rate_of(Decimal(dollars))

    of_input, of_output = rate("input"), rate("output")
    if of_input is None or of_output is None:
        return None
    return PriceSnapshot(
        source="own",
        version=hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()[
            :_VERSION_DIGITS
        ],
        listed_by=provider,
        model=model,
        processing=processing,
        day=day,
        input=of_input,
        output=of_output,
        cached_input=rate("cached_input"),
        cache_write=rate("cache_write"),
    )
