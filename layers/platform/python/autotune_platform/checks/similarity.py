"""How alike two texts are, by the metrics of OpenAI's ``text_similarity`` grader.

- ``fuzzy_match``: RapidFuzz's ``WRatio`` after its default processing, the call that OpenAI's guide
  to graders shows.
- ``bleu``: sentence BLEU (Papineni et al. 2002) with the exponential smoothing and the effective
  order of sacreBLEU, n-grams of 1 to 4 words.
- ``gleu``: Google's sentence BLEU (Wu et al. 2016, section 4.3), n-grams of 1 to 4 words.
- ``rouge_1`` to ``rouge_5`` and ``rouge_l``: F1 of n-grams and of the longest common subsequence
  (Lin 2004), as the package rouge-score has them without a stemmer.

Words of BLEU and GLEU are runs of letters and digits, and single other characters, in their case;
those of ROUGE are runs of letters and digits in lower case, of any script. sacreBLEU, NLTK and
rouge-score would each bring 20 to 90 MB for a formula of ten lines; their values are test vectors.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

from rapidfuzz import fuzz, utils
from rapidfuzz.distance import LCSseq

from autotune.protocol.builtin import SimilarityMetric
from autotune.protocol.limits import MAX_FUZZY_COMPARISONS, MAX_SIMILARITY_CHARACTERS
from autotune_platform.checks.faults import CompletionFaultError

_LONGEST_NGRAM = 4
_WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"[^\W_]+")


def similarity(text: str, reference: str, metric: SimilarityMetric) -> float:
    """Return how like the reference a text is, from 0 to 1; 1 for the same text.

    Raises:
        CompletionFaultError: they are too long for the metric.
    """
    if max(len(text), len(reference)) > MAX_SIMILARITY_CHARACTERS:
        raise CompletionFaultError("builtin_input_too_large")
    if text == reference:
        return 1.0
    return min(1.0, max(0.0, _METRICS[metric](text, reference)))


def _fuzzy_match(text: str, reference: str) -> float:
    if len(text) * len(reference) > MAX_FUZZY_COMPARISONS:
        raise CompletionFaultError("builtin_input_too_large")
    return fuzz.WRatio(text, reference, processor=utils.default_process) / 100


def _bleu(text: str, reference: str) -> float:
    words, expected = _WORD_OR_SIGN.findall(text), _WORD_OR_SIGN.findall(reference)
    if not words or not expected:
        return 0.0
    logarithms: list[float] = []
    smoothing = 1.0
    for n in range(1, min(_LONGEST_NGRAM, len(words)) + 1):
        ngrams = _ngrams(words, n)
        matched = (ngrams & _ngrams(expected, n)).total()
        if not matched and n == 1:
            return 0.0
        if not matched:
            smoothing *= 2
        precision = (matched or 1 / smoothing) / ngrams.total()
        logarithms.append(math.log(precision))
    brevity = min(0.0, 1 - len(expected) / len(words))
    return math.exp(brevity + sum(logarithms) / len(logarithms))


def _gleu(text: str, reference: str) -> float:
    words, expected = _WORD_OR_SIGN.findall(text), _WORD_OR_SIGN.findall(reference)
    matched = total = total_expected = 0
    for n in range(1, _LONGEST_NGRAM + 1):
        ngrams, wanted = _ngrams(words, n), _ngrams(expected, n)
        matched += (ngrams & wanted).total()
        total += ngrams.total()
        total_expected += wanted.total()
    return matched / max(total, total_expected, 1)


def _rouge_n(n: int) -> Callable[[str, str], float]:
    def rouge(text: str, reference: str) -> float:
        ngrams, wanted = _ngrams(_words(text), n), _ngrams(_words(reference), n)
        return _f1((ngrams & wanted).total(), ngrams.total(), wanted.total())

    return rouge


def _rouge_l(text: str, reference: str) -> float:
    words, expected = _words(text), _words(reference)
    return _f1(LCSseq.similarity(words, expected), len(words), len(expected))


def _f1(matched: float, total: int, expected: int) -> float:
    return 2 * matched / (total + expected) if matched else 0.0


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


_METRICS: dict[SimilarityMetric, Callable[[str, str], float]] = {
    "fuzzy_match": _fuzzy_match,
    "bleu": _bleu,
    "gleu": _gleu,
    "rouge_1": _rouge_n(1),
    "rouge_2": _rouge_n(2),
    "rouge_3": _rouge_n(3),
    "rouge_4": _rouge_n(4),
    "rouge_5": _rouge_n(5),
    "rouge_l": _rouge_l,
}
