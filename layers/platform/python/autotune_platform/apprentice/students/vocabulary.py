"""Which features a student knows, and how much each counts: tf-idf, one norm for each kind.

Weights are those of scikit-learn's ``TfidfVectorizer`` with ``sublinear_tf``: (1 + ln tf) times
1 + ln((1 + n) / (1 + df)). Words and runs of letters are brought to a norm of their own each.
"""

from dataclasses import dataclass

import numpy as np

from autotune_platform.apprentice.students.features import Counted, Hashes, Numbers, Values

_LEAST_TEXTS = 2
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

    text: Numbers
    column: Numbers
    value: Values
    texts: int

    def only(self, some: Numbers) -> "Weighed":
        """Return some of the texts, numbered anew in their order."""
        place = np.full(self.texts, -1)
        place[some] = np.arange(len(some))
        at = place[self.text]
        is_one = at >= 0
        return Weighed(at[is_one], self.column[is_one], self.value[is_one], len(some))


def vocabulary_of(found: Counted, *, texts: int, at_most: int) -> Vocabulary:
    """Return the features that most texts have, two at least, in the order of their hashes.

    Args:
        at_most: features; of those that as many texts have, the lower hashes are taken.
    """
    hashes, having = np.unique(found.feature, return_counts=True)
    hashes, having = hashes[having >= _LEAST_TEXTS], having[having >= _LEAST_TEXTS]
    if len(hashes) > at_most:
        taken = np.sort(np.argsort(-having, kind="stable")[:at_most])
        hashes, having = hashes[taken], having[taken]
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
    return Weighed(text, column, value.astype(np.float32), texts)
