"""What is signed has one form for each value."""

import json

import pytest

from autotune.protocol.canonical_json import canonical_json


def test_names_are_in_the_order_of_their_utf_16():
    # The order of RFC 8785, section 3.2.3, where code points would have the last two the other way.
    value = {"\ufb33": 7, "\U0001f600": 6, "\u20ac": 5, "\u00f6": 4, "\u0080": 3, "1": 2, "\r": 1}
    assert list(json.loads(canonical_json(value)).values()) == [1, 2, 3, 4, 5, 6, 7]


def test_there_is_no_space_and_only_what_has_to_be_is_escaped():
    value = {"b": [1, True, None, {"z": -2, "a": ""}], "a": '€$\u000f\nA\'B"\\"/'}
    expected = (
        r"""{"a":"€$\u000f\nA'B\"\\\"/","b":[1,true,null,{"a":"","z":-2}]}"""  # RFC 8785, 3.2.2
    )
    assert canonical_json(value) == expected.encode()


@pytest.mark.parametrize("value", [0.5, 2**53, {1: 2}, [float("nan")], {"a": b""}, "\ud800"])
def test_what_languages_write_in_different_ways_is_refused(value):
    with pytest.raises(ValueError, match=r"canonical JSON has no|surrogates"):
        canonical_json(value)
