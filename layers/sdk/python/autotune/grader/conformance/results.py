"""What a check found."""

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One line of a conformance report.

    Attributes:
        name: stable, in snake case.
        outcome: ``skipped`` where an earlier failure or the grader's capabilities leave nothing
            to try.
        expected: what the protocol asks for, in one sentence.
        seen: what the grader did, in one sentence.
    """

    name: str
    outcome: Outcome
    expected: str
    seen: str


class CheckFailedError(Exception):
    """A grader does not do what the protocol asks for; the message says what it did."""


class CheckSkippedError(Exception):
    """A check has nothing to try; the message says why."""
