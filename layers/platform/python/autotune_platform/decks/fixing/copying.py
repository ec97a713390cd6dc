"""Words of samples in a rubric: a judge that reads them there knows the sample, and no rule."""

import re
from collections.abc import Collection, Iterable, Iterator

from autotune.protocol.limits import EDIT_COPIED_WORDS
from autotune_platform.judging.rubric.conversations import SampleTexts

# Chinese and Japanese have no spaces between words, of which one is some two characters; nor have
# Thai, Lao, Burmese and Khmer, in which one is some four.
_TWO = (
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_FOUR = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_PART = re.compile(rf"(?P<two>[{_TWO}])|(?P<four>[{_FOUR}])|[^\W{_TWO}{_FOUR}]+")
_WORTH = {"two": 2, "four": 1, None: 4}
"""How many fourths of a word a part is."""
_LEAST = 4 * EDIT_COPIED_WORDS


def runs_of_words(text: str) -> Iterator[str]:
    """Yield every run of eight words of a text, without case and punctuation."""
    parts: list[str] = []
    ends = [0]
    first = 0
    for found in _PART.finditer(text.casefold()):
        parts.append(found[0])
        ends.append(ends[-1] + _WORTH[found.lastgroup])
        while ends[-1] - ends[first] >= _LEAST:
            yield " ".join(parts[first:])
            first += 1


def added_runs(changed: Iterable[tuple[str, str]]) -> set[str]:
    """Return the runs of eight words that changed texts have, and had not before.

    Args:
        changed: texts as they were, and as they are.
    """
    new: set[str] = set()
    for before, after in changed:
        new |= set(runs_of_words(after)).difference(runs_of_words(before))
    return new


def is_copied(new: Collection[str], sample: SampleTexts) -> bool:
    """Return whether a sample has one of some runs of words."""
    texts = (sample.response, *(turn.text for turn in sample.turns))
    return bool(new) and any(run in new for text in texts for run in runs_of_words(text))
