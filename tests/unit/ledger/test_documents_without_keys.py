"""A provider's whole answer is passed through without the key, and as text that UTF-8 holds."""

import json

import pytest

from autotune_platform.ledger.providers.refusals import without_key_inside

KEY = 'sk-"quoted"-and-long'


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"a": [f"x{KEY}y", 1, None]}, {"a": ["x[key]y", 1, None]}),
        ({KEY: True}, {"[key]": True}),
        ({"half": json.loads('"\\ud800"')}, {"half": "\ufffd"}),
        ({"pair": "\U0001f600"}, {"pair": "\U0001f600"}),
    ],
)
def test_the_key_and_halves_of_pairs_are_replaced(document: object, expected: object) -> None:
    assert without_key_inside(document, KEY) == expected


def test_a_short_key_is_no_secret_and_without_one_nothing_is_hidden() -> None:
    assert without_key_inside({"a": "EMPTY"}, "EMPTY") == {"a": "EMPTY"}
    assert without_key_inside({"a": "key"}, None) == {"a": "key"}
