"""Texts are hashed some at a time: memory is bounded, and the student is the same to the bit."""

import random
import tracemalloc

import numpy as np
import pytest

from autotune_platform.apprentice.students import features, linear, vocabulary
from autotune_platform.apprentice.students.artifacts import to_bytes
from autotune_platform.apprentice.students.errors import UntrainableError
from autotune_platform.apprentice.students.features import (
    counted,
    counted_in_parts,
    packed,
    unpacked,
)
from autotune_platform.apprentice.students.linear import train
from autotune_platform.apprentice.students.vocabulary import joined, vocabulary_of, weighed
from tests.support.students import made_up

LETTERS = "abcdef   .,!\U0001f600ßﷺΐ\u0301\ud800\n漢字İ0_"


def odd_inputs(count):
    drawn = random.Random(3)
    for number in range(count):
        text = "".join(drawn.choices(LETTERS, k=drawn.randrange(80)))
        other = drawn.choice([None, 1.5, [1, {"a": "b"}], True, "", "\ud83d\ude00"])
        yield {"text": text, "other": other, f"k{number % 5}": "", "é": {"b": 1, "a": [text]}}


@pytest.mark.parametrize("at_once", [1, 700, 1_000_000])
def test_counts_of_parts_are_those_of_all(monkeypatch, at_once):
    monkeypatch.setattr(features, "_CHARACTERS_AT_ONCE", at_once)
    inputs = list(odd_inputs(100))
    whole = counted(inputs, most_characters=70)
    parts = list(counted_in_parts([packed(one) for one in inputs], most_characters=70))
    assert len(parts) == {1: 100, 700: 10, 1_000_000: 1}[at_once]
    for name in ("text", "feature", "times", "kind"):
        of_parts = np.concatenate([getattr(part, name) for part in parts])
        assert np.array_equal(of_parts, getattr(whole, name))


def test_an_input_is_the_same_when_it_was_packed():
    for one in odd_inputs(50):
        assert unpacked(packed(one)) == one


def test_a_student_of_many_parts_is_that_of_one(monkeypatch):
    rows = [(one, {"of": number % 7}) for number, one in enumerate(odd_inputs(400))]
    of_one = to_bytes(train(rows))
    monkeypatch.setattr(features, "_CHARACTERS_AT_ONCE", 20_000)
    monkeypatch.setattr(vocabulary, "_AT_ONCE", 100)
    assert to_bytes(train(rows)) == of_one


@pytest.mark.parametrize("at_most", [10, 117, 10_000])
def test_a_vocabulary_has_what_most_texts_have_and_of_equals_the_lower_hashes(monkeypatch, at_most):
    monkeypatch.setattr(vocabulary, "_AT_ONCE", 50)
    found = counted(list(odd_inputs(100)), most_characters=100)
    hashes, having = np.unique(found.feature, return_counts=True)
    by_texts = sorted(
        (-times, one) for one, times in zip(hashes.tolist(), having.tolist(), strict=True)
    )
    shared = [(one, -times) for times, one in by_texts if -times >= 2][:at_most]
    halves = np.array_split(found.feature, 2)
    known = vocabulary_of(halves, texts=100, at_most=at_most)
    assert known.hashes.tolist() == sorted(one for one, _ in shared)
    idf = [np.float32(np.log(101 / (1 + times)) + 1) for _, times in sorted(shared)]
    assert known.idf.tolist() == idf


def test_what_parts_weigh_is_joined_up_to_a_ceiling():
    inputs = [packed(one) for one in odd_inputs(60)]
    whole = next(iter(counted_in_parts(inputs, most_characters=100)))
    known = vocabulary_of([whole.feature], texts=60, at_most=1_000)
    one = weighed(whole, known, texts=60)
    count = len(one.value)
    twice = joined([one, one], texts=60, at_most=2 * count)
    assert twice is not None
    assert twice.column.tolist() == 2 * one.column.tolist()
    assert joined([one, one], texts=60, at_most=2 * count - 1) is None


def test_training_takes_few_bytes_for_each_letter(monkeypatch):
    # A share of the ceilings: 30 million letters may be looked at, hashed a million at a time.
    monkeypatch.setattr(features, "_CHARACTERS_AT_ONCE", 20_000, raising=False)
    monkeypatch.setattr(vocabulary, "_AT_ONCE", 70_000, raising=False)
    drawn, letters = random.Random(1), 600_000
    words = ["".join(drawn.choices("abcdefghij", k=drawn.randint(3, 9))) for _ in range(2_000)]

    def rows():
        for number in range(letters // 300):
            text = " ".join(drawn.choices(words, k=50))
            yield {"text": text[:300]}, {"of": number % 3}

    tracemalloc.start()
    try:
        train(rows())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 60 * letters, peak / letters


def test_properties_that_say_nothing_take_no_memory():
    inputs = [{"text": "a b", **{f"p{number}": "" for number in range(1_000)}}] * 3
    pieces, texts, seeds = features._pieces(inputs, 100)
    assert pieces == [" a b "] * 3
    assert (texts, len(seeds)) == ([0, 1, 2], 3)


def test_more_rows_times_classes_than_there_is_time_for_are_refused(monkeypatch):
    monkeypatch.setattr(linear, "MOST_MARGINS", 1_000)
    rows = [({"n": number}, {"of": number % 10}) for number in range(101)]
    train(rows[:100])
    with pytest.raises(UntrainableError, match="101 rows times 10 kinds of outputs"):
        train(rows)


def test_more_features_of_rows_times_classes_than_there_is_time_for_are_refused(monkeypatch):
    monkeypatch.setattr(linear, "MOST_PRODUCTS", 1_000)
    with pytest.raises(UntrainableError, match="features of inputs times 3 kinds of outputs"):
        train([({"text": "one two three"}, {"of": number % 3}) for number in range(100)])


def test_more_features_of_rows_than_there_is_memory_for_are_refused(monkeypatch):
    train(made_up(100))
    monkeypatch.setattr(linear, "MOST_FEATURES_OF_ROWS", 100)
    with pytest.raises(UntrainableError, match="more than 100 features"):
        train(made_up(100))
