"""JSON without spaces is written in one place, and is byte for byte what ``json.dumps`` makes."""

import ast
import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.protocol.compact_json import compact, compact_sorted

LAYERS = Path(__file__).parents[3] / "layers"
HOME = "compact_json.py"
OPTIONS = {"separators": '(",", ":")', "ensure_ascii": "False"}
SORTED = {**OPTIONS, "sort_keys": "True"}

_leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    _leaves,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(values)
def test_they_are_what_dumps_makes_with_the_same_options(value):
    plain = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    assert compact(value) == plain
    in_order = json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
    assert compact_sorted(value) == in_order


def test_what_hashes_and_signatures_depend_on():
    value = {"b": ["é\u2028\ud800", 1.0, 1e22], "a": {"2": math.nan, "10": -0.0}}
    assert compact(value) == '{"b":["é\u2028\ud800",1.0,1e+22],"a":{"2":NaN,"10":-0.0}}'
    assert compact_sorted(value) == '{"a":{"10":-0.0,"2":NaN},"b":["é\u2028\ud800",1.0,1e+22]}'


@pytest.mark.parametrize("write", [compact, compact_sorted])
def test_what_is_no_json_is_refused(write):
    with pytest.raises(TypeError):
        write({1, 2})
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="Circular"):
        write(endless)


def _options_of_dumps(file: Path) -> Iterator[dict[str, str]]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "json.dumps":
            yield {str(one.arg): ast.unparse(one.value).replace("'", '"') for one in node.keywords}


def test_no_other_module_writes_them_anew():
    again = [
        str(file.relative_to(LAYERS))
        for file in sorted(LAYERS.rglob("python/autotune*/**/*.py"))
        if file.name != HOME
        for options in _options_of_dumps(file)
        if options in (OPTIONS, SORTED)
    ]
    assert again == []
