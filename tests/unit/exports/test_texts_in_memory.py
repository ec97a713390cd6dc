"""Texts of at most 300 KB each are read few at a time, and gone before the next ones are there."""

import weakref
from collections.abc import Iterable
from typing import Any

from autotune_platform.exports.pairing import Pair
from autotune_platform.exports.reading import ExportSource
from autotune_platform.exports.segments import ExportSegments


class _Texts:
    def get(self, completion_id: str) -> str:
        return completion_id


class _Source:
    """Counts the loads of texts that are alive when another one begins."""

    def __init__(self) -> None:
        self.loaded: list[weakref.ref[_Texts]] = []
        self.most_alive = 0
        self.most_ids = 0

    def texts(self, completion_ids: Iterable[str]) -> _Texts:
        self.most_alive = max(self.most_alive, sum(one() is not None for one in self.loaded))
        self.most_ids = max(self.most_ids, len(list(completion_ids)))
        texts = _Texts()
        self.loaded.append(weakref.ref(texts))
        return texts


def test_texts_of_pairs_are_gone_before_the_next_are_loaded() -> None:
    source: Any = _Source()
    nothing: Any = None
    pairs = [
        Pair("t", "g", "1", f"c{n}", f"r{n}", "m", "m", 1.0, 0.0, 1.0, 1.0) for n in range(120)
    ]
    found = list(
        ExportSegments(
            source=source, repository=nothing, files=nothing, requests=nothing, lists=nothing
        )._with_texts(pairs)
    )
    assert [(chosen, rejected) for _, chosen, rejected in found] == [
        (pair.chosen_id, pair.rejected_id) for pair in pairs
    ]
    assert (len(source.loaded), source.most_alive, source.most_ids) == (3, 0, 100)


def test_few_texts_are_read_at_a_time() -> None:
    sizes: list[int] = []

    class Completions:
        def load_packed(self, ids: Iterable[str]) -> dict[str, Any]:
            found = dict.fromkeys(ids)
            sizes.append(len(found))
            return found

    completions: Any = Completions()
    nothing: Any = None
    source = ExportSource(tasks=nothing, verdicts=nothing, completions=completions)
    assert len(source.texts(f"c{n}" for n in range(200)).packed) == 200
    assert set(sizes) == {25}
