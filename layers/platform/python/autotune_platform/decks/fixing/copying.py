"""Words of samples in a rubric: a judge that reads them there knows the sample, and no rule."""

import re
from collections.abc import Iterable, Iterator, Mapping

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


def copied(changed: Iterable[tuple[str, str]], samples: Mapping[str, SampleTexts]) -> str | None:
    """Return the id of a sample from which a change takes eight words in a row; None for none.

    Args:
        changed: texts as they were, and as they are.
        samples: what must not be copied, by id.
    """
    new: set[str] = set()
    for before, after in changed:
        new |= set(runs_of_words(after)).difference(runs_of_words(before))
    if not new:
        return None
    for id_, sample in samples.items():
        texts = [sample.response, *(turn.text for turn in sample.turns)]
        if any(run in new for text in texts for run in runs_of_words(text)):
            return id_
    return None
