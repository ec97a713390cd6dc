"""What a call used, as the provider counted it."""

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
