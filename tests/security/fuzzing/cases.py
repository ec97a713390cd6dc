"""What all fuzzers share: numbered cases that a seed draws, and what they count and find.

A target is opened, and then answers one numbered case after the other. Each case has its own source
of chance, made of seed, target and number: whatever is found is drawn again by its number alone.
"""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from random import Random

Case = Callable[[Random], str]
"""Does one case and returns what became of it in a word, such as a status; raises ``Found``."""


class Found(AssertionError):  # noqa: N818 - a fault of what is fuzzed, not of the fuzzer
    """Something broke a promise: what was sent, and what came of it."""

    def __init__(self, promise: str, sent: object, told: object = "") -> None:
        super().__init__(f"{promise}\n  sent: {_short(sent)}\n  told: {_short(told)}")


@dataclass(frozen=True)
class Target:
    """One fuzzer.

    Attributes:
        opened: makes what its cases are done with, and takes it down again.
        short: how many cases the tests do.
        chapter: after how many cases a long run opens it anew, so that nothing grows for ever.
    """

    name: str
    opened: Callable[[], AbstractContextManager[Case]]
    short: int
    chapter: int = 100_000


def random_of(target: Target, seed: int, number: int) -> Random:
    return Random(f"{seed}/{target.name}/{number}")


def fuzz(
    target: Target,
    *,
    seed: int,
    cases: int | None = None,
    seconds: float | None = None,
    first: int = 0,
) -> Counter[str]:
    """Do cases of a target, so many or so long; return how often each thing became of one.

    Raises:
        Found: a promise was broken; the message says by which case.
    """
    counted: Counter[str] = Counter()
    end = None if seconds is None else time.monotonic() + seconds
    number, last = first, None if cases is None else first + cases
    while (last is None or number < last) and (end is None or time.monotonic() < end):
        with target.opened() as case:
            chapter_end = number + target.chapter
            while number < min(chapter_end, last or chapter_end):
                counted[_done(target, case, seed, number)] += 1
                number += 1
                if end is not None and time.monotonic() >= end:
                    return counted
    return counted


def _done(target: Target, case: Case, seed: int, number: int) -> str:
    try:
        return case(random_of(target, seed, number))
    except Found as found:
        found.add_note(again(target, seed, number))
        raise
    except Exception as error:
        unforeseen = Found("nothing unforeseen is raised", target.name, repr(error))
        unforeseen.add_note(again(target, seed, number))
        raise unforeseen from error


def again(target: Target, seed: int, number: int) -> str:
    """Return the command that does a case once more."""
    return (
        f"python -m tests.security.fuzz --only {target.name} --seed {seed} "
        f"--first {number} --cases 1"
    )


def told(name: str, counted: Counter[str], seconds: float) -> str:
    """Return one line of a report: how many cases, and how often each thing became of one."""
    parts = ", ".join(f"{word} {times}" for word, times in sorted(counted.items()))
    return f"{name:12} {counted.total():8} cases {seconds:7.1f} s   {parts}"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 2_000 else f"{text[:1_400]} … {text[-500:]}"
