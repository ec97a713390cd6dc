"""What the proposer writes: graders for a system prompt, and edits of a rubric.

Each is a function of what it is given. An edit is a patch of the rubric's text, as
``{"field": "criteria", "find": "…", "replace": "…"}``; what it does to the planted judge's verdicts
is known (`planted`).
"""

import re
from collections.abc import Sequence
from typing import Any

from tests.judges.planted import ABSTAINING, CURE, HARM, telling_runs
from tests.judges.prompts import RubricText, SampleText

LEAST_GRADERS, MOST_GRADERS = 3, 7
# From worst to best: `ordered` knows a level by these words, wherever they stand.
DEGREES = (
    "does the opposite",
    "hardly ever does so",
    "rarely does so",
    "does so as often as not",
    "mostly does so",
    "nearly always does so",
    "does so without exception",
)
GRADER_FAULTS = ("quote", "levels", "name", "number", "criteria")
EDIT_KINDS = ("good", "useless", "harmful", "copying", "abstaining", "long", "unfounded")
_SENTENCE = re.compile(r"[^\n.!?]+[.!?]?")
_DUTY = re.compile(r"\b(?:always|never|must|should|only|keep|do not|don't|be)\b", re.IGNORECASE)
_WORDS = re.compile(r"\w+")


def graders(system_prompt: str) -> list[dict[str, Any]]:
    """Three to seven graders, or as many as the prompt has sentences: one for each demand.

    Each quotes the prompt word by word.
    """
    sentences = [one.strip() for one in _SENTENCE.findall(system_prompt)]
    sentences = list(dict.fromkeys(one for one in sentences if len(one.split()) > 1))
    duties = [one for one in sentences if _DUTY.search(one)]
    chosen = duties + [one for one in sentences if one not in duties]
    wanted = min(max(len(duties), LEAST_GRADERS), MOST_GRADERS)
    kept = sorted(chosen[:wanted], key=sentences.index)
    return [_grader(quote, number) for number, quote in enumerate(kept, start=1)]


def spoiled(proposed: Sequence[dict[str, Any]], fault: str) -> list[dict[str, Any]]:
    """Graders of which the first, or all together, have a fault that has to be noticed.

    Raises:
        ValueError: If no fault is called so.
    """
    first, *others = [dict(one) for one in proposed]
    if fault == "quote":
        first["promptQuotes"] = ["The prompt says no such thing anywhere."]
    elif fault == "levels":
        first["levels"] = [*first["levels"][:6], first["levels"][5]]
    elif fault == "name":
        first["name"] = others[-1]["name"] if others else ""
    elif fault == "number":
        others = others[:1]
    elif fault == "criteria":
        first["criteria"] = ""
    else:
        raise ValueError(f"no fault is called {fault!r}")
    return [first, *others]


def ordered(levels: Sequence[str]) -> list[int]:
    """The places of shuffled levels from worst to best; those that it cannot tell apart stay."""

    def degree(place: int) -> int:
        folded = levels[place].casefold()
        return next((at for at, words in enumerate(DEGREES) if words in folded), len(DEGREES))

    return sorted(range(len(levels)), key=degree)


def edit(kind: str, rubric: RubricText, samples: Sequence[SampleText] = ()) -> list[dict[str, str]]:
    """The patch of an edit of this kind.

    Args:
        samples: Those that the prompt shows, from which a copying edit copies.

    Raises:
        ValueError: If no kind is called so.
    """
    if kind == "unfounded":
        return [{"field": "criteria", "find": "words that are not there", "replace": "others"}]
    sentence = _last_sentence(rubric.criteria)
    said = {
        "good": f"{sentence} {CURE}: a thank-you or an apology is no step.",
        "useless": f"{sentence} Read the whole reply before you choose.",
        "harmful": f"{sentence} {HARM}.",
        "abstaining": f"{sentence} {ABSTAINING}.",
        "copying": f"{sentence} A good reply says: {_copied(samples)}",
        "long": f"{sentence} {'Look at it once more. ' * (len(rubric.text) // 10)}".rstrip(),
    }
    if kind not in said:
        raise ValueError(f"no kind of edit is called {kind!r}")
    return [{"field": "criteria", "find": sentence, "replace": said[kind]}]


def patched(rubric: RubricText, patch: Sequence[dict[str, str]]) -> RubricText:
    """The rubric with a patch of its criteria.

    Raises:
        ValueError: If what a patch replaces is not there once.
    """
    criteria = rubric.criteria
    for one in patch:
        if one["field"] != "criteria" or criteria.count(one["find"]) != 1:
            raise ValueError(f"{one['find']!r} is not once in the criteria")
        criteria = criteria.replace(one["find"], one["replace"])
    return RubricText(criteria, rubric.levels, rubric.not_applicable_when, rubric.examples)


def _grader(quote: str, number: int) -> dict[str, Any]:
    duty = quote.rstrip(".!?")
    words = _WORDS.findall(duty)
    return {
        "name": f"{number}. {' '.join(words[:5])}",
        "criteria": f"How far does the response keep to this: {duty}?",
        "levels": [f"The response {degree}." for degree in DEGREES],
        "notApplicableWhen": "The message gives no occasion for it.",
        "promptQuotes": [quote],
    }


def _last_sentence(text: str) -> str:
    found = [one.strip() for one in _SENTENCE.findall(text) if one.strip()]
    return found[-1] if found else text


def _copied(samples: Sequence[SampleText]) -> str:
    for sample in samples:
        for run in telling_runs(sample.output.split()):
            return " ".join(run)
    return "nothing that it was shown."
