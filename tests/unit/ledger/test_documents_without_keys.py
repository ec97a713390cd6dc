"""A provider's whole answer is passed through without the key, and as text that UTF-8 holds."""

import json
from dataclasses import replace

import pytest

from autotune_platform.ledger.calls import Answer
from autotune_platform.ledger.providers.refusals import without_key, without_key_inside
from autotune_platform.ledger.usage import Usage

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


def test_of_an_answer_nothing_is_lost_but_the_key() -> None:
    found = Answer(
        text=f"is {KEY}",
        finish_reason="stop",
        usage=Usage(input_tokens=1, output_tokens=2),
        price_times=2,
        served_model=f"m-{KEY}",
        provider_request_id=f"r-{KEY}",
        reasoning=f"as {KEY}",
        document={"id": "kept"},
    )
    assert without_key(found, KEY) == replace(
        found,
        text="is [key]",
        served_model="m-[key]",
        provider_request_id="r-[key]",
        reasoning="as [key]",
    )
