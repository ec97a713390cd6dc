"""Parameters that set how long an answer may be, or how many there are, under all of their names.

``maxTokens`` alone sets the first, and there is one answer: the bound of what a row costs follows
from both. The names are those of OpenAI, Anthropic, Gemini and the makers of Bedrock's models, of
vLLM, SGLang, TGI, TensorRT-LLM, llama.cpp and Ollama, and of Hugging Face's generate, as of
November 2026. Some read them at the top, some in a part of the request.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

LENGTHS = (
    "max_completion_tokens",
    "max_gen_len",
    "max_gen_toks",
    "max_len",
    "max_length",
    "max_new_tokens",
    "max_num_tokens",
    "max_output_tokens",
    "max_token_count",
    "max_tokens",
    "max_tokens_to_sample",
    "n_predict",
    "num_predict",
)
"""How long an answer may be."""

COUNTS = (
    "beam_width",
    "best_of",
    "candidate_count",
    "n",
    "n_cmpl",
    "num_beams",
    "num_completions",
    "num_generations",
    "num_results",
    "num_return_sequences",
    "use_beam_search",
)
"""How many answers there are, or are made to choose one from."""

PARTS = (
    "generation_config",
    "inference_config",
    "model_kwargs",
    "nvext",
    "options",
    "parameters",
    "sampling_params",
    "text_generation_config",
)
"""Parts of a request that have parameters in them. A schema is none: its names are anybody's."""


def plain(name: str) -> str:
    """Return a name as all its spellings have it: in lower case, without marks between words."""
    return name.replace("_", "").replace("-", "").lower()


@cache
def all_plain(names: tuple[str, ...] | frozenset[str]) -> frozenset[str]:
    """Return names as all their spellings have them."""
    return frozenset(map(plain, names))


_SET_APART = all_plain((*LENGTHS, *COUNTS))
_PARTS = all_plain(PARTS)


def lengthening(members: Mapping[str, Any], within: str) -> Iterator[str]:
    """Yield where a request sets length or number of answers, as ``extra.options.num_predict``.

    Args:
        within: where the members are.
    """
    for member in sorted(members):
        value = members[member]
        if plain(member) in _SET_APART:
            yield f"{within}.{member}"
        elif plain(member) in _PARTS and isinstance(value, dict):
            yield from lengthening(value, f"{within}.{member}")
