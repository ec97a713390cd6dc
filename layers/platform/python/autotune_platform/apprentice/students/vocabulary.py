"""Which features a student knows, and how much each counts: tf-idf, one norm for each kind.

Weights are those of scikit-learn's ``TfidfVectorizer`` with ``sublinear_tf``: (1 + ln tf) times
1 + ln((1 + n) / (1 + df)). Words and runs of letters are brought to a norm of their own each.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from autotune_platform.apprentice.students.features import (
    Counted,
    Hashes,
    Numbers,
    Places,
    Values,
)

_LEAST_TEXTS = 2
_AT_ONCE = 4_000_000
"""Hashes that are counted together."""
_NORMS = np.array([1.0, 0.7])
"""Of words and pairs of words, and of runs of letters."""


@dataclass(frozen=True)
class Vocabulary:
    """Features that are known.

    Attributes:
        hashes: sorted, each once.
        idf: of each.
    """

    hashes: Hashes
    idf: Values


@dataclass(frozen=True)
class Weighed:
    """The known features of texts, ordered by text.

    Attributes:
        text: index of the text.
        column: index of the feature in the vocabulary.
        value: how much it counts in that text.
        texts: how many texts there are.
    """

    text: Places
    column: Places
    value: Values
    texts: int

    def only(self, some: Numbers) -> "Weighed":
        """Return some of the texts, numbered anew in their order."""
        place = np.full(self.texts, -1, np.int32)
        place[some] = np.arange(len(some), dtype=np.int32)
        at = place[self.text]
        is_one = at >= 0
        return Weighed(at[is_one], self.column[is_one], self.value[is_one], len(some))


def vocabulary_of(features: Iterable[Hashes], *, texts: int, at_most: int) -> Vocabulary:
    """Return the features that most texts have, two at least, in the order of their hashes.

    Args:
        features: hashes of those of some texts at a time, each once for each text that has it.
        texts: how many there are in all.
        at_most: features; of those that as many texts have, the lower hashes are taken.
    """
    found = np.concatenate([np.zeros(0, np.uint64), *features])
    found.sort()
    hashes, having = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    start = 0
    while start < len(found):
        last = found[min(start + _AT_ONCE, len(found)) - 1]
        end = int(np.searchsorted(found, last, side="right"))
        some, times = np.unique(found[start:end], return_counts=True)
        is_shared = times >= _LEAST_TEXTS
        hashes = np.concatenate([hashes, some[is_shared]])
        having = np.concatenate([having, times[is_shared]])
        if len(hashes) > at_most:
            taken = np.sort(np.argsort(-having, kind="stable")[:at_most])
            hashes, having = hashes[taken], having[taken]
        start = end
    idf = np.log((1 + texts) / (1 + having)) + 1
    return Vocabulary(hashes, idf.astype(np.float32))


def weighed(found: Counted, vocabulary: Vocabulary, *, texts: int) -> Weighed:
    """Return what known features count in texts; one that is not known counts nothing."""
    place = np.searchsorted(vocabulary.hashes, found.feature)
    is_known = place < len(vocabulary.hashes)
    is_known[is_known] = vocabulary.hashes[place[is_known]] == found.feature[is_known]
    text, column, kind = found.text[is_known], place[is_known], found.kind[is_known]
    value = (1 + np.log(found.times[is_known])) * vocabulary.idf[column]
    of_norm = text * len(_NORMS) + kind
    squares = np.bincount(of_norm, value * value, minlength=texts * len(_NORMS))
    value *= _NORMS[kind] / np.sqrt(squares[of_norm])
    return Weighed(text.astype(np.int32), column.astype(np.int32), value.astype(np.float32), texts)


def joined(parts: Iterable[Weighed], *, texts: int, at_most: int) -> Weighed | None:
    """Return parts as one, which follow each other by text; None where they are too many.

    Args:
        texts: how many there are in all.
        at_most: features of texts.
    """
    found, count = [Weighed(*(np.zeros(0, np.int32),) * 2, np.zeros(0, np.float32), texts)], 0
    for one in parts:
        count += len(one.value)
        if count > at_most:
            return None
        found.append(one)
    return Weighed(
        np.concatenate([one.text for one in found]),
        np.concatenate([one.column for one in found]),
        np.concatenate([one.value for one in found]),
        texts,
    )
