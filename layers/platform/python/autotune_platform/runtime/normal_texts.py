"""Normal forms of texts from outside, in time that grows with a text and not with its square."""

import re
import unicodedata
from functools import lru_cache

MOST_MARKS_TOGETHER = 30
"""Combining characters in a row that are put into their order: sorting takes time in proportion to
their square. Unicode's Stream-Safe Text Format has no more of them
(https://unicode.org/reports/tr15/#Stream_Safe_Text_Format)."""

_JOINER = "\N{COMBINING GRAPHEME JOINER}"
# Characters that combine begin at U+0300, so that no others need be looked at one by one.
_MAY_BE_MARKS = re.compile(f"[^\x00-\u02ff]{{{MOST_MARKS_TOGETHER + 1},}}+")

# The only characters that combine in NFKC, and stand by themselves in NFC.
_HALF_WIDTH_MARKS = {0xFF9E: 0x3099, 0xFF9F: 0x309A}


def stream_safe(text: str) -> str:
    """Return a text with a joiner behind so many combining characters in a row."""
    return text if text.isascii() else _MAY_BE_MARKS.sub(_parted, text)


def alike(text: str) -> str:
    """Return what is the same for texts that differ in case, width or spacing alone.

    That is NFKC, with case folded, and one space for each run of white space between words.
    """
    plain = text if text.isascii() else text.translate(_HALF_WIDTH_MARKS)
    folded = unicodedata.normalize("NFKC", stream_safe(plain)).casefold()
    # Folding takes some letters apart, so that they are put together again.
    return " ".join(unicodedata.normalize("NFKC", stream_safe(folded)).split())


def _parted(found: re.Match[str]) -> str:
    parts: list[str] = []
    together = 0
    for character in found[0]:
        together = together + 1 if _is_mark(character) else 0
        if together > MOST_MARKS_TOGETHER:
            parts.append(_JOINER)
            together = 1
        parts.append(character)
    return "".join(parts)


@lru_cache(maxsize=8_192)
def _is_mark(character: str) -> bool:
    """Return whether a character is put into order among others, once it is decomposed."""
    return unicodedata.combining(unicodedata.normalize("NFD", character)[0]) != 0
