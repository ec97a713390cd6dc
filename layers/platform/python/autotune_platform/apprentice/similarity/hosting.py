"""Embedding models that are asked one after another: those asked last are kept in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Literal, NamedTuple

from cachetools import LRUCache
from model2vec.model import StaticModel

from autotune_platform.apprentice.evaluators import cosine_similarity
from autotune_platform.apprentice.similarity.embedding import embedded, read_embeddings
from autotune_platform.apprentice.similarity.files import (
    EmbeddingFiles,
    NoEmbeddingsError,
    OtherEmbeddingsError,
)
from autotune_platform.runtime.parts import part

_KEPT_BYTES = 600_000_000
"""Of files; the function has five times as much memory."""
_DIGITS = 6
"""Of a cosine: what lies behind them differs by processor."""


@dataclass(frozen=True)
class _Kept:
    model: StaticModel
    size: int


def _kept() -> "LRUCache[str, _Kept]":
    return LRUCache(_KEPT_BYTES, getsizeof=lambda one: one.size)


class Compared(NamedTuple):
    """What came of comparing texts.

    Attributes:
        cosines: of each pair, 0 to 1; None where the second text has no token that the model knows.
        tokens: how many the model has.
        dimensions: of its embeddings.
    """

    cosines: Sequence[float | None]
    tokens: int
    dimensions: int


@part
class EmbeddingHost:
    """Compares texts; threads may share it."""

    files: EmbeddingFiles
    kept: "LRUCache[str, _Kept]" = field(default_factory=_kept)
    lock: RLock = field(default_factory=RLock)

    def compare(
        self, name: str, pairs: Sequence[tuple[str, str]]
    ) -> Compared | Literal["no_model", "another_model"]:
        """Return the cosines of pairs of texts, or why there are none.

        Args:
            name: of the model, with its digest.
            pairs: a text, and the one that it is compared with.
        """
        with self.lock:  # encoding changes the tokenizer
            try:
                model = self._model(name)
            except NoEmbeddingsError:
                return "no_model"
            except OtherEmbeddingsError:
                return "another_model"
            texts = list(dict.fromkeys(text for pair in pairs for text in pair))
            vectors = dict(zip(texts, embedded(model, texts), strict=True)) if texts else {}
        cosines = [_cosine(vectors[text], vectors[with_]) for text, with_ in pairs]
        return Compared(cosines, len(model.tokens), model.dim)

    def _model(self, name: str) -> StaticModel:
        found = self.kept.get(name)
        if found is None:
            files = self.files.get(name)
            size = sum(map(len, files.values()))
            found = self.kept[name] = _Kept(read_embeddings(files), size)
        return found.model


def _cosine(text: Sequence[float], with_: Sequence[float]) -> float | None:
    if not any(with_):
        return None
    return round(cosine_similarity(text, with_), _DIGITS)
