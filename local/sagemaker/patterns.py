"""Regular expressions of botocore's models, which are Java's."""

import re
from collections.abc import Callable
from functools import cache

import re2

_OF_UNICODE = re.compile(r"\\p\{[LNZ]\}")
_IN_ASCII = {
    r"\p{Alnum}": "0-9A-Za-z",
    r"[\p{Print}]": r"[\x20-\x7e]",
    r"\p{ASCII}": r"[\x00-\x7f]",
    r"\z": r"\Z",
}


@cache
def matcher(pattern: str) -> Callable[[str], bool]:
    """Return what says whether a whole text matches.

    Raises:
        re.error: The pattern has something that neither of two libraries knows.
    """
    if _OF_UNICODE.search(pattern):
        by_category = re2.compile(pattern)
        return lambda text: by_category.fullmatch(text) is not None
    for java, python in _IN_ASCII.items():
        pattern = pattern.replace(java, python)
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None
