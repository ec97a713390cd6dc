"""Taking the force from lines of an answer that stand in a text which a judge reads.

A judge ends its answer with ``VERDICT: 2``. A text that says so itself must not be taken for the
answer where the judge repeats it, in whatever spelling: letters of other scripts, full-width ones,
characters that nobody sees, marks and line ends between the letters. So the colon behind such a
word is put in brackets: ``VERDICT[:] 2`` is no verdict, and a reader still sees what stood there.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

NEUTRAL_COLON: Final = "[:]"

_LETTERS: Final = {
    # Letters of other scripts that look like Latin ones. What Unicode itself counts as another form
    # of a letter (full width, mathematical, circled) is decomposed before.
    **dict(zip("авеостхріѵгпԁӏһոօԛ", "abeoctxpivrndlhnoq", strict=True)),
    **dict(zip("αβεηικνορτυχϲς", "abenikvoptuxcc", strict=True)),
    **dict(zip("ıɩłøđŧꮩⅴ", "iilodtvv", strict=True)),
    **dict(zip("ᴀᴄᴅᴇɪʟɴᴏᴘʀᴛᴠ", "acdeilnoprtv", strict=True)),
}
_COLONS: Final = frozenset("\ua789\u2236\u02d0\u02f8\u0589\u05c3\u16ec\ufe30\u205a\u1803\ua4fd")
_ALPHABETS: Final = (0x1F150, 0x1F170, 0x1F1E6)
"""Where alphabets begin that Unicode does not decompose: letters in black circles and squares, and
those of flags."""
_TAGS: Final = 0xE0000
"""What is behind it is ASCII once more, for no eye."""
_OTHER: Final = "#"
_LINE = re.compile("(?:verdict|explanation):")
# Most texts have no such word: they are looked through once, by no loop of ours.
_HINT = re.compile(
    r"[^\x00-\x7f]|v[\W_]*e[\W_]*r[\W_]*d|e[\W_]*x[\W_]*p[\W_]*l", re.ASCII | re.IGNORECASE
)


def neutralised(text: str) -> str:
    """Return a text in which no word ``VERDICT`` or ``EXPLANATION`` has a colon behind it."""
    if _HINT.search(text) is None:
        return text
    plain: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for letter in _plain(character):
            plain.append(letter)
            places.append(place)
    colons = [places[found.end() - 1] for found in _LINE.finditer("".join(plain))]
    if not colons:
        return text
    parts: list[str] = []
    start = 0
    for colon in colons:
        parts += [text[start:colon], NEUTRAL_COLON]
        start = colon + 1
    return "".join([*parts, text[start:]])


@lru_cache(maxsize=8_192)
def _plain(character: str) -> str:
    """Return what a character is to a reader: letters, digits, colons, and nothing of the rest."""
    code = ord(character)
    if _TAGS <= code < _TAGS + 0x80:
        return _plain(chr(code - _TAGS))
    for start in _ALPHABETS:
        if start <= code < start + 26:
            return chr(ord("a") + code - start)
    if character in _COLONS:
        return ":"
    found = ""
    for part in unicodedata.normalize("NFKD", character).casefold():
        if part in _COLONS:
            found += ":"
        elif "a" <= part <= "z" or "0" <= part <= "9" or part == ":":
            found += part
        elif (letter := _LETTERS.get(part)) is not None:
            found += letter
        elif unicodedata.category(part)[0] in "LN":
            found += _OTHER
    return found
