"""Splitting a job's document as it comes, in parts of any size and with rows of any kind."""

import json
import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune_platform.ledger.jobs.inline_results import InlineResults, TooLargeError

MOST = 100_000
texts = st.text(alphabet='ab"\\,[]{}:\n\r é\U0001f600', max_size=8) | st.sampled_from(
    ['"results":[', ',"results":', "results"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def split(parts: Sequence[bytes]) -> tuple[InlineResults, list[bytes]]:
    found = InlineResults("results", most_bytes=MOST)
    content = b"".join(found.split(part) for part in parts)
    return found, [line for line in content.split(b"\n") if line.strip()]


def cut(document: bytes, places: Sequence[int]) -> list[bytes]:
    ends = [0, *sorted(place % (len(document) + 1) for place in places), len(document)]
    return [document[start:end] for start, end in pairwise(ends)]


@settings(max_examples=120, deadline=None)
@given(
    before=st.dictionaries(texts.filter(lambda name: name != "results"), values, max_size=3),
    after=st.dictionaries(texts.filter(lambda name: name != "results"), values, max_size=3),
    results=st.none() | st.lists(values, max_size=5),
    indent=st.sampled_from([None, 0, 1]),
    escaped=st.booleans(),
    places=st.lists(st.integers(0, 10_000), max_size=6),
)
def test_items_and_what_stands_around_them_are_those_of_the_document(
    before: Any, after: Any, results: Any, indent: Any, escaped: bool, places: list[int]
) -> None:
    after = {name: value for name, value in after.items() if name not in before}
    whole = {**before, "results": results, **after}
    document = json.dumps(whole, indent=indent, ensure_ascii=escaped).encode()
    found, lines = split(cut(document, places))
    assert [json.loads(line) for line in lines] == (results or [])
    assert found.document() == {**whole, "results": results and []}
    assert found.has_items is bool(results)
    assert found.is_whole


@settings(max_examples=80, deadline=None)
@given(st.lists(st.binary(max_size=60) | texts.map(str.encode), max_size=6))
def test_any_bytes_raise_nothing(parts: list[bytes]) -> None:
    found, lines = split(parts)
    assert not lines or found.has_items
    found.document()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 200))
def test_a_document_that_is_cut_is_not_whole(place: int) -> None:
    document = b'{"status": "completed", "results": [{"a": "x]}"}, {"b": 2}], "usage": {"cost": 1}}'
    place %= len(document)
    found, lines = split([document[:place]])
    assert not found.is_whole
    if b"[" in document[:place] and b"usage" not in document[:place]:
        shown = found.document()
        assert shown is None or shown["status"] == "completed"
    assert len(lines) <= 2


def test_within_the_list_what_stands_before_it_is_known() -> None:
    found, lines = split([b'{"id": "j", "status": "expired", "results": [{"a": 1}, {"b":'])
    assert found.document() == {"id": "j", "status": "expired", "results": []}
    assert lines == [b'{"a": 1}', b' {"b":']
    assert found.has_items
    assert not found.is_whole


@pytest.mark.parametrize(
    "bad",
    [
        b'{"a": "\xff\xfe"}',
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": 1' + b"0" * 5_000 + b"}",
        b'{"a": "\\ud800"}',
        b'{"a": "\x00"}',
        b"[" * 600 + b"]" * 600,
    ],
    ids=["utf8", "nan", "infinite", "digits", "surrogate", "control", "deep"],
)
def test_a_row_that_no_parser_takes_spoils_its_own_line_alone(bad: bytes) -> None:
    document = b'{"status": "completed", "results": [{"a": 1}, %b, {"a": 3}]}' % bad
    found, lines = split([document])
    assert [line.strip() for line in lines] == [b'{"a": 1}', bad, b'{"a": 3}']
    assert found.document() == {"status": "completed", "results": []}


def test_lists_of_the_same_name_elsewhere_are_not_taken() -> None:
    document = {
        "usage": {"results": [1, 2]},
        "s": ',"results":[',
        "all_results": [3],
        'x"results': [4],
        "results": [5],
    }
    found, lines = split([json.dumps(document).encode()])
    assert lines == [b"5"]
    assert found.document() == {**document, "results": []}


def test_what_stands_around_is_bounded() -> None:
    with pytest.raises(TooLargeError):
        split([b'{"a": "', b"x" * (MOST + 1)])


def test_memory_does_not_grow_with_rows_or_with_their_size() -> None:
    found = InlineResults("results", most_bytes=MOST)
    long_row = [b'{"a": "' + b'x\\"' * 20_000, *[b'y\\"' * 20_000] * 100, b'"},']
    rows = b'{"a": [1, {"b": "c"}]},' * 2_500
    tracemalloc.start()
    try:
        sent = found.split(b'{"results": [')
        size = 0
        for part in [*long_row, *[rows] * 5, b"{}]}"]:
            size += len(found.split(part))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sent == b""
    assert size > 6_000_000
    assert found.is_whole
    assert peak < 1_500_000
