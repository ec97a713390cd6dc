"""How far two answers agree, within bounds, and whatever a small model writes."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity as their_cosine

from autotune_platform.apprentice.evaluators import (
    MAX_ANSWER_BYTES,
    MAX_ANSWER_VALUES,
    EvaluatorKind,
    EvaluatorSettingsError,
    ExactMatch,
    Fault,
    StructuredMatch,
    UnusableTruthError,
    cosine_similarity,
    equal_json,
)

SCHEMA = {"type": "object", "properties": {"intent": {}, "city": {}, "count": {}}}
MATCH = StructuredMatch(["intent", "city"], SCHEMA)
EXACT = ExactMatch()
TRUTH = '{"intent": "book", "city": "Rome", "count": 2}'

values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("local", "fields"),
    [
        ('{"city":"Rome","intent":"book"}', {"intent": 1.0, "city": 1.0}),
        ('{"intent": "book", "city": "Paris", "count": 2}', {"intent": 1.0, "city": 0.0}),
        ('{"intent": "book"}', {"intent": 1.0, "city": 0.0}),
        ('{"intent": "Book", "city": " Rome"}', {"intent": 0.0, "city": 0.0}),
        ('{"intent": null, "city": null}', {"intent": 0.0, "city": 0.0}),
        ("{}", {"intent": 0.0, "city": 0.0}),
    ],
)
def test_structured_match_is_the_share_of_equal_fields(
    local: str, fields: dict[str, float]
) -> None:
    found = MATCH.evaluate(local, TRUTH)
    assert found.kind is EvaluatorKind.STRUCTURED_MATCH
    assert found.fields == fields
    assert found.score == sum(fields.values()) / 2
    assert found.fault is None


def test_a_field_that_both_leave_out_agrees_and_null_is_not_nothing() -> None:
    match = StructuredMatch(["city"], SCHEMA)
    assert match.evaluate("{}", "{}").score == 1
    assert match.evaluate('{"city": null}', "{}").score == 0
    assert match.evaluate("{}", '{"city": null}').score == 0
    assert match.evaluate('{"city": null}', '{"city": null}').score == 1


@pytest.mark.parametrize(
    ("local", "fault"),
    [
        ("", Fault.UNPARSEABLE),
        ("Sure! Here it is:\n" + TRUTH, Fault.UNPARSEABLE),
        ("Sure!\n```json\n" + TRUTH + "\n```", Fault.UNPARSEABLE),
        (TRUTH[:-1], Fault.UNPARSEABLE),
        ('{"city": NaN}', Fault.UNPARSEABLE),
        ('{"city": 1e999}', Fault.UNPARSEABLE),
        ('{"city": ' + "9" * 5_000 + "}", Fault.UNPARSEABLE),
        ("\ud800", Fault.UNPARSEABLE),
        ("[" * 100_000, Fault.TOO_LARGE),
        ('{"city":' * 600 + "1" + "}" * 600, Fault.UNPARSEABLE),
        ('"book"', Fault.NO_OBJECT),
        ("[1]", Fault.NO_OBJECT),
        ("null", Fault.NO_OBJECT),
        (json.dumps({"city": "x" * MAX_ANSWER_BYTES}), Fault.TOO_LARGE),
        (json.dumps({"city": "é" * (MAX_ANSWER_BYTES // 2)}, ensure_ascii=False), Fault.TOO_LARGE),
        (json.dumps({"city": [1] * MAX_ANSWER_VALUES}), Fault.TOO_LARGE),
    ],
)
def test_what_cannot_be_read_scores_0(local: str, fault: Fault) -> None:
    found = MATCH.evaluate(local, TRUTH)
    assert (found.score, found.fault) == (0.0, fault)
    assert found.fields == {"intent": 0.0, "city": 0.0}
    with pytest.raises(UnusableTruthError, match=str(fault)):
        MATCH.evaluate(TRUTH, local)


@given(st.text(max_size=60), st.dictionaries(st.sampled_from(["intent", "city", "x"]), values))
def test_any_answer_has_a_score(local: str, truth: dict[str, Any]) -> None:
    for text in (local, json.dumps(truth)):
        for evaluator in (MATCH, EXACT):
            assert 0 <= evaluator.evaluate(text, json.dumps(truth)).score <= 1


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "from 1 to 100"),
        (["city"] * 101, "from 1 to 100"),
        (["city", "town"], r"match_fields\[1\]: 'town' is no property"),
        (["city", "city"], "each name once"),
    ],
)
def test_match_fields_are_fields_of_the_schema(names: list[str], said: str) -> None:
    with pytest.raises(EvaluatorSettingsError, match=said):
        StructuredMatch(names, SCHEMA)


@pytest.mark.parametrize("schema", [{}, {"properties": None}, {"properties": ["city"]}])
def test_a_schema_without_properties_has_no_fields(schema: dict[str, Any]) -> None:
    with pytest.raises(EvaluatorSettingsError, match="no property of the output schema"):
        StructuredMatch(["city"], schema)


@pytest.mark.parametrize(
    ("local", "truth", "score"),
    [
        ("Rome", "Rome", 1),
        ("Rome", "rome", 0),
        ("Rome", "Rome ", 0),
        ("1.0", "1", 0),  # texts that happen to be JSON are texts
        ('{"a": 1, "b": [2.0]}', '{"b":[2],"a":1}', 1),
        ("[1, 2]", "[2, 1]", 0),
        ('{"a": 1}', '{"a": 1, "b": null}', 0),
        ('{"a": 1}', "{a: 1}", 0),
        ("{a: 1}", "{a: 1}", 1),
        ("[true]", "[1]", 0),
        ("\u00e9", "e\u0301", 0),  # the same to a reader, and other texts
        ("[NaN]", "[NaN]", 1),
    ],
)
def test_exact_match_is_of_the_whole_answer(local: str, truth: str, score: float) -> None:
    found = EXACT.evaluate(local, truth)
    assert (found.score, found.fields) == (score, {})


def test_exact_match_of_what_is_too_large() -> None:
    large = "x" * (MAX_ANSWER_BYTES + 1)
    assert EXACT.evaluate(large, "x").fault is Fault.TOO_LARGE
    with pytest.raises(UnusableTruthError, match="200000 bytes"):
        EXACT.evaluate("x", large)


@given(values, values)
def test_json_is_equal_as_json_schema_has_it(left: Any, right: Any) -> None:
    def canonical(value: Any) -> str:
        def plain(part: Any) -> Any:
            if isinstance(part, float) and part.is_integer():
                return int(part)
            if isinstance(part, dict):
                return {name: plain(member) for name, member in part.items()}
            return [plain(member) for member in part] if isinstance(part, list) else part

        return json.dumps(plain(value), sort_keys=True)

    assert equal_json(left, right) == (canonical(left) == canonical(right))
    assert equal_json(left, json.loads(json.dumps(left)))
    assert equal_json(left, right) == equal_json(right, left)


@pytest.mark.parametrize(("left", "right"), [(True, 1), (False, 0), (0, None), ("1", 1), ([], {})])
def test_values_of_unlike_kinds_are_unlike(left: Any, right: Any) -> None:
    assert not equal_json(left, right)
    assert not equal_json([left], [right])
    assert not equal_json({"a": left}, {"a": right})


vectors = st.integers(1, 20).flatmap(
    lambda size: st.tuples(
        *(st.lists(st.floats(-100, 100), min_size=size, max_size=size) for _ in range(2))
    )
)


@given(vectors)
def test_cosine_is_that_of_scikit_learn_clamped(pair: tuple[list[float], list[float]]) -> None:
    left, right = (
        [0.0 if abs(value) < 1e-9 else value for value in vector] for vector in pair
    )  # to scikit-learn a vector of a length below 2e-15 is one of zeros
    found = cosine_similarity(left, right)
    theirs = float(their_cosine([left], [right])[0, 0])
    assert found == pytest.approx(max(0.0, theirs), abs=1e-9)
    assert 0 <= found <= 1


def test_cosine_is_clamped_and_bounded() -> None:
    assert cosine_similarity([1.0, 0.0], [-1.0, 0.0]) == 0
    assert cosine_similarity([0.0, 0.0], [0.0, 0.0]) == 0
    assert cosine_similarity([1e308] * 9, [1e308] * 9) == pytest.approx(1)
    assert cosine_similarity([5e-324, 0.0], [1e308, 0.0]) == 1
    assert cosine_similarity([0.1] * 384, [0.1] * 384) == pytest.approx(1)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([1.0], [1.0, 2.0]),
        ([], []),
        ([math.nan], [1.0]),
        ([1.0], [math.inf]),
        ([1.0] * 10_001, [1.0] * 10_001),
    ],
)
def test_vectors_that_are_none_are_refused(left: list[float], right: list[float]) -> None:
    with pytest.raises(ValueError, match=r"vectors of one length|from 1 to 10000|finite numbers"):
        cosine_similarity(left, right)
