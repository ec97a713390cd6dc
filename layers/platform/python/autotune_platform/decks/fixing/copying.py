"""Words of samples in a rubric: a judge that reads them there knows the sample, and no rule."""

import re
from collections.abc import Iterable, Mapping

from autotune.protocol.limits import EDIT_COPIED_WORDS
from autotune_platform.judging.rubric.conversations import SampleTexts

_WORD = re.compile(r"\w+")

Runs = frozenset[tuple[str, ...]]


def runs_of_words(text: str) -> Runs:
    """Return every run of eight words of a text, without case and punctuation."""
    words = _WORD.findall(text.casefold())
    last = len(words) - EDIT_COPIED_WORDS
    return frozenset(tuple(words[start : start + EDIT_COPIED_WORDS]) for start in range(last + 1))


def copied(changed: Iterable[tuple[str, str]], samples: Mapping[str, SampleTexts]) -> str | None:
    """Return the id of a sample from which a change takes eight words in a row; None for none.

    Args:
        changed: texts as they were, and as they are.
        samples: what must not be copied, by id.
    """
    new: Runs = frozenset().union(
        *(runs_of_words(after) - runs_of_words(before) for before, after in changed)
    )
    if not new:
        return None
    for id_, sample in samples.items():
        texts = [sample.response, *(turn.text for turn in sample.turns)]
        if any(not new.isdisjoint(runs_of_words(text)) for text in texts):
            return id_
    return None
