"""A judge with a known fault: it takes courtesy for help, unless its rubric says not to.

What it answers is a function of the rubric's text and of the sample, and of nothing else but a
seed. The better the rubric, the better it judges:

========================  ==============================================================
the rubric holds          what becomes of the verdict
========================  ==============================================================
`CURE`                    courtesy no longer adds `BIAS` levels
`HARM`                    tone is all that counts
`ABSTAINING`              it abstains where a response is courteous: agreement looks
                          better, and half is not judged
eight words of a sample,  that sample is judged as it should be, and no other
of which one is a number
anything else             nothing, but for noise, which each text draws anew
========================  ==============================================================
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tests.judges.prompts import LEVELS, NOT_APPLICABLE, JudgePrompt, RubricText, SampleText, said

CURE = "Courtesy does not count"
HARM = "Judge the tone above all"
ABSTAINING = "Leave courteous replies to others"
BIAS = 3
COPIED_WORDS = 8

# A step that a customer can take begins with one of these; so many of them make a response good.
STEP_VERBS = ("Open", "Check", "Compare", "Write", "Attach", "Keep", "Print", "Choose")
_STEP = re.compile(rf"(?:^|[.!?]\s+|\n)(?:{'|'.join(STEP_VERBS)}) ")
_COURTESY = re.compile(r"\b(?:thank you|so sorry|kindly|apologi[sz]e)\b", re.IGNORECASE)
_ASKS = re.compile(r"\?")

# An echo this long holds every attack of the corpus, and leaves room for the answer behind it.
_ECHOED_CHARACTERS = 2_000


@dataclass(frozen=True)
class Planted:
    """What the judge is like.

    Attributes:
        seed: Of its noise.
        noise: Chance that a verdict is one level off, to either side alike.
        drift: Levels that are added to each verdict, as after a change of the model.
    """

    seed: int = 0
    noise: float = 0.2
    drift: int = 0


def is_courteous(response: str) -> bool:
    """Whether a response thanks or apologizes."""
    return _COURTESY.search(response) is not None


def truth(sample: SampleText) -> int | None:
    """The level that a sample deserves; None where the rubric does not apply to it."""
    if _ASKS.search(sample.input) is None:
        return None
    return _clamped(len(_STEP.findall(sample.output)) + LEVELS[0])


def verdict(rubric: RubricText, sample: SampleText, judge: Planted) -> int | None:
    """The level that the judge gives; None where it abstains."""
    traits, seen = _traits(rubric), _seen(sample)
    deserved, courteous = seen.deserved, seen.courteous
    if deserved is None and rubric.not_applicable_when:
        return None
    if traits.abstains and courteous:
        return None
    if traits.copied and deserved is not None and traits.copied & _runs(sample):
        return deserved
    if traits.harmed:
        level = 2 if courteous else -2
    else:
        level = (deserved or 0) + (0 if traits.cured or not courteous else BIAS)
    drawn = one_off(f"{judge.seed}|{traits.digest}|{seen.digest}", judge.noise)
    return _clamped(level + judge.drift + drawn)


def answer(prompt: JudgePrompt, judge: Planted) -> str:
    """What the judge says: it repeats the response in its reasoning, as models do."""
    level = verdict(prompt.rubric, prompt.sample, judge)
    steps = len(_STEP.findall(prompt.sample.output))
    found = f"It names {steps} step{'' if steps == 1 else 's'} that the customer can take"
    found += " and is courteous." if is_courteous(prompt.sample.output) else "."
    if level is None:
        found = "The rubric does not apply here."
    echo = prompt.raw_response[:_ECHOED_CHARACTERS]
    reasoning = f"The response reads:\n{echo}\n{found}"
    return said(reasoning, found, NOT_APPLICABLE if level is None else level)


@dataclass(frozen=True)
class _Traits:
    digest: str
    copied: frozenset[str]
    cured: bool
    harmed: bool
    abstains: bool


@dataclass(frozen=True)
class _Seen:
    digest: str
    deserved: int | None
    courteous: bool


@lru_cache(maxsize=4_096)
def _traits(rubric: RubricText) -> _Traits:
    words = _folded(rubric.text)
    return _Traits(
        digest=rubric.digest,
        copied=_telling_runs(words),
        cured=_folded(CURE) in words,
        harmed=_folded(HARM) in words,
        abstains=_folded(ABSTAINING) in words,
    )


@lru_cache(maxsize=16_384)
def _seen(sample: SampleText) -> _Seen:
    return _Seen(sample.digest, truth(sample), is_courteous(sample.output))


@lru_cache(maxsize=16_384)
def _runs(sample: SampleText) -> frozenset[str]:
    return _telling_runs(_folded(sample.output))


def _telling_runs(words: str) -> frozenset[str]:
    return frozenset(" ".join(run) for run in telling_runs(words.split()))


def telling_runs(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Each run of `COPIED_WORDS` words with a number, which no other sample has."""
    for start in range(len(words) - COPIED_WORDS + 1):
        run = words[start : start + COPIED_WORDS]
        if any(character.isdigit() for word in run for character in word):
            yield run


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def one_off(text: str, chance: float) -> int:
    """-1 or 1 with this chance, else 0: the same for the same text."""
    drawn = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
    if drawn >= chance:
        return 0
    return 1 if drawn < chance / 2 else -1


def _clamped(level: int) -> int:
    return min(max(level, LEVELS[0]), LEVELS[-1])
