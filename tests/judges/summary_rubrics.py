"""Rubrics of levels for summaries: one for each prompt that the real judges were asked with.

The texts are ours. What tells the versions of a criterion apart is how they ask, as the prompts
did: for a reason and then a score, for a score alone, for a letter.
"""

from tests.judges.prompts import RubricText
from tests.judges.summaries import LETTERED, Rating

SYSTEM_PROMPT = "Summarize the article in at most three sentences. Say nothing that is not in it."

_CRITERIA = {
    "coherence": "Do all sentences of the summary hang together, so that one leads to the next and "
    "the whole makes sense by itself?",
    "relevance": "Does the summary hold what matters in the article, and nothing besides?",
}
_LEVELS = {
    "coherence": (
        "It is no text at all.",
        "Its sentences have nothing to do with each other.",
        "Few of its sentences belong together.",
        "Some sentences belong together, others stand apart.",
        "Nearly all sentences belong together, and the order is mostly right.",
        "Every sentence leads to the next, and the whole makes sense.",
        "No editor could make it hang together better.",
    ),
    "relevance": (
        "It is about another article.",
        "It leaves out all that matters.",
        "It leaves out most of what matters, or is mostly about what does not.",
        "It holds about half of what matters.",
        "It holds most of what matters, and little besides.",
        "It holds all that matters, and nothing besides.",
        "No editor could choose better.",
    ),
}
_MANNERS = {
    "rts": "Give your reason first, then the score.",
    "altrts": "Read for this one quality alone. Give your reason first, then the score.",
    "mcq": "Choose the one description that fits best.",
    "altmcq": "Look at this one quality alone, and choose the one description that fits best.",
    "stareval": "Think of the levels as stars.",
}


def rubric_of(rating: Rating) -> RubricText:
    """The rubric under which replies of this kind are given."""
    manner = _MANNERS[rating.prompt]
    if rating.words:
        manner += " Numbers may be written in words."
    return RubricText(f"{_CRITERIA[rating.criterion]} {manner}", _LEVELS[rating.criterion])


RATINGS = [
    Rating(criterion, prompt, words)
    for criterion in _CRITERIA
    for prompt in _MANNERS
    for words in (False, True)
    if not (words and prompt in LETTERED)
]
