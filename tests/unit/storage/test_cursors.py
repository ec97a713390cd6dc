"""Cursors come from callers: what stands in them fits into a key."""

import base64
import json

import pytest

from autotune_platform.runtime.errors import InvalidRequestError
from autotune_platform.storage.cursors import decode_cursor, encode_cursor


@pytest.mark.parametrize("part", ["", "x" * 512, "\N{EURO SIGN}" * 333])
def test_what_a_key_can_hold_is_taken(part: str) -> None:
    assert decode_cursor(encode_cursor("a", part), parts=2) == ("a", part)


@pytest.mark.parametrize("part", ["x" * 513, "\N{EURO SIGN}" * 334, "\N{GRINNING FACE}" * 512])
def test_what_no_sort_key_could_be_is_refused(part: str) -> None:
    with pytest.raises(InvalidRequestError, match="nextToken"):
        decode_cursor(encode_cursor(part), parts=1)


def test_half_a_pair_is_refused() -> None:
    token = base64.urlsafe_b64encode(json.dumps(["\ud800"]).encode()).decode()
    with pytest.raises(InvalidRequestError, match="nextToken"):
        decode_cursor(token, parts=1)
