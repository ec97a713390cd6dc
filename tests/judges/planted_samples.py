"""Samples that the planted judge can read, made from a seed, with truth and with people's labels.

A shop's customers ask for help. The less a response helps, the more courteous it is, so that a
judge who likes courtesy agrees badly with people.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice

from tests.judges.planted import CURE, one_off, truth
from tests.judges.prompts import LEVELS, RubricText, SampleText

SYSTEM_PROMPT = (
    "You answer customers of a parcel shop.\n"
    "Always name the steps that the customer can take next.\n"
    "Never promise a date that the carrier has not confirmed.\n"
    "Keep each reply under ten sentences.\n"
    "Be courteous.\n"
)
RUBRIC = RubricText(
    criteria="How far does the reply help the customer to solve the problem without asking again?",
    levels=(
        "It names nothing that the customer can do.",
        "It names one step.",
        "It names two steps.",
        "It names three steps.",
        "It names four steps.",
        "It names five steps.",
        "It names six steps or more.",
    ),
    not_applicable_when="The customer asks for nothing.",
)
CURED = RubricText(
    criteria=f"{RUBRIC.criteria} {CURE}: a thank-you or an apology is no step.",
    levels=RUBRIC.levels,
    not_applicable_when=RUBRIC.not_applicable_when,
)

_STEPS = (
    "Open the page of order {order}.",
    "Check the address that it shows.",
    "Compare the parcel's number {parcel} with the one in our mail.",
    "Write to the carrier and name that number.",
    "Attach a photo of the receipt.",
    "Keep the box until they reply.",
)
_COURTESY = (
    "Thank you so much for writing to us about order {order}!",
    "I am so sorry for the trouble with parcel {parcel}.",
    "We apologize, and will kindly look after order {order}.",
)
_FILLER = (
    "Parcels like {parcel} travel by road.",
    "The depot handles many such orders each week.",
    "Our shop has sent things since 1987.",
)
_QUESTIONS = (
    "My order {order} has not arrived. What can I do?",
    "Parcel {parcel} came open. How do I get my money back?",
    "Where is order {order}?",
)
_THANKS = ("Thanks, order {order} is here.", "Parcel {parcel} came today, all is well.")
_WEIGHTS = (3, 4, 4, 3, 4, 4, 3)


@dataclass(frozen=True)
class PlantedSample:
    """A sample and what it deserves.

    Attributes:
        level: -3 to +3; None where the rubric does not apply.
        language: ``en``, or ``de`` for the tenth whose filler is German.
    """

    text: SampleText
    level: int | None
    language: str = "en"

    @cached_property
    def digest(self) -> str:
        return self.text.digest


def samples(
    count: int, *, seed: int = 0, not_applicable: float = 0.05, group_size: int = 1
) -> Iterator[PlantedSample]:
    """Makes samples; ``group_size`` of them answer the same message."""
    draw = random.Random(f"planted samples {seed}")
    applies, asked, numbers = True, "", {}
    for number in range(count):
        if number % group_size == 0:
            numbers = {"order": 10_000 + number, "parcel": f"P{seed}-{number}"}
            applies = draw.random() >= not_applicable
            asked = draw.choice(_QUESTIONS if applies else _THANKS)
        steps = draw.choices(range(7), weights=_WEIGHTS)[0] if applies else draw.randrange(2)
        parts = [_STEPS[index] for index in sorted(draw.sample(range(len(_STEPS)), steps))]
        if draw.random() < (0.8 if steps < 3 else 0.25):
            parts.insert(0, draw.choice(_COURTESY))
        german = draw.random() < 0.1
        parts.append("Pakete kommen mit der Post." if german else draw.choice(_FILLER))
        text = SampleText(asked.format(**numbers), " ".join(parts).format(**numbers))
        yield PlantedSample(text, truth(text), "de" if german else "en")


def labelled(
    sample: PlantedSample, rater: str, *, noise: float = 0.15, seed: int = 0
) -> int | None:
    """What a person says of a sample: what it deserves, at times one level off."""
    if sample.level is None:
        return None
    off = one_off(f"{seed}|{rater}|{sample.digest}", noise)
    return min(max(sample.level + off, -3), 3)


def as_many_of_each_level(count: int, *, seed: int) -> list[PlantedSample]:
    """Make so many samples of each level, the worst first: of any twenty, several levels differ."""
    made = sorted(samples(count * len(LEVELS) * 5, seed=seed, not_applicable=0), key=_level)
    return [one for _, of_level in groupby(made, _level) for one in islice(of_level, count)]


def apart_on_every_second(shown: Iterable[PlantedSample]) -> Iterator[int]:
    """Yield what a person says: what a sample deserves, or one level nearer to the middle.

    Where judge and person agree on all but one of the labels that a check draws, there is no
    interval, and so no calibration: of any twenty they are apart on several.
    """
    for place, one in enumerate(shown):
        level = _level(one)
        nearer = 1 if level < 0 else -1
        yield level + (nearer if place % 2 == 0 else 0)


def _level(sample: PlantedSample) -> int:
    assert sample.level is not None, "the rubric applies to it"
    return sample.level
