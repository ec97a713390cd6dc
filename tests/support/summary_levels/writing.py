"""Writes ``levels.json`` anew from the folder of real replies.

``python -m tests.support.summary_levels.writing /path/to/summary_judges``
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.judges.summaries import CRITERIA, SHIFT, Rating, Summaries, level
from tests.support.summary_levels import EXPERTS, FOLDER, GPT_35

PROMPTS = ("rts", "altrts", "mcq", "altmcq")
IN_WORDS = (GPT_35, "rts")
"""The one of which replies are read with numbers in words, too."""


def written(summaries: Summaries) -> str:
    """Returns what the file has to hold."""
    return json.dumps({each: _raters(summaries, each) for each in CRITERIA}, indent=1) + "\n"


def _raters(summaries: Summaries, criterion: str) -> dict[str, list[str]]:
    samples = list(summaries.samples.values())
    articles = len({sample.article_id for sample in samples})
    assert [each.article_id for each in samples] == [
        samples[row % articles].article_id for row in range(len(samples))
    ], "samples are not of one system after the other, each with the articles in the same order"

    def by_system(levels: Iterable[int | None]) -> list[str]:
        text = "".join("-" if found is None else str(found + SHIFT) for found in levels)
        return [text[start : start + articles] for start in range(0, len(text), articles)]

    raters = {
        name: by_system(sample.experts[place][criterion] - SHIFT for sample in samples)
        for place, name in enumerate(EXPERTS)
    }
    for (judge, of, prompt), replies in summaries.replies.items():
        if of != criterion or prompt not in PROMPTS:
            continue
        for words in (False, True) if (judge, prompt) == IN_WORDS else (False,):
            rating = Rating(criterion, prompt, words=words)
            name = f"{judge} {prompt}{' words' if words else ''}"
            raters[name] = by_system(level(replies[sample.id], rating) for sample in samples)
    return raters


if __name__ == "__main__":
    (FOLDER / "levels.json").write_text(written(Summaries(Path(sys.argv[1]))), "utf-8")
