"""What all seeds together are expected to come to, and which of that they miss.

A promise that is broken (``results.failures``) is a failure of any stream. This is what the
comparison is made to show. Where intents are made up, words of their own tell each apart: those of
other domains are as new as words can be, and no delay is known that an alarm of theirs has to keep.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

Seed = Mapping[str, Any]

MEDIAN_DELAY: Final = 101
"""At the median an alarm takes so many of what it folds where a mean falls from .95 to .70. Where
five unseen domains are half of all inputs, what a gate lets through falls further."""

LONGEST_DELAY: Final = MEDIAN_DELAY * 30 // 17
"""In nine cases of ten an alarm comes within 30/17 of its median."""

_ACCURACY_LOST = 0.01
_OF_PAIRS = ("alarm", "emergency")


@dataclass(frozen=True)
class Expected:
    """What is expected of a stream.

    Attributes:
        remote_last: what share of the last inputs the paid model is asked, in each seed, at most.
        accuracy_lost: how much less accurate than the paid model alone ours is at most.
        has_delays: whether alarms have to come as soon as ``MEDIAN_DELAY`` and ``LONGEST_DELAY``.
    """

    remote_last: float
    accuracy_lost: float = _ACCURACY_LOST
    has_delays: bool = True


OF_CLINC: Final = Expected(remote_last=0.30)
OF_MADE_UP: Final = Expected(remote_last=0.30, has_delays=False)


def expected_of(data: str) -> Expected:
    """Return what is expected of a stream of this data."""
    return OF_CLINC if data == "CLINC150" else OF_MADE_UP


def missed(seeds: Sequence[Seed], expected: Expected) -> list[str]:
    """Return what seeds came to that was not expected of them."""
    found = []
    for one in seeds:
        ours, paid = one["ours"], one["allRemote"]
        if ours["accuracy"] < paid["accuracy"] - expected.accuracy_lost:
            found.append(
                f"seed {one['seed']}: answers are right in {ours['accuracy']:.4f}, and the paid "
                f"model's alone in {paid['accuracy']:.4f}"
            )
        if ours["remoteShareLast"] > expected.remote_last:
            found.append(
                f"seed {one['seed']}: {ours['remoteShareLast']:.3f} of the last inputs were put to "
                f"the paid model, {expected.remote_last:.2f} at most are expected"
            )
    if expected.has_delays:
        found += _late(seeds)
    return found


def first_delays(seeds: Sequence[Seed]) -> list[tuple[int, int]]:
    """Return each seed's number, and what its first alarm after the shift took, where one came."""
    return [
        (one["seed"], delay_of(one["shift"]["delays"][0]))
        for one in seeds
        if one["shift"]["delays"]
    ]


def delay_of(alarm: Mapping[str, Any]) -> int:
    """Return how many after the shift an alarm took, of what it folds.

    One of coverage folds inputs, one of agreement the version's pairs.
    """
    delay: int = alarm["pairsAfter" if alarm["kind"] in _OF_PAIRS else "inputsAfter"]
    return delay


def _late(seeds: Sequence[Seed]) -> list[str]:
    delays = first_delays(seeds)
    found = [
        f"seed {seed}: the alarm took {delay}, {LONGEST_DELAY} at most are expected"
        for seed, delay in delays
        if delay > LONGEST_DELAY
    ]
    if delays and median(delay for _, delay in delays) > MEDIAN_DELAY:
        found.append(
            f"alarms took {median(delay for _, delay in delays)} at the median, "
            f"{MEDIAN_DELAY} at most are expected"
        )
    return found
