"""Which parameters of OpenAI's chat completions a task takes: those that change nothing.

A task says itself what its models are asked, and how. A parameter that would have it answer
otherwise, or that nobody would heed, is refused by name. Values that say what holds anyway are
taken, because many programs send them by themselves.

https://platform.openai.com/docs/api-reference/chat/create, as of August 2026.
"""

from collections.abc import Mapping
from typing import Any, Final

from autotune_platform.ledger.compatible.chat_bodies import refused

READ: Final = frozenset(
    {
        "model",
        "messages",
        "stream",
        "stream_options",
        "response_format",
        "max_completion_tokens",
        "max_tokens",
    }
)
"""Parameters that are heeded; see ``bodies``."""

_SAYS_WHO_ASKS = frozenset({"user", "safety_identifier", "prompt_cache_key"})

_SAY_NOTHING: Final[Mapping[str, tuple[Any, ...]]] = {
    "frequency_penalty": (0,),
    "function_call": ("none", "auto"),
    "functions": ([],),
    "logit_bias": ({},),
    "logprobs": (False,),
    "metadata": ({},),
    "modalities": (["text"],),
    "n": (1,),
    "parallel_tool_calls": (False, True),
    "presence_penalty": (0,),
    "service_tier": ("auto", "default"),
    "stop": ([],),
    "store": (False,),
    "temperature": (1,),
    "tool_choice": ("none", "auto"),
    "tools": ([],),
    "top_logprobs": (0,),
    "top_p": (1,),
}
"""Values that OpenAI has where a program leaves a parameter out, or that change nothing here."""

_WHY = "the task says how its models are asked"


def require_nothing_else(document: Mapping[str, Any]) -> None:
    """Require that all parameters of a chat completion can be heeded.

    Raises:
        MalformedRequestError: one cannot, and it is named.
    """
    for name, value in document.items():
        if value is None or name in READ:
            continue
        if name in _SAYS_WHO_ASKS:
            if not isinstance(value, str):
                raise refused(name, "a text")
        elif not any(_is(value, one) for one in _SAY_NOTHING.get(name, ())):
            raise refused(name[:100], _expected(name), _WHY)


def _is(value: Any, other: Any) -> bool:
    # True is no number in JSON.
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def _expected(name: str) -> str:
    (*_, least) = _SAY_NOTHING.get(name, ("",))
    shown = least if isinstance(least, int | str) and not isinstance(least, bool) else ""
    return f"{shown}, or left out" if shown != "" else "left out"
