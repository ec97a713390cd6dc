"""What a language model is asked, and how it is to answer."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from autotune.protocol import limits
from autotune.protocol.types import RequestModel, Text, at_most, nests_deeper_than

_VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]

OWN_PARAMETERS = frozenset(
    {"model", "messages", "input", "system", "contents", "stream", "n", "tools", "tool_choice"}
)
"""What ``extra`` may not set: who is asked and what, and what a row's one answer cannot hold.

What would cost more than a row's bound is refused by provider, such as ``service_tier``.
"""


def _plain(name: str) -> str:
    # A server may read a name in any of its spellings.
    return name.replace("_", "").replace("-", "").lower()


_OWN_PLAIN = frozenset(map(_plain, OWN_PARAMETERS))
# Answers are stored as texts, so that what these add would be paid and lost.
_DROPPED_PLAIN = frozenset({"logprobs", "toplogprobs", "responselogprobs"})


def asks_for_logprobs(values: Mapping[str, Any]) -> str | None:
    """Return the first name that asks for probabilities of tokens; None where none does."""
    return next(
        (name for name, value in values.items() if _plain(name) in _DROPPED_PLAIN and value), None
    )


def _small(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object as it came, if it is small and UTF-8 can hold all of it, names included."""
    if nests_deeper_than(value, limits.MAX_METADATA_DEPTH):
        raise ValueError(f"expected at most {limits.MAX_METADATA_DEPTH} levels")
    try:
        size = len(json.dumps(value, separators=(",", ":"), allow_nan=False).encode())
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("expected text that UTF-8 can hold, without halves of pairs") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"expected JSON: {error}") from error
    if size > limits.MAX_LLM_EXTRA_BYTES:
        raise ValueError(f"expected at most {limits.MAX_LLM_EXTRA_BYTES} bytes of JSON")
    return value


def _foreign(value: dict[str, Any]) -> dict[str, Any]:
    own = sorted(name for name in value if _plain(name) in _OWN_PLAIN)
    if own:
        raise ValueError(f"expected parameters of the provider, without {', '.join(own)}")
    dropped = asks_for_logprobs(value)
    if dropped is not None:
        raise ValueError(
            f"expected parameters of the provider, without {dropped}: of an answer its text is "
            "stored, and no probabilities"
        )
    return _small(value)


class LlmInput(RequestModel):
    """One user message, and what stands before it.

    ``{{name}}`` in ``system`` and ``user`` is replaced from ``variables``; what was put in is never
    looked through again. So text that is not trusted belongs in variables.
    """

    system: Text | None = None
    user: Annotated[Text, Field(min_length=1)]
    variables: Annotated[dict[_VariableName, Text], at_most(limits.MAX_LLM_VARIABLES)] = {}


class LlmParams(RequestModel):
    """How a model is to answer.

    Attributes:
        max_tokens: most tokens of the answer, reasoning included; it bounds what a row can cost.
        response_format: as the provider takes it.
        extra: further parameters of the provider, sent as they are.
    """

    max_tokens: Annotated[int, Field(ge=1, le=limits.MAX_LLM_OUTPUT_TOKENS, strict=True)]
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    stop: (
        Annotated[
            list[
                Annotated[
                    Text, StringConstraints(min_length=1, max_length=limits.MAX_LLM_STOP_CHARACTERS)
                ]
            ],
            at_most(limits.MAX_LLM_STOPS),
        ]
        | None
    ) = None
    seed: Annotated[int, Field(ge=0, lt=2**53, strict=True)] | None = None
    response_format: Annotated[dict[str, Any], AfterValidator(_small)] | None = None
    extra: Annotated[dict[str, Any], AfterValidator(_foreign)] | None = None
