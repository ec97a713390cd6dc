"""The linear student: what it learns, how sure it is, and that the same rows give the same one."""

import json
import statistics

import numpy as np
import pytest

from autotune_platform.apprentice.students import linear
from autotune_platform.apprentice.students.artifacts import from_bytes, to_bytes
from autotune_platform.apprentice.students.calibrating import calibrated
from autotune_platform.apprentice.students.errors import UntrainableError
from autotune_platform.apprentice.students.features import counted
from autotune_platform.apprentice.students.linear import canonical, train
from tests.support.students import made_up


def agreement(model, rows):
    return statistics.fmean(model.answer(asked)[0] == canonical(right) for asked, right in rows)


@pytest.fixture(scope="module")
def model():
    return train(made_up(600))


def test_it_learns_what_can_be_learned(model):
    assert agreement(model, made_up(300, seed=2)) > 0.97


def test_what_it_learns_comes_from_the_outputs():
    rows = made_up(600)
    others = [right for _, right in made_up(600, seed=3)]
    shuffled = [(asked, other) for (asked, _), other in zip(rows, others, strict=True)]
    assert agreement(train(shuffled), made_up(300, seed=2)) < 0.3


def test_the_same_rows_are_the_same_bytes():
    assert to_bytes(train(made_up(400))) == to_bytes(train(made_up(400)))


def test_other_rows_are_other_bytes():
    assert to_bytes(train(made_up(400))) != to_bytes(train(made_up(400, seed=2)))


def test_an_artifact_answers_as_the_model_that_was_trained(model):
    again = from_bytes(to_bytes(model))
    for asked, _ in made_up(50, seed=2):
        assert again.answer(asked) == model.answer(asked)
    assert again.candidates == model.candidates


def test_its_confidence_says_how_often_it_agrees():
    model = train(made_up(2_000, errors=0.15))
    rows = made_up(1_000, seed=2, errors=0.15)
    sure = statistics.fmean(model.answer(asked)[1] for asked, _ in rows)
    assert sure == pytest.approx(agreement(model, rows), abs=0.04)
    assert sure < 0.9


def test_errors_that_nobody_could_foresee_are_doubt():
    classes = np.arange(2_000) % 10
    margins = np.where(np.arange(10) == classes[:, None], 1, -1).astype(np.float32)
    margins += np.random.default_rng(1).normal(0, 0.1, margins.shape).astype(np.float32)
    wrong = (classes + 1 + np.arange(2_000) // 10 % 9) % 10
    taught = np.where(np.arange(2_000) // 10 % 10 == 0, wrong, classes)
    found = calibrated(margins, taught)
    assert found.doubt == pytest.approx(0.11, abs=0.02)
    assert found.of_rows(margins).mean() == pytest.approx(0.9, abs=0.01)


def test_it_is_less_sure_of_what_it_does_not_know(model):
    sure = model.answer({"text": "show my balance please"})[1]
    unsure = model.answer({"text": "zyx wvu"})[1]
    assert 0 < unsure < sure <= 1


def test_candidates_share_answers_evenly(model):
    confidences = [model.answer(asked)[1] for asked, _ in made_up(1_000, seed=2)]
    assert list(model.candidates) == sorted(set(model.candidates), reverse=True)
    assert model.candidates[-1] == 0
    middle = model.candidates[len(model.candidates) // 2]
    share = statistics.fmean(confidence >= middle for confidence in confidences)
    assert 0.3 < share < 0.7


def test_an_answer_is_the_output_as_json(model):
    text, _ = model.answer({"text": "cancel the flight"})
    assert json.loads(text) == {"intent": "cancel_flight"}


def test_the_same_word_in_another_field_is_another_feature():
    rows = [({"said": one, "by": two}, {"about": one}) for one in "abcd" for two in "abcd"] * 20
    model = train(rows)
    assert json.loads(model.answer({"said": "a", "by": "c"})[0]) == {"about": "a"}
    assert json.loads(model.answer({"said": "c", "by": "a"})[0]) == {"about": "c"}


def test_values_that_are_no_texts_count_too():
    rows = [({"n": number, "deep": [{"x": None}]}, {"is": number > 4}) for number in range(10)] * 20
    model = train(rows)
    assert json.loads(model.answer({"n": 7, "deep": [{"x": None}]})[0]) == {"is": True}


def test_features_are_the_same_wherever_a_text_stands():
    alone = counted([{"text": "show balance"}], most_characters=100)
    among = counted([{"text": "some others"}, {"text": "show balance"}], most_characters=100)
    of_second = among.text == 1
    assert list(among.feature[of_second]) == list(alone.feature)
    assert list(among.times[of_second]) == list(alone.times)


@pytest.mark.parametrize(
    "asked",
    [{}, {"text": ""}, {"text": "\ud800"}, {"text": "\x00\n"}, {"": "ﷺ" * 50}, {"other": None}],
)
def test_any_input_has_an_answer(model, asked):
    text, confidence = model.answer(asked)
    assert text in model.classes
    assert 0 < confidence <= 1


def test_rows_without_any_word_make_a_student_of_the_usual_answer():
    rows = [({"text": ""}, {"n": 0})] * 30 + [({"text": ""}, {"n": 1})] * 10
    text, confidence = from_bytes(to_bytes(train(rows))).answer({"text": "what"})
    assert text == '{"n":0}'
    assert 0.5 <= confidence <= 1


def test_outputs_of_too_many_kinds_are_refused():
    rows = (({"n": n}, {"answer": n}) for n in range(linear.MOST_CLASSES + 1))
    with pytest.raises(UntrainableError, match="more than 2000 kinds"):
        train(rows)


@pytest.mark.parametrize("rows", [[], [({"text": "a"}, {"n": 1})] * 10])
def test_nothing_to_tell_apart_is_refused(rows):
    with pytest.raises(UntrainableError, match="2 at least"):
        train(rows)


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(linear, "MOST_EXAMPLES", 10)
    with pytest.raises(UntrainableError, match="at most 10 rows"):
        train(made_up(11))


def test_outputs_that_are_too_long_in_all_are_refused():
    rows = [({"n": n}, {"text": str(n) * 100_000}) for n in range(50)]
    with pytest.raises(UntrainableError, match="4000000 bytes"):
        train(rows)


@pytest.mark.parametrize(
    "letter",
    ["a", " ", "a ", ".", "\u0301", "ß", "İ", "\n", "0", "ﷺ", "\U0001f600"],
)
def test_a_long_text_has_features_in_proportion(model, letter):
    """Time goes with the features, which are bounded: no timing is measured here."""
    text = letter * 50_000
    found = counted([{"text": text}], most_characters=len(text))
    assert found.times.sum() < 4 * len(text.casefold()) + 10
    assert model.answer({"text": text})[0] in model.classes


def test_of_a_long_input_so_many_letters_are_looked_at():
    found = counted([{"a": "b" * 500, "c": "d" * 500}], most_characters=600)
    only = counted([{"a": "b" * 500, "c": "d" * 100}], most_characters=600)
    assert np.array_equal(found.feature, only.feature)
