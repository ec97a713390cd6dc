"""Completions of a given size whose text compresses about as real text does."""

import random
from collections.abc import Iterator
from typing import Any

_VOCABULARY = 4_000
_LETTERS = "etaoinshrdlucmfwypvbgk"
_SEED = 20_261_121


def completions(task_id: str, count: int, *, text_bytes: int) -> Iterator[dict[str, Any]]:
    """Yield completions for ``client.completions.submit_many``.

    Prompt and response have ``text_bytes`` ASCII characters together, a quarter of them in the
    prompt. Words are drawn by Zipf's law from a made-up vocabulary; the same arguments always give
    the same texts.
    """
    text = _Words()
    for index in range(count):
        prompt = text.of(text_bytes // 4)
        yield {
            "taskId": task_id,
            "modelId": "policy-step-1200",
            "prompt": prompt,
            "response": text.of(text_bytes - len(prompt)),
            "metadata": {"index": index},
        }


def prompts(count: int, *, text_bytes: int) -> Iterator[str]:
    """Yield prompts of so many ASCII characters, of the same words."""
    text = _Words()
    return (text.of(text_bytes) for _ in range(count))


def answer(text_bytes: int) -> str:
    """Return an answer of so many ASCII characters that ends with a verdict."""
    verdict = "\nVERDICT: good"
    return _Words().of(text_bytes - len(verdict)) + verdict


class _Words:
    """Texts of words that are drawn by Zipf's law: the same ones each time."""

    def __init__(self) -> None:
        self._draw = random.Random(_SEED)  # noqa: S311 - reproducible, not secret
        letters = self._draw.choices
        self._words = [
            "".join(letters(_LETTERS, k=self._draw.randint(1, 11))) for _ in range(_VOCABULARY)
        ]
        self._weights = [1 / rank for rank in range(1, _VOCABULARY + 1)]

    def of(self, size: int) -> str:
        drawn = " ".join(self._draw.choices(self._words, self._weights, k=size // 4 + 1))
        return drawn[:size].ljust(size, ".")
