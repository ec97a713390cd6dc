"""Similarity has the values of the libraries that define it, and the bounds of a score."""

import json
import time
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.protocol.builtin import SimilarityMetric
from autotune.protocol.limits import MAX_FUZZY_COMPARISONS, MAX_SIMILARITY_CHARACTERS
from autotune_platform.checks.faults import CompletionFaultError
from autotune_platform.checks.similarity import similarity

# Computed with sacreBLEU 2.6.0 (sentence_score, tokenize none, over the same words), NLTK 3.10.4
# (sentence_gleu, over the same words) and rouge-score 0.1.2 (F-measure, no stemmer).
VECTORS = json.loads(Path(__file__).with_name("similarity-vectors.json").read_text())
METRICS = get_args(SimilarityMetric)

texts = st.text(st.sampled_from("ab c.,éß中 \n1")) | st.text()
metrics = st.sampled_from(METRICS)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["text"][:20])
def test_values_are_those_of_the_reference_implementations(vector) -> None:
    for metric, expected in vector["values"].items():
        value = similarity(vector["text"], vector["reference"], metric)
        assert value == pytest.approx(expected, abs=1e-8), metric


def test_a_fuzzy_match_is_that_of_the_guide() -> None:
    # OpenAI's guide to graders: WRatio with default_process, over 100.
    value = similarity("fuzzy wuzzy was a bear", "fuzzy wuzzy had no hair", "fuzzy_match")
    assert value == pytest.approx(34 / 45)
    assert similarity("john DOE!", "John Doe", "fuzzy_match") == 1.0


@given(texts, texts, metrics)
def test_every_value_is_a_score(text: str, reference: str, metric: SimilarityMetric) -> None:
    assert 0.0 <= similarity(text, reference, metric) <= 1.0


@given(texts, metrics)
def test_the_same_text_is_1(text: str, metric: SimilarityMetric) -> None:
    assert similarity(text, text, metric) == 1.0


@given(texts, st.sampled_from([name for name in METRICS if name.startswith("rouge")]))
def test_rouge_is_symmetrical(text: str, metric: SimilarityMetric) -> None:
    assert similarity(text, "a b c 1", metric) == similarity("a b c 1", text, metric)


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_too_long_is_refused_and_what_is_not_ends_soon(metric: SimilarityMetric) -> None:
    with pytest.raises(CompletionFaultError, match="builtin_input_too_large"):
        similarity("x" * (MAX_SIMILARITY_CHARACTERS + 1), "y", metric)
    started = time.process_time()
    length = int((MAX_FUZZY_COMPARISONS / 3) ** 0.5)
    similarity("ab c, d " * (length // 8), "ab d, c " * (length * 3 // 8), metric)
    assert time.process_time() - started < 10


def test_fuzzy_matching_is_bounded_by_both_lengths() -> None:
    with pytest.raises(CompletionFaultError, match="builtin_input_too_large"):
        similarity("x" * 5_000, "y" * (MAX_FUZZY_COMPARISONS // 5_000 + 1), "fuzzy_match")
    assert similarity("x" * MAX_SIMILARITY_CHARACTERS, "y", "fuzzy_match") == 0.0
