"""What a call used, as the provider counted it, and what a job of many did."""

from autotune_platform.runtime.frozen_model import FrozenModel


class Usage(FrozenModel):
    """Tokens of one call.

    Attributes:
        input_tokens: all of the input's, cached ones and writes to the cache included.
        output_tokens: all of the output's, reasoning included.
        assumed: the provider gave none, and the most that the call could use stands here.
    """

    input_tokens: int
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int
    reasoning_tokens: int = 0
    assumed: bool = False


class JobUsage(FrozenModel):
    """Tokens of all rows of a provider's job together, as far as the provider tells."""

    input_tokens: int
    cached_input_tokens: int | None = None
    output_tokens: int


class Difference(FrozenModel):
    """What a provider reports of a job, less what its rows were charged; None where it does not.

    Attributes:
        assumed_rows: rows that were charged at their bound, because nobody said what they used.
        within_tolerance: whether these explain it, and that costs are rounded.
    """

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None
    cost_nano_usd: int | None = None
    assumed_rows: int = 0
    within_tolerance: bool
