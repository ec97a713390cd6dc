"""What real models and people said of real summaries, read from a folder that stays outside.

``samples.jsonl`` has articles, summaries and the ratings of three experts; ``judge_replies.jsonl``
has the replies of models that were asked to rate them from 1 to 5, under several prompts. Here, 1
to 5 is -2 to +2, which leaves quadratically weighted agreement as it is.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from tests.judges.prompts import SampleText, said

SHIFT = 3
CRITERIA = ("coherence", "relevance")
LETTERED = frozenset(["mcq", "altmcq"])
_OF_FIVE = re.compile(r"/5|out of 5")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LETTER = re.compile(r"\b([A-E])\b")
_WORDS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}
_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Rating:
    """Which replies are meant.

    Attributes:
        prompt: What the models were asked with: ``rts``, ``altrts``, ``mcq`` and others.
        words: Whether numbers in words are read, too. They are read last, so that "one out of
            five" is a five: so it was when the figures were taken that are compared with.
    """

    criterion: str
    prompt: str
    words: bool = False


@dataclass(frozen=True)
class Summary:
    """One summary, and what people said of it.

    Attributes:
        truth: By criterion, the median of the experts, -2 to +2.
    """

    id: str
    article_id: str
    article: str
    summary: str
    experts: tuple[dict[str, int], ...]

    @property
    def text(self) -> SampleText:
        return SampleText(self.article, self.summary)

    def truth(self, criterion: str) -> int:
        return int(median(one[criterion] for one in self.experts)) - SHIFT


class Summaries:
    """The folder's content.

    Args:
        folder: Where the two files are.
    """

    def __init__(self, folder: Path | str) -> None:
        self._folder = Path(folder)

    @cached_property
    def samples(self) -> dict[str, Summary]:
        """Summaries by id, in the order of the file."""
        return {
            one["id"]: Summary(
                one["id"],
                one["article_id"],
                one["article"],
                one["summary"],
                tuple(one["experts"]),
            )
            for one in self._lines("samples.jsonl")
        }

    @cached_property
    def replies(self) -> dict[tuple[str, str, str], dict[str, str]]:
        """Replies by judge, criterion and prompt, then by the summary's id."""
        found: dict[tuple[str, str, str], dict[str, str]] = {}
        for one in self._lines("judge_replies.jsonl"):
            key = (one["judge"], one["criterion"], one["prompt"])
            found.setdefault(key, {})[one["sample"]] = one["reply"]
        return found

    @cached_property
    def first_of_alike(self) -> dict[str, str]:
        """By the digest of article and summary, the first that has these texts.

        Some systems wrote the same summary; whoever reads texts alone cannot tell them apart.
        """
        found: dict[str, str] = {}
        for one in self.samples.values():
            found.setdefault(one.text.digest, one.id)
        return found

    def _lines(self, name: str) -> Iterator[Any]:
        with (self._folder / name).open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def level(reply: str, rating: Rating) -> int | None:
    """The level that a reply gives, -2 to +2; None if it gives none.

    Of a reply to a multiple-choice prompt it is the letter. Of another, "/5" and "out of 5" are
    removed, and the last number from 1 to 5 counts, halves rounded up.
    """
    if rating.prompt in LETTERED:
        letter = _LETTER.search(reply)
        return None if letter is None else ord(letter[1]) - ord("A") + 1 - SHIFT
    text = _OF_FIVE.sub("", reply)
    if rating.words:
        text = _WORD.sub(lambda word: _WORDS[word[0].lower()], text)
    numbers = [float(number) for number in _NUMBER.findall(text)]
    counting = [number for number in numbers if 1 <= number <= 5]
    return math.floor(counting[-1] + 0.5) - SHIFT if counting else None


def recast(reply: str, rating: Rating) -> str:
    """The reply as the platform asks for answers; without a verdict where it gives no level."""
    found = level(reply, rating)
    if found is None:
        return reply.strip()
    shown = reply.strip()
    if rating.prompt in LETTERED:
        shown = f"Of the choices A to E, it is {shown}."
    return said(shown, shown, found)
