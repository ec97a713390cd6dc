"""What a row asks and is answered: its texts, apart from the row itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from autotune_platform.ledger.parses import LaterParse
from autotune_platform.runtime.frozen_model import FrozenModel


class RowInput(FrozenModel):
    """What a row asks: never changed, and the first to be erased.

    The members are those of the wire's models, as JSON has them. A conversation has ``messages``,
    a chat completion that is passed through ``chat_request``, and all else ``input``.
    """

    input: Mapping[str, Any] = {}
    messages: Sequence[Mapping[str, Any]] | None = None
    chat_request: Mapping[str, Any] | None = None
    params: Mapping[str, Any]
    verdict: Mapping[str, Any] | None = None


class RowOutput(FrozenModel):
    """What a row was answered, and what the first parse read.

    ``model_reasoning`` came from the provider apart from the answer; ``later`` are further parses,
    the latest one last. ``chat_response`` is the provider's JSON, where it was passed through.
    """

    raw_output: str
    chat_response: Mapping[str, Any] | None = None
    model_reasoning: str | None = None
    reasoning: str | None = None
    verdict_text: str | None = None
    parsed_verdict: Any | None = None
    later: Sequence[LaterParse] = ()
