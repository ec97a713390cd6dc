"""Texts have a normal form, in time that grows with them."""

import unicodedata

import pytest

from autotune_platform.runtime.normal_texts import MOST_MARKS_TOGETHER, alike, stream_safe


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Straße", "strasse"),
        ("\ufb01ne", "fine"),
        ("\uff21\uff22", "ab"),
        ("  a \r\n b\u3000c ", "a b c"),
        ("e\u0301", "\u00e9"),
        ("\uff76\uff9e", "\u30ac"),
        ("", ""),
    ],
)
def test_texts_that_are_alike_have_one_form(text, normal):
    assert alike(text) == normal
    assert alike(normal) == normal


@pytest.mark.parametrize(
    "marks", ["\u0323\u0301", "\u0301\uff9e", "\u0345\u0323", "\uff9f\u0301", "\u0f73\u0301"]
)
def test_no_text_has_more_marks_in_a_row_than_are_sorted_together(marks):
    # Sorting marks takes time in proportion to the square of how many stand together.
    longest = together = 0
    for character in unicodedata.normalize("NFKD", alike("a" + marks * 500)):
        together = together + 1 if unicodedata.combining(character) else 0
        longest = max(longest, together)
    assert longest <= 4 * MOST_MARKS_TOGETHER


def test_plain_text_stays_as_it_is():
    assert stream_safe("plain text") == "plain text"
