"""Key conditions that are read once decide as MiniStack does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ministack.services import dynamodb

from local.key_conditions import read, read_once

NAMES = {"#p": "pk", "#s": "sk"}
KEY = "KeyConditionExpression"
TEXT = st.text(alphabet="ab~é\U0001f600", min_size=1, max_size=3)
FORMS = [
    "#p = :p",
    *(f"#p = :p AND #s {sign} :a" for sign in ("=", "<", "<=", ">", ">=")),
    "#p = :p AND #s BETWEEN :a AND :b",
    "#p = :p AND begins_with(#s, :a)",
]


@pytest.mark.parametrize("form", FORMS)
@given(key=TEXT, sort=TEXT, p=TEXT, bounds=st.tuples(TEXT, TEXT))
def test_every_form_decides_as_it_did(form, key, sort, p, bounds):
    low, high = sorted(bounds)
    texts = {":p": p, ":a": low, ":b": high}
    values = {name: {"S": text} for name, text in texts.items() if name in form}
    decides = read(form, values, NAMES)
    assert decides is not None
    item = {"pk": {"S": key}, "sk": {"S": sort}}
    for one in (item, {**item, "pk": {"S": p}}, {"pk": {"S": p}}):
        assert decides(one) == dynamodb._evaluate_condition(form, one, values, NAMES, slot=KEY)


@pytest.mark.parametrize(
    ("form", "values"),
    [
        ("#p = :p AND #s > :a", {":p": {"S": "a"}, ":a": {"N": "1"}}),
        (
            "#p = :p AND #s BETWEEN :a AND :b",
            {":p": {"S": "a"}, ":a": {"S": "b"}, ":b": {"S": "a"}},
        ),
        ("#p = :p AND contains(#s, :a)", {":p": {"S": "a"}, ":a": {"S": "b"}}),
        ("(#p = :p) AND #s > :a", {":p": {"S": "a"}, ":a": {"S": "b"}}),
        ("#x = :p", {":p": {"S": "a"}}),
    ],
)
def test_every_other_form_is_left_to_ministack(form, values):
    assert read(form, values, NAMES) is None
    asked = []
    evaluate = read_once(lambda *given: asked.append(given) or True)
    assert evaluate(form, {}, values, NAMES, slot=KEY)
    assert evaluate("a = :p", {}, values, NAMES)
    assert [given[0] for given in asked] == [form, "a = :p"]


def test_a_condition_is_read_once_for_all_items_and_anew_for_other_values():
    evaluate = read_once(lambda *_: pytest.fail("it knows this form"))
    items = [{"pk": {"S": text}} for text in "abc"]
    for wanted in "abc":
        values = {":p": {"S": wanted}}
        found = [one for one in items if evaluate("#p = :p", one, values, NAMES, slot=KEY)]
        assert found == [{"pk": {"S": wanted}}]
