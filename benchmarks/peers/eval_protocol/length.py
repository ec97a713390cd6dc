"""The simplest reward that says something, for ``eval_protocol.generic_server``: how long it is."""

from typing import Any

from eval_protocol import EvaluateResult, reward_function

_FULL_LENGTH = 2_048


@reward_function
def length(messages: list[dict[str, Any]], **_: Any) -> EvaluateResult:
    """Return the length of the last message, as a share of 2 KB."""
    return EvaluateResult(score=min(1.0, len(messages[-1]["content"]) / _FULL_LENGTH))
