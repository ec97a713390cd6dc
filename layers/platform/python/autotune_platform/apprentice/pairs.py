"""A pair: what the local model and the paid one answered to the same input, as a score."""

import math
from dataclasses import dataclass


class PairError(ValueError):
    """A pair cannot be counted; the message names the field and its limit."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A comparison of two answers to one input.

    Attributes:
        sequence: its place among the pairs of its version, from 1, without gaps.
        score: how far the local answer agrees with the paid one, from 0 to 1.
        is_drawn: whether chance alone chose it. What was chosen by its content, or because
            something failed, says nothing about other inputs.
        at: when it was made, Unix seconds.
        is_sure: whether the version was as sure as its gate asks for, also where the task has no
            gate: another configuration may have one.
        in_canary: whether chance put its run into the canary of its version.

    Raises:
        PairError: a field is outside these limits, or no number.
    """

    sequence: int
    score: float
    is_drawn: bool
    at: float
    is_sure: bool = True
    in_canary: bool = False

    def __post_init__(self) -> None:
        if type(self.sequence) is not int or self.sequence < 1:
            raise PairError(f"sequence: a whole number from 1, not {self.sequence!r}")
        if not _is_number(self.score) or not 0 <= self.score <= 1:
            raise PairError(f"score: a number from 0 to 1, not {self.score!r}")
        if type(self.is_drawn) is not bool:
            raise PairError(f"is_drawn: true or false, not {self.is_drawn!r}")
        if type(self.is_sure) is not bool:
            raise PairError(f"is_sure: true or false, not {self.is_sure!r}")
        if type(self.in_canary) is not bool:
            raise PairError(f"in_canary: true or false, not {self.in_canary!r}")
        if not _is_number(self.at) or not math.isfinite(self.at):
            raise PairError(f"at: Unix seconds, not {self.at!r}")

    def counts(self, *, is_gated: bool) -> bool:
        """Return whether it speaks for or against its version.

        Behind a gate callers have none of the answers that it is unsure of. Chance drew the run
        before anybody was asked, so that what is left is still by chance.
        """
        return self.is_drawn and (self.is_sure or not is_gated)


def _is_number(value: object) -> bool:
    return type(value) in (int, float)  # a boolean is an int to Python, and no score
